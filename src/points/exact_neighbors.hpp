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

/// Candidates per row: k and some more, so that single precision rarely leaves a doubt about the k-th.
inline std::size_t num_candidates(std::uint32_t k) { return k + (k / 8 > 8 ? k / 8 : 8); }

/// The k nearest of the candidates of each point, of which there are k at least. All points, in an order in
/// which near ones share what they read.
Neighbors rank_points(const PairDiscrepancy& exact, std::span<const NodeId> order, std::uint32_t k,
                      const std::function<std::vector<NodeId>(NodeId)>& candidates,
                      const Execution& execution);

}  // namespace copse
