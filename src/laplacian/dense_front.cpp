// SPDX-License-Identifier: Apache-2.0
#include "laplacian/dense_front.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "laplacian/lanes.hpp"

namespace copse {

namespace {

constexpr std::size_t kTile = 4;          // rows that lie side by side when packed, and columns of a tile
constexpr std::size_t kTall = 2 * kTile;  // rows of a tile
constexpr std::size_t kInner = 16;        // columns factored one by one
constexpr std::size_t kOuter = 64;        // columns whose products leave the panel together
constexpr std::size_t kSmallRows = 20;    // up to here packing costs more than it saves

/// column[begin..end) -= factor * source[begin..end)
[[gnu::always_inline]] inline void subtract_multiple(double* __restrict column,
                                                     const double* __restrict source, double factor,
                                                     std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) column[i] -= source[i] * factor;
}

/// Columns [from, to) one by one, each into those after it.
[[gnu::always_inline]] inline bool factor_columns_body(const DenseFront& front, std::size_t from,
                                                       std::size_t to) {
  const std::size_t rows = front.rows;
  for (std::size_t k = from; k < to; ++k) {
    double* column = front.panel + k * rows;
    if (!(column[k] > 0) || !std::isfinite(column[k])) return false;
    const double root = std::sqrt(column[k]), inverse = 1 / root;
    column[k] = root;
    for (std::size_t i = k + 1; i < rows; ++i) column[i] *= inverse;
    for (std::size_t j = k + 1; j < to; ++j)
      subtract_multiple(front.panel + j * rows, column, column[j], j, rows);
  }
  return true;
}

/// Without packing: for the small fronts, which are most.
bool factor_small(const DenseFront& front) {
  if (!factor_columns_body(front, 0, front.pivots)) return false;
  const std::size_t rest = front.rows - front.pivots;
  for (std::size_t k = 0; k < front.pivots; ++k) {
    const double* column = front.panel + k * front.rows + front.pivots;
    for (std::size_t j = 0; j < rest; ++j)
      subtract_multiple(front.rest + j * rest, column, column[j], j, rest);
  }
  return true;
}

/// Rows [begin, rows) of the columns [from, to): tiles of four rows, column after column within a tile; zeros
/// behind the end, so that a tall tile may start in any of them.
void pack(const DenseFront& front, std::size_t from, std::size_t to, std::size_t begin,
          std::vector<double>& packed) {
  const std::size_t count = front.rows - begin, width = to - from;
  const std::size_t whole = count / kTile, tiles = whole + 2;
  if (packed.size() < tiles * kTile * width) packed.resize(tiles * kTile * width);
  for (std::size_t k = 0; k < width; ++k) {
    const double* column = front.panel + (from + k) * front.rows + begin;
    double* to_tile = packed.data() + k * kTile;
    for (std::size_t tile = 0; tile < whole; ++tile)
      std::memcpy(to_tile + tile * width * kTile, column + tile * kTile, kTile * sizeof(double));
    for (std::size_t row = whole * kTile; row < tiles * kTile; ++row)
      to_tile[row / kTile * width * kTile + row % kTile] = row < count ? column[row] : 0;
  }
}

/// target(i, j) -= sum_k a(i, k) b(j, k) for four columns and the rows of two vectors, `a` holding the second
/// one `apart` behind the first. The eight sums stay in registers.
template <class Lane>
[[gnu::always_inline]] inline void subtract_part(double* target, std::size_t stride, const double* a,
                                                 std::size_t apart, const double* b, std::size_t width) {
  using Vector = typename Lane::Vector;
  constexpr std::size_t kRows = sizeof(Vector) / sizeof(double);
  const auto part = [](auto* at) -> auto& { return *lanes<Lane>(at); };
  double* const c[kTile] = {target, target + stride, target + 2 * stride, target + 3 * stride};
  Vector s00 = part(c[0]).value, s01 = part(c[0] + kRows).value, s10 = part(c[1]).value,
         s11 = part(c[1] + kRows).value;
  Vector s20 = part(c[2]).value, s21 = part(c[2] + kRows).value, s30 = part(c[3]).value,
         s31 = part(c[3] + kRows).value;
  for (std::size_t k = 0; k < width; ++k, a += kTile, b += kTile) {
    const Vector x = part(a).value, y = part(a + apart).value;
    s00 -= x * b[0];
    s01 -= y * b[0];
    s10 -= x * b[1];
    s11 -= y * b[1];
    s20 -= x * b[2];
    s21 -= y * b[2];
    s30 -= x * b[3];
    s31 -= y * b[3];
  }
  part(c[0]).value = s00, part(c[0] + kRows).value = s01, part(c[1]).value = s10,
  part(c[1] + kRows).value = s11;
  part(c[2]).value = s20, part(c[2] + kRows).value = s21, part(c[3]).value = s30,
  part(c[3] + kRows).value = s31;
}

/// A tall tile, which lies in two packed ones.
template <class Lane>
[[gnu::always_inline]] inline void subtract_tile(double* target, std::size_t stride, const double* a,
                                                 const double* b, std::size_t width) {
  if constexpr (sizeof(typename Lane::Vector) == kTile * sizeof(double)) {
    subtract_part<Lane>(target, stride, a, width * kTile, b, width);
  } else {
    subtract_part<Lane>(target, stride, a, kTile / 2, b, width);
    subtract_part<Lane>(target + kTile, stride, a + width * kTile, kTile / 2, b, width);
  }
}

/// target(i, j) -= sum_k packed(i, k) packed(j, k) for j < num_columns, j <= i < num_rows. In whole tiles:
/// entries above the diagonal get something too.
struct Products {
  const double* packed;
  std::size_t width, num_rows, num_columns;
  double* target;
  std::size_t stride;
};

template <class Lane>
[[gnu::always_inline]] inline void subtract_body(const Products& p) {
  for (std::size_t j = 0; j < p.num_columns; j += kTile) {
    const std::size_t columns = std::min(kTile, p.num_columns - j);
    for (std::size_t i = j; i < p.num_rows; i += kTall) {
      const std::size_t rows = std::min(kTall, p.num_rows - i);
      double* target = p.target + j * p.stride + i;
      if (rows == kTall && columns == kTile) {
        subtract_tile<Lane>(target, p.stride, p.packed + i * p.width, p.packed + j * p.width, p.width);
        continue;
      }
      double edge[kTall * kTile] = {};  // a tile that sticks out is made aside
      for (std::size_t c = 0; c < columns; ++c) std::copy_n(target + c * p.stride, rows, edge + c * kTall);
      subtract_tile<Lane>(edge, kTall, p.packed + i * p.width, p.packed + j * p.width, p.width);
      for (std::size_t c = 0; c < columns; ++c) std::copy_n(edge + c * kTall, rows, target + c * p.stride);
    }
  }
}

void subtract_narrow(const Products& products) { subtract_body<TwoDoubles>(products); }
bool factor_columns_narrow(const DenseFront& front, std::size_t from, std::size_t to) {
  return factor_columns_body(front, from, to);
}

COPSE_WIDE_REGISTERS void subtract_wide(const Products& products) { subtract_body<FourDoubles>(products); }
COPSE_WIDE_REGISTERS bool factor_columns_wide(const DenseFront& front, std::size_t from, std::size_t to) {
  return factor_columns_body(front, from, to);
}

}  // namespace

FrontFactorizer::FrontFactorizer(bool may_be_wide) : is_wide_(may_be_wide && has_wide_registers()) {}

bool FrontFactorizer::factor_columns(const DenseFront& front, std::size_t from, std::size_t to) const {
  return is_wide_ ? factor_columns_wide(front, from, to) : factor_columns_narrow(front, from, to);
}

void FrontFactorizer::subtract(const DenseFront& front, std::size_t from, std::size_t to, std::size_t begin,
                               std::size_t end) {
  pack(front, from, to, begin, packed_);
  const bool inside = begin < front.pivots;
  const std::size_t rest = front.rows - front.pivots;
  const Products products{packed_.data(),
                          to - from,
                          front.rows - begin,
                          end - begin,
                          inside ? front.panel + begin * front.rows + begin : front.rest,
                          inside ? front.rows : rest};
  is_wide_ ? subtract_wide(products) : subtract_narrow(products);
}

bool FrontFactorizer::factor(const DenseFront& front) {
  const std::size_t rows = front.rows, pivots = front.pivots;
  if (rows <= kSmallRows) return factor_small(front);
  for (std::size_t outer = 0; outer < pivots; outer += kOuter) {
    const std::size_t outer_end = std::min(pivots, outer + kOuter);
    for (std::size_t inner = outer; inner < outer_end; inner += kInner) {
      const std::size_t inner_end = std::min(outer_end, inner + kInner);
      if (!factor_columns(front, inner, inner_end)) return false;
      if (inner_end < outer_end) subtract(front, inner, inner_end, inner_end, outer_end);
    }
    if (outer_end < pivots) subtract(front, outer, outer_end, outer_end, pivots);
    if (pivots < rows) subtract(front, outer, outer_end, pivots, rows);
  }
  return true;
}

}  // namespace copse
