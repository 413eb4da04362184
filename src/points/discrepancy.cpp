// SPDX-License-Identifier: Apache-2.0
#include "points/discrepancy.hpp"

#include <cmath>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"

namespace copse {
namespace {

constexpr std::size_t kCheckedRowsPerBlock = 256;
constexpr std::size_t kSideBySide = 4;  // sums: enough to hide the latency of an addition

struct SquaredDifference {
  static double term(double a, double b) { return (a - b) * (a - b); }
};
struct Product {
  static double term(double a, double b) { return a * b; }
};

template <class Op>
double dense_sum(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t t = 0; t < a.size(); ++t) sum += Op::term(a[t], b[t]);
  return sum;
}

template <class Op>
void dense_sums(const float* a, const float* const* b, std::size_t size, double* out) {
  double sum[kSideBySide] = {};
  for (std::size_t t = 0; t < size; ++t) {
    const double value = a[t];
    for (std::size_t s = 0; s < kSideBySide; ++s) sum[s] += Op::term(value, b[s][t]);
  }
  for (std::size_t s = 0; s < kSideBySide; ++s) out[s] = sum[s];
}

// Columns that neither row has add exactly nothing, so that this is the dense sum to the last bit.
template <class Op>
double sparse_sum(const PointsView& points, NodeId a, NodeId b) {
  const auto columns_a = points.columns_of(a), columns_b = points.columns_of(b);
  const auto values_a = points.row(a), values_b = points.row(b);
  double sum = 0;
  std::size_t i = 0, j = 0;
  while (i < columns_a.size() || j < columns_b.size()) {
    const bool has_a = i < columns_a.size() && (j == columns_b.size() || columns_a[i] <= columns_b[j]);
    const bool has_b = j < columns_b.size() && (i == columns_a.size() || columns_b[j] <= columns_a[i]);
    sum += Op::term(has_a ? values_a[i] : 0.0F, has_b ? values_b[j] : 0.0F);
    i += has_a;
    j += has_b;
  }
  return sum;
}

}  // namespace

PairDiscrepancy::PairDiscrepancy(const PointsView& points, Metric metric, int threads)
    : points_(points), metric_(metric) {
  if (metric != Metric::cosine) return;
  squared_lengths_ = Buffer<double>(points.num_points);
  parallel_blocks(threads, points.num_points, kCheckedRowsPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t i = begin; i < end; ++i)
                      squared_lengths_[i] = dense_sum<Product>(points.row(i), points.row(i));
                  });
  for (std::uint64_t i = 0; i < points.num_points; ++i) {
    if (squared_lengths_[i] == 0)
      throw InputError{"points", "row " + with_commas(i) + " is all zeros: it has no direction",
                       "drop such rows, or use the euclidean metric (rows count from 0)"};
  }
}

double PairDiscrepancy::finish(double sum, NodeId a, NodeId b) const {
  if (metric_ == Metric::euclidean) return sum;
  if (metric_ == Metric::inner) return -sum;
  // The root of a product of equal numbers is that number exactly: a row is at 0 from its copies.
  const double cosine = sum / std::sqrt(squared_lengths_[a] * squared_lengths_[b]);
  return cosine < 1 ? 2 - 2 * cosine : 0;
}

double PairDiscrepancy::of(NodeId a, NodeId b) const {
  const bool is_euclidean = metric_ == Metric::euclidean;
  double sum = 0;
  if (points_.is_sparse())
    sum = is_euclidean ? sparse_sum<SquaredDifference>(points_, a, b) : sparse_sum<Product>(points_, a, b);
  else
    sum = is_euclidean ? dense_sum<SquaredDifference>(points_.row(a), points_.row(b))
                       : dense_sum<Product>(points_.row(a), points_.row(b));
  return finish(sum, a, b);
}

void PairDiscrepancy::of(NodeId a, std::span<const NodeId> others, double* out) const {
  std::size_t i = 0;
  if (!points_.is_sparse()) {
    const float* row = points_.row(a).data();
    for (; i + kSideBySide <= others.size(); i += kSideBySide) {
      const float* rows[kSideBySide];
      for (std::size_t s = 0; s < kSideBySide; ++s) rows[s] = points_.row(others[i + s]).data();
      if (metric_ == Metric::euclidean)
        dense_sums<SquaredDifference>(row, rows, points_.num_columns, out + i);
      else
        dense_sums<Product>(row, rows, points_.num_columns, out + i);
      for (std::size_t s = 0; s < kSideBySide; ++s) out[i + s] = finish(out[i + s], a, others[i + s]);
    }
  }
  for (; i < others.size(); ++i) out[i] = of(a, others[i]);
}

double discrepancy(const PointsView& points, Metric metric, NodeId a, NodeId b) {
  return PairDiscrepancy(points, metric, 1).of(a, b);
}

}  // namespace copse
