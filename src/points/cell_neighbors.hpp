// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "copse/points/neighbors.hpp"
#include "points/cell_centers.hpp"

namespace copse {

/// Which pairs of points are compared. Let a be the cell of x and b that of y, and p the plane of the points
/// that are as far from the centre of a as from that of b. The pair is compared if it is in one cell, or if
///     gap(x, y) = (distance of x from p) + (distance of y from p) <= radius.
/// x and y are on different sides of p, so that the gap is never larger than their distance: all neighbours
/// within `radius` are found, and many of those beyond, whose gap is much smaller than their distance.
struct CellPlan {
  CellCenters centers;
  double radius = 0;
  double share = 0;  // estimate: compared pairs, of all unordered pairs
};

/// How far x is beyond the plane between its cell and another, times the width of the two cells: from its
/// keys to both.
inline float plane_offset(float key_to_other, float key_to_own) { return key_to_other - key_to_own; }

/// gap <= radius, from the plane offsets of both points and width * radius.
inline bool is_near_plane(float offset_x, float offset_y, double limit) {
  return double{offset_x} + double{offset_y} <= limit;
}

/// How many cells to make of so many points.
CellId number_of_cells(std::uint64_t num_points);

/// Bytes that a search by cells takes on top of an exact one.
std::uint64_t cell_bytes(std::uint64_t num_points, std::uint64_t num_columns, int threads);

/// The smallest radius at which the share `recall` of `truth`, the exact neighbours of `rows`, is compared
/// with them, and what it costs.
CellPlan plan_cells(const DenseKeys& keys, CellCenters centers, std::span<const NodeId> rows,
                    const Neighbors& truth, double recall, const Execution& execution);

/// The k nearest of those points that each point is compared with. A point that is compared with fewer than k
/// is searched exactly; `num_searched_again` counts those. The rows of `keys` are moved meanwhile.
Neighbors cell_neighbors(const PairDiscrepancy& exact, DenseKeys& keys, const CellPlan& plan, std::uint32_t k,
                         const Execution& execution, std::uint64_t& num_searched_again);

}  // namespace copse
