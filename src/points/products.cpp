// SPDX-License-Identifier: Apache-2.0
//
// The usual shape of a fast product (Goto & van de Geijn 2008): some columns of the result at a time, for
// which the rows of b are first written side by side, and a few rows of a against them, all sums in
// registers.

#include "points/products.hpp"

#include <algorithm>
#include <array>

#include "support/simd.hpp"

namespace copse {
namespace {

constexpr std::size_t kRowsAtOnce = 6, kParts = 2;  // 12 of 16 registers hold sums, or of 32
constexpr std::size_t kDepth = 256;                 // columns at a time

template <std::size_t register_bytes>
struct Products {
  using Lanes = Register<float, register_bytes>;
  using Four = Register<float, 16>;
  static constexpr std::size_t kLanes = register_bytes / sizeof(float), kColumns = kParts * kLanes;
  using Panel = std::array<float, kDepth * kColumns>;  // stays in the first cache

  struct Tile {
    const float* a;  // some rows
    std::size_t stride, depth;
    float* out;
    std::size_t out_stride, num_columns;
    bool is_first;  // of the depth: sums begin at 0, not at what is in out
  };

  // A row of out, as far as there are columns.
  [[gnu::always_inline]] static void read(const Tile& tile, std::size_t r, Lanes* sums) {
    const float* from = tile.out + r * tile.out_stride;
    float row[kColumns] = {};
    if (tile.num_columns < kColumns) {
      for (std::size_t c = 0; c < tile.num_columns; ++c) row[c] = from[c];
      from = row;
    }
    load_lanes(from, sums[0]);
    load_lanes(from + kLanes, sums[1]);
  }
  [[gnu::always_inline]] static void write(const Tile& tile, std::size_t r, const Lanes* sums) {
    float row[kColumns];
    float* const out = tile.out + r * tile.out_stride;
    float* const to = tile.num_columns < kColumns ? row : out;
    store_lanes(sums[0], to);
    store_lanes(sums[1], to + kLanes);
    if (tile.num_columns < kColumns)
      for (std::size_t c = 0; c < tile.num_columns; ++c) out[c] = row[c];
  }

  template <std::size_t num_rows>
  [[gnu::always_inline]] static void multiply(const Tile& tile, const Panel& panel) {
    Lanes sums[num_rows][kParts] = {};
    if (!tile.is_first)
#pragma GCC unroll 6
      for (std::size_t r = 0; r < num_rows; ++r) read(tile, r, sums[r]);
    for (std::size_t t = 0; t < tile.depth; ++t) {
      Lanes left, right;
      load_lanes(&panel[t * kColumns], left);
      load_lanes(&panel[t * kColumns + kLanes], right);
#pragma GCC unroll 6
      for (std::size_t r = 0; r < num_rows; ++r) {
        const float x = tile.a[r * tile.stride + t];
        sums[r][0] += x * left;
        sums[r][1] += x * right;
      }
    }
#pragma GCC unroll 6
    for (std::size_t r = 0; r < num_rows; ++r) write(tile, r, sums[r]);
  }

  template <std::size_t num_rows>
  [[gnu::always_inline]] static void multiply_rows(Tile& tile, std::size_t& num_a, const Panel& panel) {
    for (; num_a >= num_rows; num_a -= num_rows) {
      multiply<num_rows>(tile, panel);
      tile.a += num_rows * tile.stride;
      tile.out += num_rows * tile.out_stride;
    }
  }

  // Rows of b as columns, times -2, which is exact; 0 where there are no more rows. Four by four: one float
  // at a time takes as long as the products with 32 rows of a.
  [[gnu::always_inline]] static void fill(Panel& panel, const float* b, std::size_t num_b, std::size_t stride,
                                          std::size_t depth) {
    static constexpr float kNoRow[kDepth] = {};
    for (std::size_t c = 0; c < kColumns; c += 4)
      for (std::size_t t = 0; t < depth; t += 4) {
        Four rows[4];
#pragma GCC unroll 4
        for (std::size_t r = 0; r < 4; ++r)
          load_lanes((c + r < num_b ? b + (c + r) * stride : kNoRow) + t, rows[r]);
        const Four even_low = __builtin_shufflevector(rows[0], rows[2], 0, 4, 1, 5);
        const Four odd_low = __builtin_shufflevector(rows[1], rows[3], 0, 4, 1, 5);
        const Four even_high = __builtin_shufflevector(rows[0], rows[2], 2, 6, 3, 7);
        const Four odd_high = __builtin_shufflevector(rows[1], rows[3], 2, 6, 3, 7);
        const Four columns[4] = {__builtin_shufflevector(even_low, odd_low, 0, 4, 1, 5),
                                 __builtin_shufflevector(even_low, odd_low, 2, 6, 3, 7),
                                 __builtin_shufflevector(even_high, odd_high, 0, 4, 1, 5),
                                 __builtin_shufflevector(even_high, odd_high, 2, 6, 3, 7)};
#pragma GCC unroll 4
        for (std::size_t r = 0; r < 4; ++r) store_lanes(-2 * columns[r], &panel[(t + r) * kColumns + c]);
      }
  }
};

struct MinusTwoProducts {
  static constexpr bool kWidest = true;

  template <std::size_t register_bytes>
  [[gnu::always_inline]] void operator()(const float* a, std::size_t num_a, const float* b, std::size_t num_b,
                                         std::size_t stride, float* out, std::size_t out_stride) const {
    using Shape = Products<register_bytes>;
    typename Shape::Panel panel;
    for (std::size_t begin = 0; begin < stride; begin += kDepth) {
      const std::size_t depth = std::min(kDepth, stride - begin);
      for (std::size_t first = 0; first < num_b; first += Shape::kColumns) {
        const std::size_t num_columns = std::min(Shape::kColumns, num_b - first);
        Shape::fill(panel, b + first * stride + begin, num_columns, stride, depth);
        typename Shape::Tile tile{a + begin, stride, depth, out + first, out_stride, num_columns, begin == 0};
        std::size_t rows_left = num_a;
        Shape::template multiply_rows<kRowsAtOnce>(tile, rows_left, panel);
        Shape::template multiply_rows<2>(tile, rows_left, panel);
        Shape::template multiply_rows<1>(tile, rows_left, panel);
      }
    }
  }
};

struct RowProducts {
  static constexpr bool kWidest = true;

  template <std::size_t register_bytes>
  [[gnu::always_inline]] void operator()(const float* rows, std::size_t num_rows, std::size_t count,
                                         std::size_t stride, float* out, std::size_t out_stride) const {
    constexpr std::size_t kSide = register_bytes == 64 ? 4 : 2;  // as many sums as there are registers for
    static_assert(kBlockOfRows % kSide == 0);
    for (std::size_t i = 0; i < num_rows; i += kSide)
      for (std::size_t j = i; j < count; j += kSide)
        block<register_bytes, kSide>(rows + i * stride, rows + j * stride, stride, out + i * out_stride + j,
                                     out_stride);
  }

  template <std::size_t register_bytes, std::size_t side>
  [[gnu::always_inline]] static void block(const float* a, const float* b, std::size_t stride, float* out,
                                           std::size_t out_stride) {
    using Lanes = Register<float, register_bytes>;
    constexpr std::size_t kLanes = register_bytes / sizeof(float), kPieces = kSumsOfRows / kLanes;
    Lanes sums[side][side][kPieces] = {};
    for (std::size_t t = 0; t < stride; t += kSumsOfRows)
#pragma GCC unroll 4
      for (std::size_t piece = 0; piece < kPieces; ++piece) {
        Lanes right[side];
#pragma GCC unroll 4
        for (std::size_t c = 0; c < side; ++c) load_lanes(b + c * stride + t + piece * kLanes, right[c]);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < side; ++r) {
          Lanes left;
          load_lanes(a + r * stride + t + piece * kLanes, left);
#pragma GCC unroll 4
          for (std::size_t c = 0; c < side; ++c) sums[r][c][piece] += left * right[c];
        }
      }
#pragma GCC unroll 4
    for (std::size_t r = 0; r < side; ++r)
#pragma GCC unroll 4
      for (std::size_t c = 0; c < side; ++c) {
        float all[kSumsOfRows];
#pragma GCC unroll 4
        for (std::size_t piece = 0; piece < kPieces; ++piece)
          store_lanes(sums[r][c][piece], all + piece * kLanes);
        Register<float, 16> quarters[4];
#pragma GCC unroll 4
        for (std::size_t q = 0; q < 4; ++q) load_lanes(all + 4 * q, quarters[q]);
        const Register<float, 16> four = (quarters[0] + quarters[1]) + (quarters[2] + quarters[3]);
        out[r * out_stride + c] = -2 * ((four[0] + four[1]) + (four[2] + four[3]));
      }
  }
};

struct ScanKeys {
  static constexpr bool kWidest = true;
  static constexpr std::size_t kAtOnce = 32;

  template <std::size_t register_bytes>
  [[gnu::always_inline]] std::size_t operator()(KeyRow row, std::size_t count, std::uint32_t* hits) const {
    const auto is_hit = [&](std::size_t c) __attribute__((always_inline)) {
      const float key = row.products[c] + (row.norm + row.norms[c]);
      return static_cast<int>(key < row.threshold) | static_cast<int>(key < row.thresholds[c]);
    };
    std::size_t found = 0;
    for (std::size_t begin = 0; begin < count; begin += kAtOnce) {
      const std::size_t end = std::min(begin + kAtOnce, count);
      if (end == begin + kAtOnce) {
        int any = 0;
        for (std::size_t c = begin; c < begin + kAtOnce; ++c) any |= is_hit(c);
        if (any == 0) [[likely]]
          continue;
      }
      for (std::size_t c = begin; c < end; ++c) {
        hits[found] = static_cast<std::uint32_t>(c);
        found += static_cast<std::size_t>(is_hit(c));
      }
    }
    return found;
  }
};

}  // namespace

void minus_two_products(const float* a, std::size_t num_a, const float* b, std::size_t num_b,
                        std::size_t stride, float* out, std::size_t out_stride) {
  run_kernel(MinusTwoProducts{}, a, num_a, b, num_b, stride, out, out_stride);
}

void row_products(const float* rows, std::size_t num_rows, std::size_t count, std::size_t stride, float* out,
                  std::size_t out_stride) {
  run_kernel(RowProducts{}, rows, num_rows, count, stride, out, out_stride);
}

std::size_t scan_keys(const KeyRow& row, std::size_t count, std::uint32_t* hits) {
  return run_kernel(ScanKeys{}, row, count, hits);
}

}  // namespace copse
