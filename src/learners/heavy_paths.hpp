// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// Smallest of a range in O(64 log_64 n), with n / 63 values beside the array: minima of blocks of 64, of
/// blocks of those, and so on.
class RangeMinimum {
 public:
  RangeMinimum() = default;
  explicit RangeMinimum(Buffer<Weight> values) {
    levels_.push_back(std::move(values));
    while (levels_.back().size() > 64) {
      const Buffer<Weight>& below = levels_.back();
      Buffer<Weight> level((below.size() + 63) / 64);
      for (std::size_t i = 0; i < level.size(); ++i)
        level[i] = *std::min_element(&below[i * 64], &below[0] + std::min(below.size(), i * 64 + 64));
      levels_.push_back(std::move(level));
    }
  }
  bool empty() const { return levels_.empty(); }

  /// Over [begin, end); infinite if that is empty.
  Weight operator()(std::size_t begin, std::size_t end) const {
    Weight smallest = std::numeric_limits<Weight>::infinity();
    for (std::size_t height = 0; begin < end; ++height) {
      const Buffer<Weight>& level = levels_[height];
      const bool is_top = height + 1 == levels_.size();
      while (begin < end && (is_top || begin % 64 != 0)) smallest = std::min(smallest, level[begin++]);
      while (begin < end && end % 64 != 0) smallest = std::min(smallest, level[--end]);
      begin /= 64;
      end /= 64;
    }
    return smallest;
  }

 private:
  std::vector<Buffer<Weight>> levels_;
};

/// A forest in depth-first preorder, the largest subtree of every node first (heavy paths, Sleator & Tarjan
/// 1983): a subtree is a range of positions, a heavy path is one too, and any way up leaves at most log2 n
/// of them. Everything is by position; 20 bytes a node, 24 with weights.
class HeavyPaths {
 public:
  explicit HeavyPaths(const SpanningForest& forest)
      : node_(forest.num_nodes()),
        position_(forest.num_nodes()),
        end_(forest.num_nodes()),
        head_(forest.num_nodes()),
        above_(forest.num_nodes()) {
    const NodeId n = forest.num_nodes();
    Buffer<NodeId> size(n), heavy(n), place(n);  // by rank; heavy is 0 while there is no child
    for (NodeId rank = n; rank-- > 0;) {
      const NodeId parent = forest.parent[rank];
      ++size[rank];
      if (parent == rank) continue;
      size[parent] += size[rank];
      if (heavy[parent] == 0 || size[rank] > size[heavy[parent]]) heavy[parent] = rank;
    }
    Buffer<NodeId>& next = size;  // once a node is placed: where its next light child goes
    Buffer<Weight> weight(forest.is_weighted() ? n : 0);
    NodeId next_tree = 0;
    for (NodeId rank = 0; rank < n; ++rank) {
      const NodeId parent = forest.parent[rank], nodes = size[rank];
      NodeId at = next_tree;
      if (parent == rank) {
        next_tree += nodes;
      } else if (heavy[parent] == rank) {
        at = place[parent] + 1;
      } else {
        at = next[parent];
        next[parent] += nodes;
      }
      place[rank] = at;
      node_[at] = forest.node[rank];
      position_[forest.node[rank]] = at;
      end_[at] = at + nodes;
      above_[at] = parent == rank ? kNoNode : place[parent];
      head_[at] = parent != rank && heavy[parent] == rank ? head_[place[parent]] : at;
      // Light children come behind the subtree of the heavy one, whose size is still there: ranks of
      // children are above their parent's.
      next[rank] = at + 1 + (heavy[rank] == 0 ? 0 : size[heavy[rank]]);
      if (!weight.empty()) weight[at] = forest.weight[rank];
    }
    if (!weight.empty()) weight_ = RangeMinimum(std::move(weight));
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

  /// Smallest weight on the way from `position` up to `ancestor`.
  Weight smallest_weight(NodeId position, NodeId ancestor) const {
    if (weight_.empty()) return 1;
    Weight smallest = std::numeric_limits<Weight>::infinity();
    while (head_[position] != head_[ancestor]) {
      const NodeId head = head_[position];
      smallest = std::min(smallest, weight_(head, std::size_t{position} + 1));
      position = above_[head];
    }
    return std::min(smallest, weight_(std::size_t{ancestor} + 1, std::size_t{position} + 1));
  }

 private:
  Buffer<NodeId> node_, position_, end_, head_, above_;
  RangeMinimum weight_;
};

}  // namespace copse
