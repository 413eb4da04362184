// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "copse/support/execution.hpp"
#include "points/discrepancy.hpp"
#include "points/neighbor_forest.hpp"

namespace copse {

/// Goes on where trees have brought most neighbours together: neighbours of neighbours are likely to be
/// neighbours (Dong, Charikar & Li 2011). In a round, all whose lists or whom a point's list has to do with
/// it meet there, but for pairs that have met already.
///
/// Inside, points are called by their position in a tree, in which near points are mostly near in memory.
class NeighborDescent {
 public:
  /// Begins with the lists of the forest. Neither is needed any longer afterwards.
  NeighborDescent(const DenseKeys& keys, const NeighborForest& forest, const Execution& execution);

  /// Rounds until hardly anything changes, or that is enough.
  void run(const std::function<bool()>& is_enough = [] { return false; });
  /// Longer lists, in which everybody meets once more.
  void widen(std::size_t size);

  std::size_t size() const { return size_; }
  std::uint64_t num_compared() const { return num_compared_; }
  /// The list of a point.
  std::vector<NodeId> of(NodeId point) const;

  static std::uint64_t bytes(std::uint64_t num_points, std::uint64_t num_columns, std::size_t size);

 private:
  enum class State : char { met, meeting, fresh };
  struct Offer {
    NodeId to, id;
    float key;
  };
  struct Meeting;
  struct Block;

  void take_rows(const DenseKeys& keys);
  std::uint64_t run_round();
  void list_reversed();
  void gather(NodeId at, Meeting& meeting) const;
  template <class Take>
  std::uint64_t meet(Meeting& meeting, const Take& take) const;
  bool offer(const Offer& offer);

  const Execution& execution_;
  std::size_t stride_, size_ = 0;
  std::uint64_t num_compared_ = 0;
  std::vector<NodeId> points_, positions_;  // by position, by point
  Buffer<std::uint16_t> rows_;  // the upper halves of floats, rounded: reading rows is what takes time
  Buffer<float> norms_;
  // A heap per point, the farthest on top.
  Buffer<float> near_keys_;
  Buffer<NodeId> near_;
  Buffer<State> states_;
  Buffer<float> thresholds_;  // the farthest
  // In whose lists a point is: as one that they have met, then as one that they are meeting.
  std::vector<EdgeIndex> reversed_starts_, meeting_starts_;
  std::vector<NodeId> reversed_;
};

}  // namespace copse
