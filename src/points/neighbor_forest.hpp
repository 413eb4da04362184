// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "copse/support/execution.hpp"
#include "points/discrepancy.hpp"

namespace copse {

/// Approximate search: near points are likely to share a leaf of a random tree (Dasgupta & Freund 2008), and
/// in one of many trees nearly all do. A tree halves the points until leaves are small; all pairs of a leaf
/// are compared, by products of whole blocks of rows, and every point keeps a list of the nearest it has met.
class NeighborForest {
 public:
  /// Lists of `size` points, which is below the number of points.
  NeighborForest(const DenseKeys& keys, std::size_t size, const Execution& execution);

  /// The next tree, of 2^depth leaves. No one meets yet.
  void grow(unsigned depth);
  /// How deep a tree may be: leaves hold more points than lists.
  unsigned most_depth() const { return most_depth_; }
  /// The points in the order of the tree grown last, leaf by leaf, and where each is in it.
  std::vector<NodeId> order() const;
  std::vector<NodeId> positions() const;
  /// The greatest depth at which two positions are in one leaf.
  unsigned depth_together(NodeId a, NodeId b) const;
  /// All pairs of points of a leaf meet, of those that the tree grown last has at that depth.
  void meet(unsigned depth);

  std::uint64_t num_trees() const { return num_trees_; }
  std::uint64_t num_compared() const { return num_compared_; }
  /// The list of a point, in no order.
  std::vector<NodeId> of(NodeId point) const;
  std::size_t size() const { return size_; }
  std::span<const NodeId> ids_of(NodeId point) const { return near_.span().subspan(point * size_, size_); }
  std::span<const float> keys_of(NodeId point) const {
    return near_keys_.span().subspan(point * size_, size_);
  }

  static std::uint64_t bytes(std::uint64_t num_points, std::uint64_t num_columns, std::size_t size);

 private:
  struct Projected {
    float value;
    NodeId at;
    bool operator<(const Projected& other) const {
      return value != other.value ? value < other.value : at < other.at;
    }
  };
  struct Leaf;

  void sketch_points();
  const float* sketch(NodeId point) const;
  /// Where the leaves of a tree of that depth begin, and the end.
  std::vector<std::size_t> starts_at(unsigned depth) const;
  void meet(std::span<const Projected> members, Leaf& leaf);
  void offer(NodeId to, NodeId id, float key);

  const DenseKeys& keys_;
  const Execution& execution_;
  std::size_t size_, sketch_width_;
  unsigned most_depth_ = 0;
  std::uint64_t num_trees_ = 0, num_compared_ = 0;
  Buffer<float> sketches_;        // none where rows are as short
  std::vector<Projected> order_;  // of the tree grown last: points of a leaf side by side
  // A heap per point, the farthest on top.
  Buffer<float> near_keys_;
  Buffer<NodeId> near_;
  Buffer<char> is_fresh_;     // came since neighbours of neighbours met
  Buffer<float> thresholds_;  // the farthest
};

}  // namespace copse
