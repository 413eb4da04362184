// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "copse/graph/types.hpp"
#include "oracle/neighbors.hpp"

// Neighbours by cells, the plain way: given the centres and the radius, every pair is looked at and left out
// unless it is in one cell or its gap is within the radius. Only the order of sums of floats is that of the
// fast search: it is part of the definition.

namespace copse::oracle {

/// Sixteen sums of every sixteenth term, joined 8 and 8, 4 and 4, then (0 + 2) + (1 + 3). Whole eights.
template <class Term>
float ordered_sum(const std::vector<float>& a, const std::vector<float>& b, Term term) {
  std::vector<float> sums(16, 0.0F);
  for (std::size_t t = 0; t < a.size(); ++t) sums[t % 16] += term(a[t], b[t]);
  for (std::size_t half = 8; half > 1; half /= 2)
    for (std::size_t s = 0; s < half; ++s) sums[s] += sums[s + half];
  return sums[0] + sums[1];
}

inline float ordered_product(const std::vector<float>& a, const std::vector<float>& b) {
  return ordered_sum(a, b, [](float x, float y) { return x * y; });
}

inline float ordered_distance(const std::vector<float>& a, const std::vector<float>& b) {
  return ordered_sum(a, b, [](float x, float y) { return (x - y) * (x - y); });
}

struct Cells {
  Rows points, centers;  // as the search sees them: scaled, filled up to whole eights
  std::vector<std::size_t> cell;

  Cells(Rows points_, Rows centers_) : points(std::move(points_)), centers(std::move(centers_)) {
    for (const auto& point : points) {
      std::size_t best = 0;
      for (std::size_t c = 1; c < centers.size(); ++c)
        if (key(point, c) < key(point, best)) best = c;
      cell.push_back(best);
    }
  }

  float key(const std::vector<float>& point, std::size_t c) const {
    return ordered_product(centers[c], centers[c]) - 2 * ordered_product(point, centers[c]);
  }

  bool is_compared(std::size_t x, std::size_t y, double radius) const {
    const std::size_t a = cell[x], b = cell[y];
    if (a == b) return true;
    const float offset_x = key(points[x], b) - key(points[x], a);
    const float offset_y = key(points[y], a) - key(points[y], b);
    const double width = 2 * std::sqrt(double{ordered_distance(centers[a], centers[b])});
    return double{offset_x} + double{offset_y} <= radius * width;
  }

  /// Of those that `row` is compared with; of all where these are fewer than k.
  std::vector<std::pair<double, NodeId>> nearest(const Rows& rows, std::size_t row, std::size_t k,
                                                 double radius, Discrepancy discrepancy) const {
    std::vector<std::pair<double, NodeId>> found;
    for (std::size_t j = 0; j < rows.size(); ++j)
      if (j != row && is_compared(row, j, radius))
        found.emplace_back(discrepancy(rows[row], rows[j]), static_cast<NodeId>(j));
    if (found.size() < k) return brute_force(rows, row, k, discrepancy);
    std::sort(found.begin(), found.end());
    found.resize(k);
    return found;
  }
};

}  // namespace copse::oracle
