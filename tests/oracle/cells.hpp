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

inline float ordered_product(const std::vector<float>& a, const std::vector<float>& b) {
  float sum = 0;
  for (std::size_t t = 0; t < a.size(); ++t) sum += a[t] * b[t];
  return sum;
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
    double norm = 0;
    for (const float value : centers[c]) norm += double{value} * value;
    return static_cast<float>(norm) - 2 * ordered_product(point, centers[c]);
  }

  bool is_compared(std::size_t x, std::size_t y, double radius) const {
    const std::size_t a = cell[x], b = cell[y];
    if (a == b) return true;
    const float offset_x = key(points[x], b) - key(points[x], a);
    const float offset_y = key(points[y], a) - key(points[y], b);
    const double width = 2 * std::sqrt(squared_distance(centers[a], centers[b]));
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
