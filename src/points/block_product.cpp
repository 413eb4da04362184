// SPDX-License-Identifier: Apache-2.0
#include "points/block_product.hpp"

#include <algorithm>
#include <array>

// The usual shape of a fast product (Goto & van de Geijn 2008): some columns of the result at a time, for
// which the rows of b are first written side by side, and a few rows of a against them, all sums in
// registers.

namespace copse {
namespace {

constexpr std::size_t kRows = 6, kColumns = 16, kDepth = 256;
typedef float Lanes __attribute__((vector_size(32)));  // a register of eight floats, or two of four
using Panel = std::array<float, kDepth * kColumns>;    // stays in the first cache

struct Tile {
  const float* a;  // some rows
  std::size_t stride, depth;
  float* out;
  std::size_t out_stride, num_columns;
  bool is_first;  // of the depth: out is written, not added to
};

[[gnu::always_inline]] inline void load(const float* from, Lanes& to) {
  __builtin_memcpy(&to, from, sizeof to);
}

template <std::size_t num_rows>
[[gnu::always_inline]] inline void tile_body(const Tile& tile, const Panel& panel) {
  Lanes left[num_rows] = {}, right[num_rows] = {};
  for (std::size_t t = 0; t < tile.depth; ++t) {
    Lanes b_left, b_right;
    load(&panel[t * kColumns], b_left);
    load(&panel[t * kColumns + kColumns / 2], b_right);
#pragma GCC unroll 6
    for (std::size_t r = 0; r < num_rows; ++r) {
      const float x = tile.a[r * tile.stride + t];
      left[r] += x * b_left;
      right[r] += x * b_right;
    }
  }
#pragma GCC unroll 6
  for (std::size_t r = 0; r < num_rows; ++r) {
    float sums[kColumns];
    __builtin_memcpy(sums, &left[r], sizeof left[r]);
    __builtin_memcpy(sums + kColumns / 2, &right[r], sizeof right[r]);
    float* const out = tile.out + r * tile.out_stride;
    if (tile.is_first)
      for (std::size_t c = 0; c < tile.num_columns; ++c) out[c] = sums[c];
    else
      for (std::size_t c = 0; c < tile.num_columns; ++c) out[c] += sums[c];
  }
}

// Rows of b as columns, times -2, which is exact; 0 where there are no more rows. Four by four: one float at
// a time would take as long as the products with 32 rows of a do.
void fill(Panel& panel, const float* b, std::size_t num_b, std::size_t stride, std::size_t depth) {
  typedef float Four __attribute__((vector_size(16)));
  static constexpr float kNoRow[kDepth] = {};
  for (std::size_t c = 0; c < kColumns; c += 4)
    for (std::size_t t = 0; t < depth; t += 4) {
      Four rows[4];
#pragma GCC unroll 4
      for (std::size_t r = 0; r < 4; ++r)
        __builtin_memcpy(&rows[r], (c + r < num_b ? b + (c + r) * stride : kNoRow) + t, sizeof rows[r]);
      const Four low_a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
      const Four low_b = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
      const Four high_a = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
      const Four high_b = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
      const Four columns[4] = {-2 * __builtin_shufflevector(low_a, low_b, 0, 1, 4, 5),
                               -2 * __builtin_shufflevector(low_a, low_b, 2, 3, 6, 7),
                               -2 * __builtin_shufflevector(high_a, high_b, 0, 1, 4, 5),
                               -2 * __builtin_shufflevector(high_a, high_b, 2, 3, 6, 7)};
#pragma GCC unroll 4
      for (std::size_t r = 0; r < 4; ++r)
        __builtin_memcpy(&panel[(t + r) * kColumns + c], &columns[r], sizeof columns[r]);
    }
}

[[gnu::always_inline]] inline void rows_body(Tile tile, std::size_t num_a, const Panel& panel) {
  for (; num_a >= kRows; num_a -= kRows) {
    tile_body<kRows>(tile, panel);
    tile.a += kRows * tile.stride;
    tile.out += kRows * tile.out_stride;
  }
  for (; num_a >= 2; num_a -= 2) {
    tile_body<2>(tile, panel);
    tile.a += 2 * tile.stride;
    tile.out += 2 * tile.out_stride;
  }
  if (num_a == 1) tile_body<1>(tile, panel);
}

void rows_any(const Tile& tile, std::size_t num_a, const Panel& panel) { rows_body(tile, num_a, panel); }
#if defined(__x86_64__)
// Fused here: the sums are for choosing candidates, whose distances are then computed exactly.
__attribute__((target("avx2,fma"))) void rows_fma(const Tile& tile, std::size_t num_a, const Panel& panel) {
  rows_body(tile, num_a, panel);
}
const auto rows_against =
    __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? rows_fma : rows_any;
#else
const auto rows_against = rows_any;
#endif

}  // namespace

void minus_two_products(const float* a, std::size_t num_a, const float* b, std::size_t num_b,
                        std::size_t stride, float* out, std::size_t out_stride) {
  Panel panel;
  for (std::size_t begin = 0; begin < stride; begin += kDepth) {
    const std::size_t depth = std::min(kDepth, stride - begin);
    for (std::size_t first = 0; first < num_b; first += kColumns) {
      const std::size_t num_columns = std::min(kColumns, num_b - first);
      fill(panel, b + first * stride + begin, num_columns, stride, depth);
      rows_against({a + begin, stride, depth, out + first, out_stride, num_columns, begin == 0}, num_a,
                   panel);
    }
  }
}
}  // namespace copse
