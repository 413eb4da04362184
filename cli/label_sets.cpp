// SPDX-License-Identifier: Apache-2.0
#include "label_sets.hpp"

#include <algorithm>

#include "copse/support/error.hpp"
#include "io/text.hpp"
#include "support/byte_source.hpp"

namespace copse::cli {
namespace {

constexpr char kSetShape[] = "a set is name<TAB>nodes with spaces between them, each of them labelled";

std::vector<NodeId> nodes_of(std::string_view line, const std::string& where, const NodeNames& names,
                             const std::vector<Label>& labels) {
  std::vector<NodeId> nodes;
  line.remove_prefix(std::min(line.find('\t'), line.size()));
  for (std::string_view name = next_word(line); !name.empty(); name = next_word(line)) {
    const auto node = names.find(name);
    if (!node || labels[*node] == kNoLabel)
      throw InputError{where, "node " + quoted(name) + (node ? " has no label" : " is not in the graph"),
                       kSetShape};
    nodes.push_back(*node);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (nodes.empty()) throw InputError{where, "no node after the name of the set", kSetShape};
  return nodes;
}

}  // namespace

std::map<std::size_t, std::vector<std::vector<NodeId>>> read_label_sets(const std::string& path,
                                                                        const NodeNames& names,
                                                                        const std::vector<Label>& labels,
                                                                        const Execution& execution) {
  std::map<std::size_t, std::vector<std::vector<NodeId>>> sets;
  ByteSource source = ByteSource::open(path, execution);
  TextLines lines(source, kSetShape);
  for (std::string_view line; lines.next_row(line);) {
    std::vector<NodeId> nodes = nodes_of(line, at(source.name(), lines.line_number()), names, labels);
    sets[nodes.size()].push_back(std::move(nodes));
  }
  if (sets.empty()) throw InputError{source.name(), "it holds no set", kSetShape};
  return sets;
}

Split split_by_set(const std::vector<NodeId>& nodes, const std::vector<Label>& labels) {
  Split split{nodes, {}};
  for (NodeId node = 0; node < labels.size(); ++node) {
    if (labels[node] != kNoLabel && !std::binary_search(nodes.begin(), nodes.end(), node))
      split.test.push_back(node);
  }
  return split;
}

}  // namespace copse::cli
