// SPDX-License-Identifier: Apache-2.0
#include "learners/leave_one_out.hpp"

#include "copse/support/parallel.hpp"

namespace copse {
namespace {

RootShares shares_in(const GraphView& graph, const Buffer<NodeId>& root, std::span<const NodeId> nodes) {
  RootShares shares{std::vector<double>(nodes.size()), std::vector<double>(nodes.size())};
  std::vector<NodeId> size(graph.num_nodes());
  for (const NodeId of : root)
    if (of < size.size()) ++size[of];
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    shares.num_nodes[i] = static_cast<double>(size[nodes[i]]) - (root[nodes[i]] == nodes[i] ? 1 : 0);
    for (EdgeIndex arc = graph.offsets[nodes[i]]; arc < graph.offsets[nodes[i] + 1]; ++arc)
      if (root[graph.neighbors[arc]] == nodes[i]) shares.weight[i] += graph.weight(arc);
  }
  return shares;
}

void add(std::span<double> sums, std::span<const double> part, double share) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += share * part[i];
}

}  // namespace

RootShares root_shares(const GraphView& graph, const RootedForests& forests, std::span<const NodeId> nodes,
                       const Execution& execution) {
  RootShares mean{std::vector<double>(nodes.size()), std::vector<double>(nodes.size())};
  if (nodes.empty()) return mean;
  // As many forests as there are threads at a time, added up in their order: the same bits on any number.
  const auto at_once = static_cast<std::uint64_t>(execution.threads), total = num_forests(nodes.size());
  for (std::uint64_t begin = 0; begin < total; begin += at_once) {
    std::vector<RootShares> parts(std::min(at_once, total - begin));
    parallel_for(execution, parts.size(), [&](std::size_t i) {
      parts[i] = shares_in(graph, forests.roots_of_nodes(begin + i), nodes);
    });
    for (const RootShares& part : parts) {
      add(mean.weight, part.weight, 1 / static_cast<double>(total));
      add(mean.num_nodes, part.num_nodes, 1 / static_cast<double>(total));
    }
    execution.report("forests", begin + parts.size(), total);
  }
  return mean;
}

}  // namespace copse
