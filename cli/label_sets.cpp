// SPDX-License-Identifier: Apache-2.0
#include "label_sets.hpp"

#include <algorithm>

#include "copse/support/error.hpp"
#include "support/byte_source.hpp"

namespace copse::cli {
namespace {

constexpr std::size_t kSetsBlock = std::size_t{1} << 20;

std::vector<NodeId> nodes_of(std::string_view line, const std::string& where, const NodeNames& names,
                             const std::vector<Label>& labels) {
  std::vector<NodeId> nodes;
  for (std::size_t at = std::min(line.find('\t'), line.size()); at < line.size();) {
    const std::size_t begin = std::min(line.find_first_not_of(" \t\r", at), line.size());
    at = std::min(line.find_first_of(" \t\r", begin), line.size());
    if (begin == at) break;
    const std::string_view name = line.substr(begin, at - begin);
    const auto node = names.find(name);
    if (!node || labels[*node] == kNoLabel)
      throw InputError{where, "node " + quoted(name) + (node ? " has no label" : " is not in the graph"),
                       "a set is name<TAB>nodes with spaces between them, each of them labelled"};
    nodes.push_back(*node);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (nodes.empty())
    throw InputError{where, "no node after the name of the set",
                     "a set is name<TAB>nodes with spaces between them"};
  return nodes;
}

}  // namespace

std::map<std::size_t, std::vector<std::vector<NodeId>>> read_label_sets(const std::string& path,
                                                                        const NodeNames& names,
                                                                        const std::vector<Label>& labels,
                                                                        const Execution& execution) {
  std::map<std::size_t, std::vector<std::vector<NodeId>>> sets;
  ByteSource source = ByteSource::open(path, execution);
  std::uint64_t line_number = 0;
  for (auto bytes = source.next_lines(kSetsBlock); !bytes.empty(); bytes = source.next_lines(kSetsBlock)) {
    std::string_view block{bytes.data(), bytes.size()};
    while (!block.empty()) {
      const std::string_view line = block.substr(0, std::min(block.find('\n'), block.size()));
      block.remove_prefix(std::min(line.size() + 1, block.size()));
      ++line_number;
      if (line.find_first_not_of(" \t\r") == std::string_view::npos || line[0] == '#') continue;
      std::vector<NodeId> nodes = nodes_of(line, at(source.name(), line_number), names, labels);
      sets[nodes.size()].push_back(std::move(nodes));
    }
  }
  if (sets.empty())
    throw InputError{source.name(), "it holds no set", "a set is name<TAB>nodes with spaces between them"};
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
