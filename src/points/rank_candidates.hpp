// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "copse/points/neighbors.hpp"
#include "copse/support/execution.hpp"
#include "points/candidates.hpp"
#include "points/key_source.hpp"

namespace copse {

/// A candidate and its exact discrepancy, nearest first, ties by the lower row.
struct RankedPoint {
  double discrepancy;
  NodeId id;
  bool operator<(const RankedPoint& other) const {
    return discrepancy != other.discrepancy ? discrepancy < other.discrepancy : id < other.id;
  }
};

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

/// Row i of `from` becomes row rows[i] of `to`.
void copy_rows(const Neighbors& from, std::span<const NodeId> rows, Neighbors& to);

}  // namespace copse
