// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "oracle/trees.hpp"

// What a forest's pseudoinverse is, edge by edge: with the edge e cut, a node i sees n - s nodes on the other
// side, signed by the side it is on itself; L^+_ij is the sum over e of resistance(e) times the product of
// both, over n^2. No root, no common ancestor, no subtraction of distances; long double throughout.

namespace copse::oracle {

class TreeByCuts {
 public:
  explicit TreeByCuts(const SpanningForest& forest)
      : TreeByCuts(forest.num_nodes(), edge_list(as_graph(forest))) {}
  TreeByCuts(NodeId num_nodes, std::vector<Edge> edges) : n_(num_nodes), edges_(std::move(edges)) {
    Partition trees(n_);
    for (const Edge& edge : edges_) trees.join(edge.u, edge.v);
    for (NodeId u = 0; u < n_; ++u) tree_.push_back(trees.of(u));
    for (std::size_t cut = 0; cut < edges_.size(); ++cut) {
      Partition parts(n_);
      for (std::size_t k = 0; k < edges_.size(); ++k)
        if (k != cut) parts.join(edges_[k].u, edges_[k].v);
      std::vector<int> side(n_);
      for (NodeId u = 0; u < n_; ++u)
        side[u] = parts.of(u) == parts.of(edges_[cut].u)   ? 1
                  : parts.of(u) == parts.of(edges_[cut].v) ? -1
                                                           : 0;
      // Nodes on the other side, signed by one's own; 0 in other trees.
      std::vector<long double> across(n_);
      for (NodeId u = 0; u < n_; ++u)
        for (NodeId v = 0; v < n_; ++v)
          if (side[u] * side[v] < 0) across[u] += side[u];
      across_.push_back(across);
      sides_.push_back(side);
    }
  }

  long double entry(NodeId i, NodeId j) const {
    long double sum = 0, size = 0;
    for (NodeId u = 0; u < n_; ++u) size += tree_[u] == tree_[i];
    for (std::size_t e = 0; e < edges_.size(); ++e)
      sum += across_[e][i] / size * (across_[e][j] / size) / edges_[e].weight;
    return sum;
  }
  long double resistance(NodeId i, NodeId j) const {
    if (tree_[i] != tree_[j]) return std::numeric_limits<long double>::infinity();
    long double sum = 0;
    for (std::size_t e = 0; e < edges_.size(); ++e)
      if (sides_[e][i] != sides_[e][j]) sum += 1 / static_cast<long double>(edges_[e].weight);
    return sum;
  }

 private:
  NodeId n_;
  std::vector<Edge> edges_;
  std::vector<NodeId> tree_;
  std::vector<std::vector<int>> sides_;  // by edge and node: 1, -1, or 0 in other trees
  std::vector<std::vector<long double>> across_;
};

}  // namespace copse::oracle
