// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "copse/points/neighbors.hpp"
#include "copse/support/execution.hpp"
#include "points/discrepancy.hpp"

// Approximate search: points are put into cells, and only some pairs of different cells are compared.

namespace copse {

using CellId = std::uint32_t;

/// Centres of cells, in the space of DenseKeys: a point belongs to the cell whose centre is nearest.
/// Everything about cells is computed in one fixed order: which cell a point is in is the same on every
/// processor.
struct CellCenters {
  std::size_t stride = 0;
  std::vector<float> rows;     // `stride` per centre
  std::vector<float> norms;    // squared lengths
  std::vector<double> widths;  // twice the distance of two centres, for every pair

  CellId count() const { return static_cast<CellId>(norms.size()); }
  const float* row(CellId cell) const { return rows.data() + std::size_t{cell} * stride; }
  double width(CellId a, CellId b) const { return widths[std::size_t{a} * norms.size() + b]; }

  /// key(x, c) = |c|^2 - 2 x.c, the squared distance but for |x|^2: out[i * (last - first) + (c - first)] for
  /// `num_points` rows x and the cells [first, last).
  void keys(const float* points, std::size_t num_points, CellId first, CellId last, float* out) const;
};

struct NearestCell {
  CellId cell = 0;
  float key = 0;
};
/// Of each of `num_points` rows; ties go to the lower cell.
std::vector<NearestCell> nearest_cells(const CellCenters& centers, const float* points,
                                       std::size_t num_points, const Execution& execution);

/// Up to `num_cells` centres by Lloyd's algorithm on a seeded sample of the points (Lloyd 1982). Every centre
/// is the nearest of at least one point of the sample: where points coincide there are fewer.
CellCenters find_centers(const DenseKeys& keys, CellId num_cells, const Execution& execution);

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

/// gap <= radius, from the plane offsets of both points (key to the other's cell - key to the own cell:
/// distance from the plane times the width of the two cells) and width * radius.
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
