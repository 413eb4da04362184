// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "copse/points/neighbors.hpp"
#include "copse/support/execution.hpp"
#include "points/key_source.hpp"

namespace copse {

/// Exact neighbours of all points. `num_searched_again` counts the rows that needed a second look.
Neighbors exact_neighbors(const PairDiscrepancy& exact, const KeySource& keys, std::uint32_t k,
                          const Execution& execution, std::uint64_t& num_searched_again);

/// Exact neighbours of some points, in the order of `rows`.
Neighbors exact_neighbors_of(const PairDiscrepancy& exact, const KeySource& keys,
                             std::span<const NodeId> rows, std::uint32_t k, const Execution& execution);

}  // namespace copse
