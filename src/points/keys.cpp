// SPDX-License-Identifier: Apache-2.0
#include "points/discrepancy.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "copse/support/parallel.hpp"
#include "points/products.hpp"

namespace copse {
namespace {

constexpr double kUnit = 0x1p-24;     // rounding unit of a float
constexpr double kSafety = 1.25;      // for terms of second order in it
constexpr double kUnderflow = 1e-30;  // keys are of the order of 1: far above what underflow can hide
constexpr std::size_t kKeyRowsPerBlock = 512, kKeyColumnsPerBlock = 64;

// The power of two that brings `largest` to [1/2, 1).
double power_below_one(double largest) {
  int exponent = 0;
  if (largest > 0) std::frexp(largest, &exponent);
  return std::ldexp(1.0, -exponent);
}

double squared_length(const float* row, std::size_t size) {
  double sum = 0;
  for (std::size_t t = 0; t < size; ++t) sum += double{row[t]} * row[t];
  return sum;
}

}  // namespace

// Let u be the rounding unit, p the rounded rows, D the terms of a product. In any order, with or without
// fused operations, |fl(p_i.p_j) - p_i.p_j| <= D u |p_i| |p_j| (Higham 2002, section 3.1); norms, their sum,
// the last addition and the rounding of the rows themselves cost a few u (|p_i|^2 + |p_j|^2) more. So
//     |key~ - key| <= g (n_i + n_j),  g = (D + 16) u, n = |p|^2,
// and n_j <= (|p_i| + sqrt(key))^2 <= 2 n_i + 2 key gives |key~ - key| <= 3 g n_i + 2 g key: a bound that
// needs nothing of j, so that one far point costs the others no accuracy. An inner product has no such
// triangle: its bound takes the longest row.
void KeySource::set_errors(Metric metric, std::uint64_t num_terms) {
  const double g = kSafety * static_cast<double>(num_terms + 16) * kUnit;
  if (metric == Metric::inner) {
    const double longest = std::sqrt(*std::max_element(slack_.begin(), slack_.end()));
    for (double& slack : slack_) slack = 2 * g * std::sqrt(slack) * longest + kUnderflow;
    std::fill(norms_.begin(), norms_.end(), 0.0F);
    return;
  }
  stretch_ = 1 + 2 * g;
  for (std::size_t i = 0; i < slack_.size(); ++i) slack_[i] = 3 * g * double{norms_[i]} + kUnderflow;
}

DenseKeys::DenseKeys(const PairDiscrepancy& exact, int threads)
    : exact_(exact), stride_(stride_of(exact.points().num_columns)), means_(column_means(threads)) {
  const Metric metric = exact.metric();
  const std::uint64_t num_points = exact.points().num_points;
  power_ = power_below_one(largest_value(threads));
  scale_ = (metric == Metric::inner ? 2 : 1) * power_ * power_;
  rows_ = Buffer<float>(num_points * stride_);
  norms_ = Buffer<float>(num_points);
  parallel_blocks(threads, num_points, kKeyRowsPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (auto i = static_cast<NodeId>(begin); i < end; ++i) {
                      const auto point = exact_.points().row(i);
                      const double f = factor(i);
                      float* const out = rows_.data() + i * stride_;
                      for (std::size_t t = 0; t < point.size(); ++t)
                        out[t] = static_cast<float>((f * point[t] - means_[t]) * power_);
                      if (metric != Metric::inner)
                        norms_[i] = static_cast<float>(squared_length(out, stride_));
                    }
                  });
  slack_ = Buffer<double>(num_points);
  if (metric == Metric::inner)
    for (std::size_t i = 0; i < num_points; ++i) slack_[i] = squared_length(row(i), stride_);
  set_errors(metric, stride_);
}

double DenseKeys::factor(NodeId point) const {
  return exact_.metric() == Metric::cosine ? 1 / std::sqrt(exact_.squared_length(point)) : 1.0;
}

// In double; the rows are added up in order, on other threads for other columns.
std::vector<double> DenseKeys::column_means(int threads) const {
  const PointsView& points = exact_.points();
  std::vector<double> means(points.num_columns, 0);
  if (exact_.metric() == Metric::inner) return means;
  parallel_blocks(threads, means.size(), kKeyColumnsPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (NodeId i = 0; i < points.num_points; ++i) {
                      const auto row = points.row(i);
                      const double f = factor(i);
                      for (std::size_t t = begin; t < end; ++t) means[t] += f * row[t];
                    }
                    for (std::size_t t = begin; t < end; ++t)
                      means[t] /= static_cast<double>(points.num_points);
                  });
  return means;
}

double DenseKeys::largest_value(int threads) const {
  const PointsView& points = exact_.points();
  return deterministic_reduce(
      threads, points.num_points, 0.0,
      [&](std::size_t begin, std::size_t end) {
        double most = 0;
        for (std::size_t i = begin; i < end; ++i) {
          const auto row = points.row(i);
          const double f = factor(static_cast<NodeId>(i));
          for (std::size_t t = 0; t < row.size(); ++t)
            most = std::max(most, std::abs(f * row[t] - means_[t]));
        }
        return most;
      },
      [](double a, double b) { return std::max(a, b); }, kKeyRowsPerBlock);
}

void DenseKeys::products(std::span<const NodeId> rows, NodeId begin, NodeId end, float* out) const {
  const auto gathered = std::make_unique_for_overwrite<float[]>(rows.size() * stride_);
  for (std::size_t r = 0; r < rows.size(); ++r)
    std::copy_n(row(rows[r]), stride_, gathered.get() + r * stride_);
  minus_two_products(gathered.get(), rows.size(), row(begin), end - begin, stride_, out, end - begin);
}

SparseKeys::SparseKeys(const PairDiscrepancy& exact) : points_(exact.points()) {
  const Metric metric = exact.metric();
  float largest = 0;
  for (const float value : points_.values) largest = std::max(largest, std::abs(value));
  const double power = metric == Metric::cosine ? 1 : power_below_one(largest);
  scale_ = (metric == Metric::inner ? 2 : 1) * power * power;

  factors_.resize(points_.num_points);
  norms_ = Buffer<float>(points_.num_points);
  slack_ = Buffer<double>(points_.num_points);
  for (std::size_t i = 0; i < points_.num_points; ++i) {
    factors_[i] =
        metric == Metric::cosine ? 1 / std::sqrt(exact.squared_length(static_cast<NodeId>(i))) : power;
    double sum = 0;
    for (const float value : points_.row(i)) sum += factors_[i] * value * (factors_[i] * value);
    slack_[i] = sum;
    norms_[i] = static_cast<float>(sum);
  }
  // Products are sums of doubles, rounded once: as good as a single term of floats.
  set_errors(metric, 1);

  std::vector<EdgeIndex> by_column(points_.values.size());
  std::iota(by_column.begin(), by_column.end(), EdgeIndex{0});
  std::sort(by_column.begin(), by_column.end(), [&](EdgeIndex p, EdgeIndex q) {
    return points_.columns[p] != points_.columns[q] ? points_.columns[p] < points_.columns[q] : p < q;
  });
  columns_.reserve(by_column.size());
  rows_.reserve(by_column.size());
  values_.reserve(by_column.size());
  for (const EdgeIndex p : by_column) {
    const auto after = std::upper_bound(points_.offsets.begin(), points_.offsets.end(), p);
    columns_.push_back(points_.columns[p]);
    rows_.push_back(static_cast<NodeId>(after - points_.offsets.begin() - 1));
    values_.push_back(points_.values[p]);
  }
}

void SparseKeys::products(std::span<const NodeId> rows, NodeId begin, NodeId end, float* out) const {
  std::vector<double> sums(num_points());
  for (const NodeId row : rows) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (EdgeIndex p = points_.offsets[row]; p < points_.offsets[row + 1]; ++p) {
      const double value = points_.values[p];
      const auto list = std::equal_range(columns_.begin(), columns_.end(), points_.columns[p]);
      for (auto q = list.first - columns_.begin(); q < list.second - columns_.begin(); ++q)
        sums[rows_[q]] += value * values_[q];
    }
    for (NodeId j = begin; j < end; ++j)
      *out++ = static_cast<float>(-2 * factors_[row] * factors_[j] * sums[j]);
  }
}

std::unique_ptr<KeySource> make_keys(const PairDiscrepancy& exact, int threads) {
  if (exact.points().is_sparse()) return std::make_unique<SparseKeys>(exact);
  return std::make_unique<DenseKeys>(exact, threads);
}

std::vector<NodeId> run_of_rows(NodeId begin, NodeId end) {
  std::vector<NodeId> rows(end - begin);
  std::iota(rows.begin(), rows.end(), begin);
  return rows;
}

void scan_rows(const KeySource& keys, std::span<const NodeId> rows, const Execution& execution,
               const float* thresholds, ScanColumns columns, const VisitKey& visit) {
  const std::size_t height = keys.rows_at_once(), num_points = keys.num_points();
  const std::size_t width = std::min(keys.columns_at_once(), num_points);
  const std::vector<float> of_columns(width, -std::numeric_limits<float>::infinity());
  std::atomic<std::uint64_t> done{0};
  parallel_blocks(execution, rows.size(), height, [&](std::size_t begin, std::size_t end, std::size_t) {
    const auto tile = std::make_unique_for_overwrite<float[]>((end - begin) * width);
    const auto hits = std::make_unique_for_overwrite<std::uint32_t[]>(width);
    std::size_t first = columns == ScanColumns::all ? 0 : rows[begin] / width * width;
    for (; first < num_points; first += width) {
      const std::size_t count = std::min(width, num_points - first);
      keys.products(rows.subspan(begin, end - begin), static_cast<NodeId>(first),
                    static_cast<NodeId>(first + count), tile.get());
      for (std::size_t slot = begin; slot < end; ++slot) {
        const KeyRow row{tile.get() + (slot - begin) * count, keys.norms().data() + first,
                         keys.norms()[rows[slot]], thresholds[slot], of_columns.data()};
        const std::size_t found = scan_keys(row, count, hits.get());
        for (std::size_t h = 0; h < found; ++h)
          visit(slot, static_cast<NodeId>(first + hits[h]), row.key(hits[h]));
      }
    }
    execution.report("neighbours", done += end - begin, rows.size());
  });
}

}  // namespace copse
