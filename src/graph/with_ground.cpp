// SPDX-License-Identifier: Apache-2.0
#include "graph/with_ground.hpp"

#include <algorithm>
#include <limits>

namespace copse {

Graph with_ground(const GraphView& graph, std::span<const double> to_ground, double unit,
                  const Execution& execution) {
  constexpr Weight kSmallest = std::numeric_limits<Weight>::denorm_min();
  const auto scaled = [&](double weight) { return std::max(static_cast<Weight>(weight / unit), kSmallest); };
  CancelCheck check(execution);
  const NodeId ground = graph.num_nodes();
  const auto num_joined =
      to_ground.size() - static_cast<std::size_t>(std::count(to_ground.begin(), to_ground.end(), 0.0));
  Buffer<EdgeIndex> offsets(std::size_t{ground} + 2);
  Buffer<NodeId> neighbors(graph.num_arcs() + 2 * num_joined);
  Buffer<Weight> weights(neighbors.size());
  EdgeIndex at = 0;
  const auto add = [&](NodeId neighbor, double weight) {
    neighbors[at] = neighbor;
    weights[at++] = scaled(weight);
  };
  for (NodeId u = 0; u < ground; ++u) {
    offsets[u] = at;
    check.step();
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      add(graph.neighbors[arc], graph.weight(arc));
    if (to_ground[u] != 0) add(ground, to_ground[u]);
  }
  offsets[ground] = at;
  for (NodeId u = 0; u < ground; ++u)
    if (to_ground[u] != 0) add(u, to_ground[u]);
  offsets[std::size_t{ground} + 1] = at;
  return {std::move(offsets), std::move(neighbors), std::move(weights)};
}

}  // namespace copse
