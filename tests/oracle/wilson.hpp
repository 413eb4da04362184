// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/graph/graph.hpp"

// Wilson's algorithm as the paper tells it: one walk after the other, loops cut out as they close. Given the
// stacks of arrows, the tree does not depend on the order in which cycles are popped, so that trees of any
// other order must be equal to this one edge by edge.

namespace copse::oracle {

/// parent[u], where arrow(u, k) is the k-th arrow on the stack of u. `from_last` starts the walks at the
/// other end of the nodes.
template <class Arrow>
std::vector<NodeId> wilson_parents(NodeId num_nodes, NodeId root, const Arrow& arrow, bool from_last) {
  std::vector<NodeId> parent(num_nodes, kNoNode);
  std::vector<bool> in_tree(num_nodes), on_path(num_nodes);
  std::vector<std::size_t> pops(num_nodes);
  in_tree[root] = true;
  parent[root] = root;
  for (NodeId k = 0; k < num_nodes; ++k) {
    std::vector<NodeId> path{from_last ? num_nodes - 1 - k : k};
    on_path[path[0]] = true;
    while (!in_tree[path.back()]) {
      const NodeId next = arrow(path.back(), pops[path.back()]);
      while (on_path[next]) {  // the loop from `next` round to it, the node itself last
        ++pops[path.back()];
        on_path[path.back()] = false;
        path.pop_back();
      }
      path.push_back(next);
      on_path[next] = true;
    }
    for (const NodeId u : path) on_path[u] = false;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      in_tree[path[i]] = true;
      parent[path[i]] = path[i + 1];
    }
  }
  return parent;
}

}  // namespace copse::oracle
