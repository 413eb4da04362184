// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace copse {

/// Offsets o such that, of the rows of `values` (one value per class), class c has the largest value + offset
/// in about a share shares[c] of them: the prices of an assignment with fixed volumes, found by raising the
/// price of classes that take too much (subgradient ascent on its concave dual). Values should be of the
/// order of 1. A class of share 0 is left out: its offset is minus infinity.
inline std::vector<double> balanced_offsets(std::span<const double> values, std::span<const double> shares) {
  constexpr int kRounds = 300;
  const std::size_t classes = shares.size(), rows = values.size() / classes;
  std::vector<double> offset(classes), best;
  double best_gap = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < classes; ++c)
    if (shares[c] == 0) offset[c] = -std::numeric_limits<double>::infinity();
  std::vector<std::uint64_t> taken(classes);
  for (int round = 0; round < kRounds; ++round) {
    std::fill(taken.begin(), taken.end(), 0);
    for (std::size_t i = 0; i < rows; ++i) {
      const double* row = &values[i * classes];
      std::size_t top = 0;
      for (std::size_t c = 1; c < classes; ++c)
        if (row[c] + offset[c] > row[top] + offset[top]) top = c;
      ++taken[top];
    }
    double gap = 0;
    const double step = 2.0 / (1 + round / 10.0);
    std::vector<double> next = offset;
    for (std::size_t c = 0; c < classes; ++c) {
      const double missing = shares[c] - static_cast<double>(taken[c]) / static_cast<double>(rows);
      gap += std::fabs(missing);
      if (shares[c] > 0) next[c] += step * missing;
    }
    if (gap < best_gap) {
      best_gap = gap;
      best = offset;
    }
    offset = std::move(next);
  }
  return best;
}

}  // namespace copse
