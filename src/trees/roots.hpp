// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/graph/components.hpp"
#include "copse/support/random.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// The node of largest weighted degree in each component, the lowest of equals. Random walks reach it quickly
/// where degrees differ.
std::vector<NodeId> heaviest_nodes(const GraphView& graph, const Components& components);

/// Moves the roots of a forest to the centroids of its trees: removed, they leave parts of at most half of
/// the tree's nodes. Those of random trees lie in the middle of grids and road networks, whose node of
/// largest degree may be anywhere.
void move_to_centroids(std::vector<NodeId>& roots, const SpanningForest& forest);

/// The node of the lowest number in each component.
inline std::vector<NodeId> smallest_nodes(const Components& components) {
  std::vector<NodeId> roots;
  for (NodeId u = 0; u < components.of_node.size(); ++u)
    if (components.of_node[u] == roots.size()) roots.push_back(u);
  return roots;
}

/// A uniformly random node of each component: one draw a component in order, then one pass over the nodes.
inline std::vector<NodeId> random_roots(const Components& components, Stream& stream) {
  std::vector<NodeId> left(components.count());  // nodes of the component to pass before its root
  for (std::size_t c = 0; c < left.size(); ++c)
    left[c] = static_cast<NodeId>(stream.below(components.sizes[c]));
  std::vector<NodeId> roots(components.count(), kNoNode);
  for (std::size_t u = 0; u < components.of_node.size(); ++u) {
    const NodeId c = components.of_node[u];
    if (roots[c] == kNoNode && left[c]-- == 0) roots[c] = static_cast<NodeId>(u);
  }
  return roots;
}

}  // namespace copse
