// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "copse/points/neighbors.hpp"
#include "copse/support/execution.hpp"
#include "points/discrepancy.hpp"

namespace copse {

/// Exact neighbours of all points. `num_searched_again` counts the rows that needed a second look.
Neighbors exact_neighbors(const PairDiscrepancy& exact, const KeySource& keys, std::uint32_t k,
                          const Execution& execution, std::uint64_t& num_searched_again);

/// Exact neighbours of some points, in the order of `rows`.
Neighbors exact_neighbors_of(const PairDiscrepancy& exact, const KeySource& keys,
                             std::span<const NodeId> rows, std::uint32_t k, const Execution& execution);

// What the search by cells (cell_neighbors.cpp) shares with this one.

/// Candidates per row: k and some more, so that single precision rarely leaves a doubt about the k-th.
inline std::size_t num_candidates(std::uint32_t k) { return k + (k / 8 > 8 ? k / 8 : 8); }

/// The smallest keys of each row (`slot`): one heap of fixed size per row, largest on top.
class Candidates {
 public:
  Candidates(std::size_t num_slots, std::size_t size);

  float threshold(std::size_t slot) const { return thresholds_[slot]; }
  const float* thresholds() const { return thresholds_.data(); }
  /// Takes the place of the largest if it is smaller.
  void offer(std::size_t slot, float key, NodeId id) {
    if (key < thresholds_[slot]) push(slot, key, id);
  }
  std::vector<NodeId> of(std::size_t slot) const;

 private:
  void push(std::size_t slot, float key, NodeId id);

  std::size_t size_;
  Buffer<float> keys_;
  Buffer<NodeId> ids_;
  Buffer<float> thresholds_;
};

/// Consecutive rows of the keys.
struct RowRange {
  std::size_t begin, end;
};

/// Offers every pair of a row of `a` and a row of `b` to the candidates of both; ids[i] is the point of row
/// i. The ranges are the same, each pair then counts once, or `a` is in front of `b`.
void offer_pairs(const DenseKeys& keys, RowRange a, RowRange b, std::span<const NodeId> ids,
                 Candidates& candidates, const Execution& execution);

/// meet(i, i) for every i in [0, count), then meet(i, j) for every pair i < j, each once, in rounds by the
/// circle method: one stays, the others move round; with an odd number one sits out. Meetings that run at the
/// same time share nobody, so that both sides may be written to without locks; the rounds are the same for
/// any number of threads.
void round_robin(std::uint64_t count, const Execution& execution,
                 const std::function<void(std::uint64_t, std::uint64_t)>& meet);

/// What ranking leaves to be done, as slots of the candidates, ascending.
struct RankedRows {
  std::vector<std::size_t> in_doubt;   // the products' error leaves more than one answer
  std::vector<std::size_t> too_short;  // fewer than k candidates: their places are not filled
};

/// Ranks the candidates of slot s, those of the point rows[s], in double precision and writes the k nearest
/// to place places[s] of `result`.
RankedRows rank_candidates(const PairDiscrepancy& exact, const KeySource& keys, const Candidates& candidates,
                           std::span<const NodeId> rows, std::span<const NodeId> places,
                           const Execution& execution, Neighbors& result);

/// Settles rows in doubt: whatever is within reach of the k-th so far is ranked in double, of all points or
/// of those for which is_candidate(row, point) holds. result's place places[i] belongs to rows[i].
void search_again(const PairDiscrepancy& exact, const KeySource& keys, std::span<const NodeId> rows,
                  std::span<const NodeId> places, const std::function<bool(NodeId, NodeId)>& is_candidate,
                  const Execution& execution, Neighbors& result);

}  // namespace copse
