// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace copse {

/// One row of a tile of keys (key_source.hpp) and the thresholds below which a key is of interest.
struct KeyRow {
  const float* products;
  const float* norms;             // of the columns
  float norm;                     // of the row
  float own;                      // threshold of the row
  const float* others = nullptr;  // thresholds of the columns, or none

  float key(std::size_t column) const { return products[column] + (norm + norms[column]); }
};

/// Columns in [0, count) with key < own, or key < others[column], into `hits` (room for count). Returns how
/// many. Nearly all keys fail, so that whole registers of them are tested at once.
std::size_t scan_keys(const KeyRow& row, std::size_t count, std::uint32_t* hits);

/// Squared distance of two rows of floats, `size` a multiple of 8, and their negative inner product. In a
/// fixed order that registers of 4 and of 8 floats share: the same bits on every processor.
float squared_distance(const float* a, const float* b, std::size_t size);
float minus_product(const float* a, const float* b, std::size_t size);

/// out[i * out_stride + j] = (row i of a) . (row j of b), rows `size` floats long and apart, `size` a
/// multiple of 8. Each is summed in the order of minus_product; block_product.hpp is faster and has other
/// bits on every processor.
void ordered_products(const float* a, std::size_t num_a, const float* b, std::size_t num_b, std::size_t size,
                      float* out, std::size_t out_stride);

}  // namespace copse
