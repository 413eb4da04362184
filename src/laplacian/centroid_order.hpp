// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// A forest with every tree rooted at its centroid, in preorder, the child with the most nodes first. Arrays
/// are indexed by position: parents come before children, a subtree is an interval, and so is a heavy path
/// (a node continues the path of its parent just when it stands right behind it).
struct CentroidOrder {
  Buffer<NodeId> position;     // by node
  Buffer<NodeId> parent;       // a root is its own parent
  Buffer<NodeId> size;         // nodes of the subtree
  Buffer<Weight> weight;       // of the edge to the parent, 0 at a root; empty when the graph has no weights
  std::vector<NodeId> starts;  // positions of the roots, ascending

  NodeId num_nodes() const { return static_cast<NodeId>(parent.size()); }
  bool is_root(NodeId p) const { return parent[p] == p; }
  double resistance(NodeId p) const { return weight.empty() ? 1.0 : 1.0 / static_cast<double>(weight[p]); }
  NodeId tree_size(std::size_t tree) const {
    return (tree + 1 < starts.size() ? starts[tree + 1] : num_nodes()) - starts[tree];
  }
};

/// O(n), passes over the forest in order; 20 bytes per node beside the result.
CentroidOrder centroid_order(const SpanningForest& forest);

/// g of tree_kernel.hpp, by position: L^+_ij = d(lca(i, j)) + g(i) + g(j).
Buffer<double> centroid_offsets(const CentroidOrder& order);

}  // namespace copse
