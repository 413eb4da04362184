// SPDX-License-Identifier: Apache-2.0
#include "points/discrepancy.hpp"

#include <algorithm>
#include <cmath>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "support/simd.hpp"

namespace copse {
namespace {

constexpr std::size_t kCheckedRowsPerBlock = 256;
constexpr std::size_t kSideBySide = 8;  // sums

// To a number, or to the lanes of a register. By reference: a register that is handed over has another ABI
// with AVX2 than without.
struct SquaredDifference {
  template <class T>
  [[gnu::always_inline]] static void add(T& sum, const T& a, const T& b) {
    sum += (a - b) * (a - b);
  }
};
struct Product {
  template <class T>
  [[gnu::always_inline]] static void add(T& sum, const T& a, const T& b) {
    sum += a * b;
  }
};

template <class Op>
double dense_sum(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t t = 0; t < a.size(); ++t) Op::add(sum, double{a[t]}, double{b[t]});
  return sum;
}

// Four sums in the lanes of a register, each in the order of the columns: four columns of four rows are
// turned over first. Two such registers, that neither waits for the other.
template <class Op>
struct DenseSums {
  using Floats = Register<float, 16>;
  using Doubles = Register<double, 32>;
  static constexpr std::size_t kLanes = 4;

  [[gnu::always_inline]] static void turn(const float* const* b, std::size_t t, Floats* columns) {
    Floats rows[kLanes];
    for (std::size_t s = 0; s < kLanes; ++s) load_lanes(b[s] + t, rows[s]);
    const Floats low01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5),
                 high01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7),
                 low23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5),
                 high23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
    columns[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
    columns[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
    columns[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
    columns[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
  }

  template <std::size_t register_bytes>
  [[gnu::always_inline]] void operator()(const float* a, const float* const* b, std::size_t size,
                                         double* out) const {
    constexpr std::size_t kParts = kSideBySide / kLanes;
    Doubles sums[kParts] = {};
    std::size_t t = 0;
    for (; t + kLanes <= size; t += kLanes)
#pragma GCC unroll 2
      for (std::size_t part = 0; part < kParts; ++part) {
        Floats columns[kLanes];
        turn(b + part * kLanes, t, columns);
#pragma GCC unroll 4
        for (std::size_t c = 0; c < kLanes; ++c) {
          const double value = a[t + c];
          const Doubles left = {value, value, value, value},
                        right = __builtin_convertvector(columns[c], Doubles);
          Op::add(sums[part], left, right);
        }
      }
    for (std::size_t s = 0; s < kSideBySide; ++s) {
      double sum = sums[s / kLanes][s % kLanes];
      for (std::size_t rest = t; rest < size; ++rest) Op::add(sum, double{a[rest]}, double{b[s][rest]});
      out[s] = sum;
    }
  }
};

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
    Op::add(sum, has_a ? double{values_a[i]} : 0.0, has_b ? double{values_b[j]} : 0.0);
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
  const float* const row = points_.is_sparse() ? nullptr : points_.row(a).data();
  for (std::size_t i = 0; i < others.size();) {
    const std::size_t count = std::min(kSideBySide, others.size() - i);
    if (points_.is_sparse() || 2 * count <= kSideBySide) {
      out[i] = of(a, others[i]);
      ++i;
      continue;
    }
    const float* rows[kSideBySide];
    for (std::size_t s = 0; s < kSideBySide; ++s)
      rows[s] = points_.row(others[i + std::min(s, count - 1)]).data();  // the last may be there twice
    double sums[kSideBySide];
    if (metric_ == Metric::euclidean)
      run_kernel(DenseSums<SquaredDifference>{}, row, rows, points_.num_columns, sums);
    else
      run_kernel(DenseSums<Product>{}, row, rows, points_.num_columns, sums);
    for (std::size_t s = 0; s < count; ++s) out[i + s] = finish(sums[s], a, others[i + s]);
    i += count;
  }
}

double discrepancy(const PointsView& points, Metric metric, NodeId a, NodeId b) {
  return PairDiscrepancy(points, metric, 1).of(a, b);
}

}  // namespace copse
