// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "copse/support/execution.hpp"
#include "points/key_source.hpp"

namespace copse {

using CellId = std::uint32_t;

/// Centres of cells, in the space of DenseKeys: a point belongs to the cell whose centre is nearest.
///
/// Everything about cells is computed from ordered_products (scan_keys.hpp), in single precision and in one
/// fixed order: which cell a point is in is the same on every processor.
struct CellCenters {
  std::size_t stride = 0;
  std::vector<float> rows;   // `stride` a centre
  std::vector<float> norms;  // squared lengths

  CellId count() const { return static_cast<CellId>(norms.size()); }
  const float* row(CellId cell) const { return rows.data() + std::size_t{cell} * stride; }

  /// key(x, c) = |c|^2 - 2 x.c, the squared distance but for |x|^2: out[i * (last - first) + (c - first)] for
  /// `num_points` rows x and the cells [first, last).
  void keys(const float* points, std::size_t num_points, CellId first, CellId last, float* out) const;

  /// Twice the distance of two centres.
  double width(CellId a, CellId b) const;
};

/// Points whose keys to all cells are found at once: their rows stay in the cache.
inline constexpr std::size_t kPointsToCenters = 16;

struct NearestCell {
  CellId cell = 0;
  float key = 0;
};
/// Of the keys to all cells; ties go to the lower cell.
NearestCell nearest_cell(const float* keys, CellId num_cells);

/// Points in the sample that centres are found from, a cell: enough for means; other numbers were not tried.
inline constexpr std::size_t kSampledPerCell = 32;

/// Up to `num_cells` centres by Lloyd's algorithm on a seeded sample of the points (Lloyd 1982). Every centre
/// is the nearest of at least one point of the sample: where points coincide there are fewer.
CellCenters find_centers(const DenseKeys& keys, CellId num_cells, const Execution& execution);

/// Rows in ascending order, one at random from each of `count` equal parts of all: files are often sorted by
/// class. count <= num_points.
std::vector<NodeId> spread_rows(std::uint64_t num_points, std::uint64_t count, std::uint64_t seed,
                                std::uint64_t index);

}  // namespace copse
