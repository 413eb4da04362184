// SPDX-License-Identifier: Apache-2.0
#include "learners/leave_one_out.hpp"

#include "copse/support/parallel.hpp"

namespace copse {
namespace {

std::vector<double> returns_in(const GraphView& graph, const Buffer<NodeId>& root,
                               std::span<const NodeId> nodes) {
  std::vector<double> weights(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (EdgeIndex arc = graph.offsets[nodes[i]]; arc < graph.offsets[nodes[i] + 1]; ++arc)
      if (root[graph.neighbors[arc]] == nodes[i]) weights[i] += graph.weight(arc);
  return weights;
}

}  // namespace

std::vector<double> weights_of_returns(const GraphView& graph, const RootedForests& forests,
                                       std::span<const NodeId> nodes, const Execution& execution) {
  std::vector<double> sums(nodes.size());
  if (nodes.empty()) return sums;
  // As many forests as there are threads at a time, added up in their order: the same bits on any number.
  const auto at_once = static_cast<std::uint64_t>(execution.threads), total = num_forests(nodes.size());
  for (std::uint64_t begin = 0; begin < total; begin += at_once) {
    std::vector<std::vector<double>> parts(std::min(at_once, total - begin));
    parallel_for(execution, parts.size(), [&](std::size_t i) {
      parts[i] = returns_in(graph, forests.roots_of_nodes(begin + i), nodes);
    });
    for (const std::vector<double>& part : parts)
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[i] / static_cast<double>(total);
    execution.report("forests", begin + parts.size(), total);
  }
  return sums;
}

}  // namespace copse
