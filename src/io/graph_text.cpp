// SPDX-License-Identifier: Apache-2.0
#include "io/graph_text.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "io/text.hpp"

namespace copse {
namespace {

constexpr EdgeIndex kArcsPerBlock = EdgeIndex{1} << 16;
constexpr std::size_t kBlocksPerRound = 64;  // formatted side by side, then written in order: about 100 MB

// Rows cut where about kArcsPerBlock arcs end, so that one thread never gets most of the work; rows without
// arcs may have a line as well.
std::vector<NodeId> row_blocks(const GraphView& graph) {
  std::vector<NodeId> cuts{0};
  EdgeIndex begin = 0;
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    if (graph.offsets[u + 1] - begin >= kArcsPerBlock || u - cuts.back() >= kArcsPerBlock ||
        u + 1 == graph.num_nodes()) {
      cuts.push_back(u + 1);
      begin = graph.offsets[u + 1];
    }
  }
  return cuts;
}

}  // namespace

void append_number(std::string& out, std::uint64_t number) {
  char digits[20];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void append_weight(std::string& out, Weight weight) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, weight).ptr);
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

void write_rows(AtomicFile& file, const GraphView& graph, const Execution& execution,
                const std::function<void(std::string& out, NodeId u)>& format) {
  const std::vector<NodeId> cuts = row_blocks(graph);
  std::vector<std::string> texts(kBlocksPerRound);
  for (std::size_t first = 0; first + 1 < cuts.size(); first += kBlocksPerRound) {
    execution.throw_if_cancelled();
    const std::size_t count = std::min(kBlocksPerRound, cuts.size() - 1 - first);
    parallel_for(execution.threads, count, [&](std::size_t i) {
      execution.throw_if_cancelled();
      texts[i].clear();
      for (NodeId u = cuts[first + i]; u < cuts[first + i + 1]; ++u) format(texts[i], u);
    });
    for (std::size_t i = 0; i < count; ++i) write_in_pieces(file, texts[i], execution);
    execution.report("write", graph.offsets[cuts[first + count]], graph.num_arcs());
  }
}

GraphText::GraphText(const std::string& path, const NamedGraph& graph)
    : path_(path), graph_(graph), view_(graph.graph.view()) {
  NodeNames::Digits digits;
  for (NodeId node = 0; node < view_.num_nodes(); ++node) {
    const std::string_view text = graph.names.view(node, digits);
    if (text.empty()) throw unfit(node, "is empty");
    if (!is_utf8(text)) throw unfit(node, "is not UTF-8");
  }
}

UsageError GraphText::unfit(NodeId node, const std::string& problem) const {
  return {path_, "the id " + quoted(name(node)) + " " + problem + ", which such a file cannot hold",
          "write a .copse file, which keeps any name"};
}

std::string GraphText::name(NodeId node) const { return graph_.names.name(node); }

std::string GraphText::xml_name(NodeId node) const {
  const std::string text = name(node);
  if (std::ranges::any_of(text, [](unsigned char c) { return c < 0x20; }))
    throw unfit(node, "holds a control character");
  return xml_text(text);
}

void GraphText::write(const Execution& execution, const std::string& head, const NodeFormat& node,
                      const std::string& between, const EdgeFormat& edge, const std::string& tail) const {
  AtomicFile file(path_);
  file.write(head);
  write_rows(file, view_, execution, node);
  file.write(between);
  write_rows(file, view_, execution, [&](std::string& out, NodeId u) {
    for (EdgeIndex arc = view_.offsets[u]; arc < view_.offsets[u + 1]; ++arc)
      if (view_.neighbors[arc] >= u) edge(out, u, view_.neighbors[arc], arc);
  });
  file.write(tail);
  file.commit();
}

}  // namespace copse
