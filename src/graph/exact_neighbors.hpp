// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "copse/graph/neighbors.hpp"
#include "copse/support/execution.hpp"
#include "graph/key_source.hpp"

namespace copse {

/// Exact neighbours of all points. `num_searched_again` counts the rows that needed a second look.
Neighbors exact_neighbors(const PairDiscrepancy& exact, const KeySource& keys, std::uint32_t k,
                          const Execution& execution, std::uint64_t& num_searched_again);

/// Exact neighbours of some points, in the order of `rows`.
Neighbors exact_neighbors_of(const PairDiscrepancy& exact, const KeySource& keys,
                             std::span<const NodeId> rows, std::uint32_t k, const Execution& execution);

/// Candidates a row: k and some more, so that single precision rarely leaves a doubt about the k-th.
inline std::size_t num_candidates(std::uint32_t k) { return k + (k / 8 > 8 ? k / 8 : 8); }

/// A candidate and its exact discrepancy, nearest first, ties by the lower row.
struct RankedPoint {
  double discrepancy;
  NodeId id;
  bool operator<(const RankedPoint& other) const {
    return discrepancy != other.discrepancy ? discrepancy < other.discrepancy : id < other.id;
  }
};

}  // namespace copse
