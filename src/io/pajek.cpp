// SPDX-License-Identifier: Apache-2.0
//
// Pajek networks (Batagelj & Mrvar 1998): "*Vertices N", then N lines `number "label"` (coordinates and the
// like behind it), which may be left out; "*Edges" and "*Arcs" with lines `u v [weight]`, "*Edgeslist" and
// "*Arcslist" with lines `u v1 v2 ...`. Vertices count from 1. Nodes are called by their labels where each
// has one of its own, else by their numbers; an edge without weight has weight 1. % begins a comment.

#include "io/graph_text.hpp"
#include "io/listing.hpp"
#include "io/numbers.hpp"
#include "io/text.hpp"

namespace copse {
namespace {

constexpr char kPajekRemedy[] =
    "a Pajek network is \"*Vertices 2\", lines like 1 \"ann\", \"*Edges\", lines like 1 2 0.5";

class PajekReader {
 public:
  PajekReader(ByteSource& source, const ReadOptions& options)
      : text_(whole_text(source, kPajekRemedy)),
        name_(source.name()),
        listing_(options, source.name(), line_of_offset(source.name(), text_)),
        has_labels_(options.table.column("node") != "id"),
        has_weights_(options.table.column("weight") != "") {}

  ParsedEdges read(const Execution& execution) {
    LineCursor lines(text_);
    for (std::string_view line; lines.next(line);) {
      line = without_cr(line);
      place_ = static_cast<std::size_t>(line.data() - text_.data());
      if (line.find('\0') != std::string_view::npos) throw wrong("holds a NUL byte");
      std::string_view rest = line;
      const std::string_view word = next_word(rest);
      if (word.empty() || word[0] == '%') continue;
      if (word[0] == '*')
        begin_section(lower_case(word), rest);
      else
        read_line(word, rest);
    }
    if (section_ == Section::none) throw InputError{name_, "this file holds no *Vertices", kPajekRemedy};
    return listing_.finish({.missing_weight = 1}, text_.size(), "", execution);
  }

 private:
  enum class Section { none, skipped, vertices, pairs, lists };

  InputError wrong(const std::string& problem) const { return listing_.wrong(place_, problem, kPajekRemedy); }

  void begin_section(const std::string& word, std::string_view rest) {
    if (word == "*network" || word == "*title") return;
    if (word == "*vertices") return begin_vertices(next_word(rest));
    if (section_ == Section::none) throw wrong("found " + quoted(word) + " before *Vertices");
    if (word == "*edges" || word == "*arcs")
      section_ = Section::pairs;
    else if (word == "*edgeslist" || word == "*arcslist")
      section_ = Section::lists;
    else if (word == "*partition" || word == "*vector" || word == "*cluster")
      section_ = Section::skipped;
    else
      throw wrong("copse does not read " + quoted(word) + " of a Pajek file");
  }

  void begin_vertices(std::string_view word) {
    const std::optional<std::uint64_t> count = parse_count(word);
    if (section_ == Section::skipped) return;  // of a partition
    if (section_ != Section::none) throw wrong("this is the second network of the file");
    if (!count || *count > kMaxNodes) throw wrong(quoted(word) + " is no number of vertices");
    if (claims_too_many_nodes(*count, text_.size()))
      throw wrong(with_commas(*count) + " vertices are more than the file can need");
    num_nodes_ = *count;
    listing_.number_nodes(num_nodes_);
    section_ = Section::vertices;
  }

  NodeId vertex(std::string_view word) const {
    const std::optional<std::uint64_t> number = parse_count(word);
    if (!number || *number < 1 || *number > num_nodes_)
      throw wrong("vertex " + quoted(word) + " is not between 1 and " + std::to_string(num_nodes_));
    return static_cast<NodeId>(*number - 1);
  }

  void read_line(std::string_view word, std::string_view rest) {
    if (section_ == Section::skipped) return;
    if (section_ == Section::none) throw wrong("found " + quoted(word) + " before *Vertices");
    const NodeId u = vertex(word);
    if (section_ == Section::vertices) {
      if (const std::string_view label = take_label(rest); has_labels_ && !label.empty())
        listing_.call(u, label, place_);
    } else if (section_ == Section::pairs) {
      const NodeId v = vertex(next_word(rest));
      const std::string_view weight = next_word(rest);
      listing_.add_edge(u, v, has_weights_ ? weight : "", place_);
    } else {
      for (word = next_word(rest); !word.empty(); word = next_word(rest))
        listing_.add_edge(u, vertex(word), "", place_);
    }
  }

  // In quotes, or a word.
  std::string_view take_label(std::string_view rest) const {
    rest = trimmed(rest);
    if (!rest.starts_with('"')) return next_word(rest);
    const std::size_t end = rest.find('"', 1);
    if (end == std::string_view::npos) throw wrong("a label begins with a quote that does not end it");
    return rest.substr(1, end - 1);
  }

  std::string_view text_;
  std::string name_;
  GraphListing listing_;
  bool has_labels_, has_weights_;
  Section section_ = Section::none;
  std::uint64_t num_nodes_ = 0;
  std::size_t place_ = 0;
};

}  // namespace

ParsedEdges read_pajek(ByteSource& source, const ReadOptions& options, const Execution& execution) {
  return PajekReader(source, options).read(execution);
}

void write_pajek(const std::string& path, const NamedGraph& graph, const Execution& execution) {
  const GraphText text(path, graph);
  text.write(
      execution, "*Vertices " + std::to_string(graph.graph.num_nodes()) + "\n",
      [&](std::string& out, NodeId u) {
        const std::string name = text.name(u);
        if (name.find('"') != std::string::npos) throw text.unfit(u, "holds a quote");
        if (name.back() == '\\') throw text.unfit(u, "ends with a backslash");
        append_number(out, u + std::uint64_t{1});
        out += " \"" + name + "\"\n";
      },
      "*Edges\n",
      [&](std::string& out, NodeId u, NodeId v, EdgeIndex arc) {
        append_number(out, u + std::uint64_t{1});
        out += ' ';
        append_number(out, v + std::uint64_t{1});
        if (text.has_weights()) {
          out += ' ';
          text.append_weight_of(out, arc);
        }
        out += '\n';
      },
      "");
}

}  // namespace copse
