// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "laplacian/column_block.hpp"
#include "laplacian/lanes.hpp"

// Solving with one dense panel of a factor, for `width` right-hand sides side by side. Every sum adds its
// terms one by one, in the same order for any width and any registers.

namespace copse {

struct SolvePanel {
  const double* entries;  // column by column, the pivots' rows first
  const double* inverse_diagonal;
  std::size_t pivots, num_rows;  // rows below the pivots
  std::size_t stride() const { return pivots + num_rows; }
};

/// below(i) = sum_k L(i, k) own(k), `count` rows at a time: their sums do not wait for each other.
template <int width, class Lane, std::size_t count>
[[gnu::always_inline]] inline void multiply_rows(const SolvePanel& panel, const double* own, double* below,
                                                 std::size_t first) {
  constexpr std::size_t kParts = kLanes<width, Lane>;
  typename Lane::Vector sum[count][kParts] = {};
  const double* entry = panel.entries + panel.pivots + first;
  for (std::size_t k = 0; k < panel.pivots; ++k, entry += panel.stride()) {
    const auto* value = lanes<Lane>(own + k * width);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t c = 0; c < kParts; ++c) sum[i][c] += value[c].value * entry[i];
  }
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t c = 0; c < kParts; ++c) lanes<Lane>(below + (first + i) * width)[c].value = sum[i][c];
}

/// own(k) -= sum_i L(i, k) below(i) over the rows below the pivots, `count` columns at a time.
template <int width, class Lane, std::size_t count>
[[gnu::always_inline]] inline void multiply_columns(const SolvePanel& panel, double* own, const double* below,
                                                    std::size_t first) {
  constexpr std::size_t kParts = kLanes<width, Lane>;
  typename Lane::Vector sum[count][kParts] = {};
  const double* entry = panel.entries + first * panel.stride() + panel.pivots;
  for (std::size_t i = 0; i < panel.num_rows; ++i, ++entry) {
    const auto* value = lanes<Lane>(below + i * width);
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t c = 0; c < kParts; ++c) sum[k][c] += value[c].value * entry[k * panel.stride()];
  }
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t c = 0; c < kParts; ++c) lanes<Lane>(own + (first + k) * width)[c].value -= sum[k][c];
}

/// own = L11^-1 own, below = L21 own; adds own . own to `dot`.
template <int width, class Lane>
[[gnu::always_inline]] inline void forward_panel(const SolvePanel& panel, double* own, double* below,
                                                 ColumnValues& dot) {
  constexpr std::size_t kParts = kLanes<width, Lane>;
  for (std::size_t k = 0; k < panel.pivots; ++k) {
    const double* column = panel.entries + k * panel.stride();
    typename Lane::Vector value[kParts];
    for (std::size_t c = 0; c < kParts; ++c) {
      value[c] = lanes<Lane>(own + k * width)[c].value * panel.inverse_diagonal[k];
      lanes<Lane>(own + k * width)[c].value = value[c];
      lanes<Lane>(dot.data())[c].value += value[c] * value[c];
    }
    for (std::size_t i = k + 1; i < panel.pivots; ++i)
      for (std::size_t c = 0; c < kParts; ++c) lanes<Lane>(own + i * width)[c].value -= value[c] * column[i];
  }
  std::size_t i = 0;
  for (; i + 4 <= panel.num_rows; i += 4) multiply_rows<width, Lane, 4>(panel, own, below, i);
  for (; i < panel.num_rows; ++i) multiply_rows<width, Lane, 1>(panel, own, below, i);
}

/// own = L11^-T (own - L21^T below)
template <int width, class Lane>
[[gnu::always_inline]] inline void backward_panel(const SolvePanel& panel, double* own, const double* below) {
  constexpr std::size_t kParts = kLanes<width, Lane>;
  std::size_t first = 0;
  for (; first + 4 <= panel.pivots; first += 4) multiply_columns<width, Lane, 4>(panel, own, below, first);
  for (; first < panel.pivots; ++first) multiply_columns<width, Lane, 1>(panel, own, below, first);
  for (std::size_t k = panel.pivots; k-- > 0;) {
    const double* column = panel.entries + k * panel.stride();
    typename Lane::Vector sum[kParts];
    for (std::size_t c = 0; c < kParts; ++c) sum[c] = lanes<Lane>(own + k * width)[c].value;
    for (std::size_t i = k + 1; i < panel.pivots; ++i)
      for (std::size_t c = 0; c < kParts; ++c) sum[c] -= lanes<Lane>(own + i * width)[c].value * column[i];
    for (std::size_t c = 0; c < kParts; ++c)
      lanes<Lane>(own + k * width)[c].value = sum[c] * panel.inverse_diagonal[k];
  }
}

}  // namespace copse
