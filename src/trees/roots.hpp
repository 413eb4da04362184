// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/graph/components.hpp"
#include "copse/support/random.hpp"

namespace copse {

/// A node of each component that random walks reach quickly: the one of largest weighted degree, or, in
/// components where all degrees are alike and distances are long (meshes), one near the centre.
std::vector<NodeId> walk_roots(const GraphView& graph, const Components& components);

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
