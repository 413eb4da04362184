// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// The two loops that a search for neighbours spends its time in (support/simd.hpp).

namespace copse {

/// out[i * out_stride + j] = -2 * (row i of a) . (row j of b), rows `stride` floats apart and as long, a
/// multiple of 4. Sums of floats over the columns in order, without fused operations: the same bits on every
/// processor, and whatever the numbers of rows.
void minus_two_products(const float* a, std::size_t num_a, const float* b, std::size_t num_b,
                        std::size_t stride, float* out, std::size_t out_stride);

/// Rows of a block of row_products; its arrays have room for a multiple of these.
inline constexpr std::size_t kBlockOfRows = 4;
inline constexpr std::size_t kSumsOfRows = 16;

/// out[i * out_stride + j] = -2 * (row i) . (row j) for i in [0, num_rows) and, at least, j in (i, count):
/// few rows, once, of which none has to be written side by side with others first. `stride` is a multiple of
/// kSumsOfRows: so many sums of every such column are added up in one order, the same bits on every
/// processor.
void row_products(const float* rows, std::size_t num_rows, std::size_t count, std::size_t stride, float* out,
                  std::size_t out_stride);

/// One row of a tile of keys (discrepancy.hpp), and the thresholds below which a key is of interest.
struct KeyRow {
  const float* products;
  const float* norms;       // of the columns
  float norm;               // of the row
  float threshold;          // of the row
  const float* thresholds;  // of the columns

  float key(std::size_t column) const { return products[column] + (norm + norms[column]); }
};

/// Columns in [0, count) whose key is below the threshold of the row or their own, into `hits` (room for
/// count). Returns how many. Nearly all keys fail, so that whole registers of them are tested at once.
std::size_t scan_keys(const KeyRow& row, std::size_t count, std::uint32_t* hits);

}  // namespace copse
