// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

// Pearson's test that counts follow a law.

namespace copse::oracle {

struct ChiSquare {
  double statistic = 0;
  double degrees = 0;

  /// Exceeded with probability 1e-4 when the law is right: the Wilson-Hilferty cube, z = 3.719.
  double threshold() const {
    const double c = 2 / (9 * degrees), root = 1 - c + 3.719 * std::sqrt(c);
    return degrees * root * root * root;
  }
};

/// Outcomes expected fewer than `kLeast` times share a cell; one that the law rules out gives infinity.
template <class Outcome>
ChiSquare chi_square(const std::map<Outcome, double>& law, const std::map<Outcome, std::uint64_t>& counts) {
  constexpr double kLeast = 10;
  double samples = 0;
  for (const auto& [outcome, count] : counts) {
    samples += static_cast<double>(count);
    const auto found = law.find(outcome);
    if (found == law.end() || found->second <= 0) return {std::numeric_limits<double>::infinity(), 1};
  }
  double rare_expected = 0, rare_count = 0, cells = 0, statistic = 0;
  const auto add_cell = [&](double expected, double count) {
    statistic += (count - expected) * (count - expected) / expected;
    cells += 1;
  };
  for (const auto& [outcome, probability] : law) {
    const auto found = counts.find(outcome);
    const double count = found == counts.end() ? 0 : static_cast<double>(found->second);
    if (probability * samples < kLeast) {
      rare_expected += probability * samples;
      rare_count += count;
    } else {
      add_cell(probability * samples, count);
    }
  }
  if (rare_expected > 0) add_cell(rare_expected, rare_count);
  return {statistic, cells - 1};
}

}  // namespace copse::oracle
