// SPDX-License-Identifier: Apache-2.0
#include "trees/roots.hpp"

#include <algorithm>

namespace copse {

std::vector<NodeId> heaviest_nodes(const GraphView& graph, const Components& components) {
  std::vector<NodeId> heaviest(components.count());
  std::vector<double> most(components.count(), -1);
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    const NodeId component = components.of_node[u];
    const double degree = weighted_degree(graph, u);
    if (degree > most[component]) heaviest[component] = u, most[component] = degree;
  }
  return heaviest;
}

void move_to_centroids(std::vector<NodeId>& roots, const SpanningForest& forest) {
  const Buffer<NodeId> size = subtree_sizes(forest);
  auto tree = Buffer<NodeId>::for_overwrite(forest.num_nodes());  // by rank
  std::vector<NodeId> total;                                      // nodes, by tree
  for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
    if (forest.is_root(rank)) total.push_back(size[rank]);
    tree[rank] = forest.is_root(rank) ? static_cast<NodeId>(total.size() - 1) : tree[forest.parent[rank]];
    // One below the other, the centroid last.
    if (size[rank] > total[tree[rank]] / 2) roots[tree[rank]] = forest.node[rank];
  }
}

}  // namespace copse
