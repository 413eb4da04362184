// SPDX-License-Identifier: Apache-2.0
#include "trees/roots.hpp"

#include <algorithm>

namespace copse {
namespace {

constexpr int kCentreRounds = 5;  // four corners of a mesh, and one more

// Distances in edges from `source`, for the nodes that `order` will list; unreached entries keep kNoNode.
void breadth_first(const GraphView& graph, NodeId source, std::vector<NodeId>& distance,
                   std::vector<NodeId>& order) {
  for (const NodeId u : order) distance[u] = kNoNode;
  order.assign(1, source);
  distance[source] = 0;
  for (std::size_t head = 0; head < order.size(); ++head) {
    for (const NodeId v : graph.neighbors_of(order[head])) {
      if (distance[v] != kNoNode) continue;
      distance[v] = distance[order[head]] + 1;
      order.push_back(v);
    }
  }
}

}  // namespace

NodeId approximate_centre(const GraphView& graph, NodeId start) {
  std::vector<NodeId> distance(graph.num_nodes(), kNoNode), order;
  std::vector<NodeId> farthest(graph.num_nodes(), 0);  // of the landmarks so far
  NodeId centre = start;
  for (int round = 0; round < kCentreRounds; ++round) {
    breadth_first(graph, centre, distance, order);
    const NodeId landmark = order.back();  // what the centre so far is farthest from
    breadth_first(graph, landmark, distance, order);
    for (const NodeId u : order) farthest[u] = std::max(farthest[u], distance[u]);
    centre = *std::min_element(order.begin(), order.end(), [&](NodeId a, NodeId b) {
      return farthest[a] != farthest[b] ? farthest[a] < farthest[b] : a < b;
    });
  }
  return centre;
}

std::vector<NodeId> walk_roots(const GraphView& graph, const Components& components) {
  struct Best {
    NodeId node = kNoNode;
    double degree = -1, total = 0;
  };
  std::vector<Best> best(components.count());
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    Best& candidate = best[components.of_node[u]];
    const double degree = weighted_degree(graph, u);
    candidate.total += degree;
    if (degree > candidate.degree) candidate.node = u, candidate.degree = degree;
  }
  // The sweeps towards the centre pay only where many steps would be saved.
  constexpr NodeId kLarge = 1000;
  constexpr double kAlike = 2;  // largest over mean degree
  std::vector<NodeId> roots(components.count());
  for (std::size_t c = 0; c < roots.size(); ++c) {
    const double mean = best[c].total / components.sizes[c];
    const bool mesh = components.sizes[c] >= kLarge && best[c].degree < kAlike * mean;
    roots[c] = mesh ? approximate_centre(graph, best[c].node) : best[c].node;
  }
  return roots;
}

}  // namespace copse
