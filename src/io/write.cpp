// SPDX-License-Identifier: Apache-2.0
//
// Edge lists and Matrix Market. An edge list has no line for a
// node without edges: those are lost there, .mtx and .copse keep them.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "copse/io/read.hpp"
#include "copse/support/error.hpp"
#include "io/edge_lines.hpp"
#include "io/formats.hpp"
#include "io/graph_text.hpp"
#include "io/other_files.hpp"
#include "io/text.hpp"
#include "support/atomic_file.hpp"
#include "support/decompress.hpp"

namespace copse {
namespace {

// As a field of a table: in quotes where it begins with one, or holds what separates fields (RFC 4180).
void append_field(std::string& out, std::string_view text, char delimiter) {
  const bool has_blanks_around = delimiter == ',' && trimmed(text).size() != text.size();
  if (!text.starts_with('"') && text.find(delimiter) == std::string_view::npos && !has_blanks_around) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out += '"';
}

class EdgeListWriter {
 public:
  EdgeListWriter(const std::string& path, const NamedGraph& graph)
      : path_(path),
        delimiter_(without_compression(path).ends_with(".csv") ? ',' : '\t'),
        view_(graph.graph.view()),
        names_(graph.names) {}

  void append_row(std::string& out, NodeId u) const {
    for (EdgeIndex arc = view_.offsets[u]; arc < view_.offsets[u + 1]; ++arc)
      if (view_.neighbors[arc] >= u) append_edge(out, u, arc);
  }

  /// The names of the columns, where the first lines alone would not be read as edges: as a header, say, or
  /// as another format.
  std::string header() const {
    constexpr std::size_t kEnough = 4096;
    std::string text;
    for (NodeId u = 0; u < view_.num_nodes() && text.size() < kEnough; ++u) append_row(text, u);
    if (text.empty() || reads_as_edges(text)) return "";
    constexpr std::pair<const char*, const char*> kColumns[] = {
        {"source", "target"}, {"from", "to"}, {"src", "dst"}};
    for (const auto& [source, target] : kColumns)
      if (!names_.find(source) && !names_.find(target))
        return source + std::string(1, delimiter_) + target +
               (has_weights() ? delimiter_ + std::string("weight\n") : "\n");
    throw UsageError{path_, "the first edge would not be read as one: it looks like a header",
                     "write a .copse file, which keeps any name"};
  }

 private:
  bool has_weights() const { return view_.is_weighted() || view_.is_signed(); }

  static bool reads_as_edges(const std::string& text) {
    const auto has_magic = [&](const FormatRow& row) { return begins_as(row, text); };
    if (text.starts_with("\xEF\xBB\xBF") || std::ranges::any_of(format_rows(), has_magic) ||
        is_compressed(text))
      return false;
    try {
      refuse_other_files(text, "");
      const EdgeLineFormat format = detect_edge_lines(text, 1, "");
      return format.header_line == 0 && format.num_columns != 0;
    } catch (const InputError&) {
      return false;
    }
  }

  // From the end that does not make it a comment.
  void append_edge(std::string& out, NodeId u, EdgeIndex arc) const {
    NodeNames::Digits digits_u, digits_v;
    const std::string_view one = names_.view(u, digits_u),
                           other = names_.view(view_.neighbors[arc], digits_v);
    const auto append = [&](std::string_view left, std::string_view right) {
      if (left.empty() || right.empty()) return false;
      const std::size_t begin = out.size();
      append_field(out, left, delimiter_);
      out += delimiter_;
      append_field(out, right, delimiter_);
      if (has_weights()) {
        out += delimiter_;
        append_weight(out, view_.signed_weight(arc));
      }
      if (is_skipped(std::string_view(out).substr(begin))) {
        out.resize(begin);
        return false;
      }
      out += '\n';
      return true;
    };
    if (append(one, other) || append(other, one)) return;
    throw UsageError{path_,
                     "the edge " + quoted(one) + ", " + quoted(other) +
                         " would not be read as one: it looks like a comment, or has an empty id",
                     "write a .copse file, which keeps any name"};
  }

  const std::string& path_;
  char delimiter_;
  const GraphView& view_;
  const NodeNames& names_;
};

}  // namespace

void write_edge_list(const std::string& path, const NamedGraph& graph, const Execution& execution) {
  AtomicFile file(path);
  const EdgeListWriter writer(path, graph);
  file.write(writer.header());
  write_rows(file, graph.graph.view(), execution,
             [&](std::string& out, NodeId u) { writer.append_row(out, u); });
  file.commit();
}

void write_matrix_market(const std::string& path, const NamedGraph& graph, const Execution& execution) {
  if (!graph.names.is_numbered()) {
    throw UsageError{path, "Matrix Market files have no place for the nodes' names",
                     "write .copse or .tsv, which keep them"};
  }
  AtomicFile file(path);
  const GraphView& view = graph.graph.view();
  std::string head = "%%MatrixMarket matrix coordinate ";
  const bool has_values = view.is_weighted() || view.is_signed();
  head += view.is_weighted() ? "real symmetric\n"
          : has_values       ? "integer symmetric\n"
                             : "pattern symmetric\n";
  if (graph.names.first_number() != 1) {
    head += "% row 1 is node " + std::to_string(graph.names.first_number()) + ", and so on\n";
  }
  const std::string size = std::to_string(view.num_nodes());
  head += size + " " + size + " " + std::to_string(view.num_edges()) + "\n";
  file.write(head);
  // A symmetric file holds the lower triangle: the neighbours before the diagonal.
  write_rows(file, view, execution, [&](std::string& out, NodeId u) {
    for (EdgeIndex arc = view.offsets[u]; arc < view.offsets[u + 1] && view.neighbors[arc] < u; ++arc) {
      append_number(out, u + std::uint64_t{1});
      out += ' ';
      append_number(out, view.neighbors[arc] + std::uint64_t{1});
      if (has_values) {
        out += ' ';
        append_weight(out, view.signed_weight(arc));
      }
      out += '\n';
    }
  });
  file.commit();
}

void write_in_pieces(AtomicFile& file, std::string_view bytes, const Execution& execution) {
  constexpr std::size_t kPiece = std::size_t{1} << 18;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kPiece, bytes.size()))) {
    execution.throw_if_cancelled();
    file.write(bytes.substr(0, kPiece));
  }
}

}  // namespace copse
