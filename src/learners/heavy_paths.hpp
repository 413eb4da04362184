// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "copse/trees/spanning_forest.hpp"
#include "laplacian/range_minimum.hpp"

namespace copse {

/// A forest in depth-first preorder, the largest subtree of every node first (heavy paths, Sleator & Tarjan
/// 1983): a subtree is a range of positions, a heavy path is one too, and any way up leaves at most log2 n
/// of them. Everything is by position; 20 bytes per node, 27 at most with weights.
class HeavyPaths {
 public:
  explicit HeavyPaths(const SpanningForest& forest)
      : node_(forest.num_nodes()),
        position_(forest.num_nodes()),
        end_(forest.num_nodes()),
        head_(forest.num_nodes()),
        above_(forest.num_nodes()) {
    const NodeId n = forest.num_nodes();
    Buffer<NodeId> size(n), heavy(n), place(n), next_light(n);  // by rank; heavy is 0 while there is no child
    for (NodeId rank = n; rank-- > 0;) {
      const NodeId parent = forest.parent[rank];
      ++size[rank];
      if (parent == rank) continue;
      size[parent] += size[rank];
      if (heavy[parent] == 0 || size[rank] > size[heavy[parent]]) heavy[parent] = rank;
    }
    if (forest.is_weighted()) weight_ = Buffer<Weight>(n);
    NodeId next_tree = 0;
    for (NodeId rank = 0; rank < n; ++rank) {
      const NodeId parent = forest.parent[rank], nodes = size[rank];
      NodeId at = next_tree;
      if (parent == rank) {
        next_tree += nodes;
      } else if (heavy[parent] == rank) {
        at = place[parent] + 1;
      } else {
        at = next_light[parent];
        next_light[parent] += nodes;
      }
      place[rank] = at;
      node_[at] = forest.node[rank];
      position_[forest.node[rank]] = at;
      end_[at] = at + nodes;
      above_[at] = parent == rank ? kNoNode : place[parent];
      head_[at] = parent != rank && heavy[parent] == rank ? head_[place[parent]] : at;
      // Light children come behind the subtree of the heavy one.
      next_light[rank] = at + 1 + (heavy[rank] == 0 ? 0 : size[heavy[rank]]);
      if (!weight_.empty()) weight_[at] = forest.weight[rank];
    }
    smallest_ = RangeMinimum<Weight>(weight_.span());
  }

  NodeId num_nodes() const { return static_cast<NodeId>(node_.size()); }
  NodeId node(NodeId position) const { return node_[position]; }
  NodeId position(NodeId node) const { return position_[node]; }
  /// Behind the last position of the subtree.
  NodeId end(NodeId position) const { return end_[position]; }
  /// kNoNode above a root.
  NodeId above(NodeId position) const { return above_[position]; }

  /// First position of the heavy path.
  NodeId head(NodeId position) const { return head_[position]; }

  /// kNoNode for nodes of different trees.
  NodeId common_ancestor(NodeId a, NodeId b) const {
    while (head_[a] != head_[b]) {
      if (a > b) std::swap(a, b);
      b = above_[head_[b]];
      if (b == kNoNode) return kNoNode;
    }
    return std::min(a, b);
  }

  /// Smallest weight on the way from `position` up to `ancestor`, which is another one.
  Weight smallest_weight(NodeId position, NodeId ancestor) const {
    if (weight_.empty()) return 1;
    Weight smallest = std::numeric_limits<Weight>::infinity();
    while (head_[position] != head_[ancestor]) {
      const NodeId head = head_[position];
      smallest = std::min(smallest, smallest_.minimum(head, std::size_t{position} + 1));
      position = above_[head];
    }
    if (position == ancestor) return smallest;
    return std::min(smallest, smallest_.minimum(std::size_t{ancestor} + 1, std::size_t{position} + 1));
  }

 private:
  Buffer<NodeId> node_, position_, end_, head_, above_;
  Buffer<Weight> weight_;  // to the node above; none where the forest has none
  RangeMinimum<Weight> smallest_;
};

}  // namespace copse
