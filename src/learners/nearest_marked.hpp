// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "learners/heavy_paths.hpp"
#include "learners/line_resistance.hpp"

namespace copse {

/// The nearest marked node of a forest while marks are added, in resistance, exactly; of two as near the one
/// marked first. O(log^2 n) for a mark or a question, O(n) memory, whatever the shape.
///
/// With D the distance from the root, a mark m and a node i whose ways up meet a heavy path at q and p are
/// D(i) + D(m) - 2 D(p) apart if q is p or below it, and D(i) + D(m) - 2 D(q) if it is above: so minima of
/// D(m) over the rest of the path and of D(m) - 2 D(q) over its beginning decide, and two Fenwick trees per
/// path keep them. Distances are integers (ResistanceScale): no two ways to add them up differ.
template <class Integer>
class NearestMarked {
 public:
  NearestMarked(const SpanningForest& forest, const ResistanceScale& scale)
      : paths_(forest),
        depth_(forest.num_nodes()),
        path_end_(forest.num_nodes()),
        up_to_(forest.num_nodes()),
        from_(forest.num_nodes()) {
    for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
      if (forest.is_root(rank)) continue;
      const NodeId at = paths_.position(forest.node[rank]), above = paths_.above(at);
      depth_[at] = depth_[above] + static_cast<Integer>(scale.resistance<Unsigned>(forest.edge_weight(rank)));
    }
    for (NodeId p = 0; p < forest.num_nodes(); ++p) path_end_[paths_.head(p)] = p + 1;
    clear();
  }

  void clear() {
    std::fill(up_to_.begin(), up_to_.end(), Key{});
    std::fill(from_.begin(), from_.end(), Key{});
  }

  /// Marks `node`; times must ascend.
  void mark(NodeId node, std::uint32_t time) {
    const NodeId m = paths_.position(node);
    for_each_path(m, [&](NodeId head, NodeId q) {
      const std::uint64_t size = path_end_[head] - head;
      const Key above{depth_[m] - 2 * depth_[q], time}, below{depth_[m], time};
      for (std::uint64_t k = q - head + 1; k <= size; k += k & -k) lower(up_to_[head + k - 1], above);
      for (std::uint64_t k = path_end_[head] - q; k <= size; k += k & -k) lower(from_[head + k - 1], below);
    });
  }

  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  /// Time of the nearest mark in the node's tree, kNone without one.
  std::uint32_t nearest(NodeId node) const {
    const NodeId i = paths_.position(node);
    Key best;
    for_each_path(i, [&](NodeId head, NodeId p) {
      Key above, below;
      for (std::uint64_t k = p - head + 1; k > 0; k &= k - 1) lower(above, up_to_[head + k - 1]);
      for (std::uint64_t k = path_end_[head] - p; k > 0; k &= k - 1) lower(below, from_[head + k - 1]);
      if (above.time != kNone) lower(best, {depth_[i] + above.value, above.time});
      if (below.time != kNone) lower(best, {(depth_[i] - depth_[p]) + (below.value - depth_[p]), below.time});
    });
    return best.time;
  }

  static std::uint64_t bytes(std::uint64_t num_nodes) {
    return num_nodes * (5 * sizeof(NodeId) + sizeof(Integer) + sizeof(NodeId) + 2 * sizeof(Key));
  }

 private:
  using Unsigned = std::conditional_t<sizeof(Integer) == 8, std::uint64_t, Uint128>;
  struct Key {
    Integer value = 0;
    std::uint32_t time = kNone;
  };
  static void lower(Key& key, const Key& other) {
    if (other.time == kNone) return;
    if (key.time == kNone || other.value < key.value || (other.value == key.value && other.time < key.time))
      key = other;
  }

  /// visit(head, place) for the heavy paths from `position` up to the root.
  template <class Visit>
  void for_each_path(NodeId position, Visit&& visit) const {
    while (position != kNoNode) {
      const NodeId head = paths_.head(position);
      visit(head, position);
      position = paths_.above(head);
    }
  }

  HeavyPaths paths_;
  Buffer<Integer> depth_;    // D, by position, as all that follows
  Buffer<NodeId> path_end_;  // at the head of a path: behind its last place
  Buffer<Key> up_to_, from_;
};

}  // namespace copse
