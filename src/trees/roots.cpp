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
  constexpr NodeId kNone = kNoNode;
  const NodeId n = forest.num_nodes();
  auto size = Buffer<NodeId>::for_overwrite(n);  // of subtrees, by rank
  std::fill(size.begin(), size.end(), 1);
  for (NodeId rank = n; rank-- > 0;)
    if (!forest.is_root(rank)) size[forest.parent[rank]] += size[rank];
  // Of a node with more than half of its tree's nodes below, the parent has as many.
  auto large_in = Buffer<NodeId>::for_overwrite(n);  // by rank: the tree, if that is so
  std::vector<NodeId> total(roots.size());
  auto place = roots.begin();
  for (NodeId rank = 0; rank < n; ++rank) {
    if (forest.is_root(rank)) {
      place = std::find(place, roots.end(), forest.node[rank]);
      large_in[rank] = static_cast<NodeId>(place - roots.begin());
      total[large_in[rank]] = size[rank];
      continue;
    }
    const NodeId tree = large_in[forest.parent[rank]];
    const bool is_large = tree != kNone && size[rank] > total[tree] / 2;
    large_in[rank] = is_large ? tree : kNone;
    if (is_large) roots[tree] = forest.node[rank];
  }
}

}  // namespace copse
