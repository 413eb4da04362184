// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/points/neighbors.hpp"
#include "points/pair_discrepancy.hpp"

namespace copse {

/// Neighbours by cells that are fitted to the wanted recall, or exact ones; `report` tells which and why.
Neighbors approximate_neighbors(const PairDiscrepancy& exact, const NeighborOptions& options,
                                const Execution& execution, NeighborReport& report);

}  // namespace copse
