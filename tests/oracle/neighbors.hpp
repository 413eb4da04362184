// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

#include "copse/points/points.hpp"

// Neighbours by comparing all pairs, in double, in the order of the columns: what the fast search must equal
// to the last bit.

namespace copse::oracle {

using Rows = std::vector<std::vector<float>>;

inline Points to_points(const Rows& rows) {
  Buffer<float> values(rows.size() * rows[0].size());
  std::size_t i = 0;
  for (const auto& row : rows)
    for (const float value : row) values[i++] = value;
  return {rows.size(), rows[0].size(), std::move(values)};
}

/// The same rows without their zeros.
inline Points to_sparse(const Rows& rows) {
  struct Arrays {
    std::vector<EdgeIndex> offsets{0};
    std::vector<std::uint32_t> columns;
    std::vector<float> values;
  };
  auto arrays = std::make_shared<Arrays>();
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (row[c] == 0) continue;
      arrays->columns.push_back(static_cast<std::uint32_t>(c));
      arrays->values.push_back(row[c]);
    }
    arrays->offsets.push_back(arrays->values.size());
  }
  PointsView view;
  view.num_points = rows.size();
  view.num_columns = rows[0].size();
  view.values = arrays->values;
  view.offsets = arrays->offsets;
  view.columns = arrays->columns;
  return {view, arrays};
}

/// The rows of points read from a file.
inline Rows to_rows(const PointsView& points) {
  Rows rows(points.num_points, std::vector<float>(points.num_columns, 0));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!points.is_sparse())
      for (std::size_t c = 0; c < points.num_columns; ++c)
        rows[i][c] = points.values[i * points.num_columns + c];
    else
      for (EdgeIndex p = points.offsets[i]; p < points.offsets[i + 1]; ++p)
        rows[i][points.columns[p]] = points.values[p];
  }
  return rows;
}

inline double squared_distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) {
    const double difference = double{a[c]} - double{b[c]};
    sum += difference * difference;
  }
  return sum;
}

inline double inner_product(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += double{a[c]} * double{b[c]};
  return sum;
}

/// 2 - 2 cos, never below 0.
inline double squared_angle_distance(const std::vector<float>& a, const std::vector<float>& b) {
  const double cosine = inner_product(a, b) / std::sqrt(inner_product(a, a) * inner_product(b, b));
  return std::max(0.0, 2 - 2 * cosine);
}

using Discrepancy = double (*)(const std::vector<float>&, const std::vector<float>&);
inline double minus_product(const std::vector<float>& a, const std::vector<float>& b) {
  return -inner_product(a, b);
}

/// (discrepancy, row) of the k nearest others, nearest first, the lower row first among equals.
inline std::vector<std::pair<double, NodeId>> brute_force(const Rows& rows, std::size_t row, std::size_t k,
                                                          Discrepancy discrepancy) {
  std::vector<std::pair<double, NodeId>> all;
  for (std::size_t j = 0; j < rows.size(); ++j)
    if (j != row) all.emplace_back(discrepancy(rows[row], rows[j]), static_cast<NodeId>(j));
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k), all.end());
  all.resize(k);
  return all;
}

/// Random rows in a few round clusters.
inline Rows clustered_rows(std::size_t num_points, std::size_t num_columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Rows centers(5, std::vector<float>(num_columns));
  for (auto& center : centers)
    for (float& value : center) value = 3 * normal(random);
  Rows rows(num_points, std::vector<float>(num_columns));
  for (std::size_t i = 0; i < num_points; ++i)
    for (std::size_t c = 0; c < num_columns; ++c) rows[i][c] = centers[i % 5][c] + normal(random);
  return rows;
}

}  // namespace copse::oracle
