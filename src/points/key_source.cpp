// SPDX-License-Identifier: Apache-2.0
#include "points/key_source.hpp"

#include <algorithm>

#include "copse/support/parallel.hpp"
#include "points/block_product.hpp"

namespace copse {
namespace {

constexpr double kUnit = 0x1p-24;     // rounding unit of a float
constexpr double kSafety = 1.25;      // for terms of second order in it
constexpr double kUnderflow = 1e-30;  // keys are of the order of 1: far above what underflow can hide
constexpr std::size_t kKeyRowsPerBlock = 512;

// The power of two that brings `largest` to [1/2, 1).
double power_below_one(double largest) {
  int exponent = 0;
  if (largest > 0) std::frexp(largest, &exponent);
  return std::ldexp(1.0, -exponent);
}

}  // namespace

// Let u be the rounding unit, p the rounded rows, D the terms of a product. In any order, with or without
// fused operations, |fl(p_i.p_j) - p_i.p_j| <= D u |p_i| |p_j| (Higham 2002, section 3.1); norms, their sum,
// the last addition and the rounding of the rows themselves cost a few u (|p_i|^2 + |p_j|^2) more. So
//     |key~ - key| <= g (n_i + n_j),  g = (D + 16) u, n = |p|^2,
// and n_j <= (|p_i| + sqrt(key))^2 <= 2 n_i + 2 key gives |key~ - key| <= 3 g n_i + 2 g key: a bound that
// needs nothing of j, so that one far point costs the others no accuracy. An inner product has no such
// triangle: its bound takes the longest row.
void KeySource::set_errors(Metric metric, std::uint64_t num_terms, std::span<const double> squared_lengths) {
  const double g = kSafety * static_cast<double>(num_terms + 16) * kUnit;
  slack_ = Buffer<double>(norms_.size());
  if (metric == Metric::inner) {
    const double longest = std::sqrt(*std::max_element(squared_lengths.begin(), squared_lengths.end()));
    for (std::size_t i = 0; i < slack_.size(); ++i)
      slack_[i] = 2 * g * std::sqrt(squared_lengths[i]) * longest + kUnderflow;
    return;
  }
  stretch_ = 1 + 2 * g;
  for (std::size_t i = 0; i < slack_.size(); ++i) slack_[i] = 3 * g * double{norms_[i]} + kUnderflow;
}

DenseKeys::DenseKeys(const PairDiscrepancy& exact, int threads)
    : stride_(stride_of(exact.points().num_columns)) {
  const PointsView& points = exact.points();
  const Metric metric = exact.metric();
  const std::size_t size = points.num_columns;
  const auto factor = [&](std::size_t i) {
    return metric == Metric::cosine ? 1 / std::sqrt(exact.squared_length(static_cast<NodeId>(i))) : 1.0;
  };
  // Column means in double, blocks of rows added up in order.
  std::vector<double> mean(size, 0);
  if (metric != Metric::inner) {
    const std::size_t num_blocks = (points.num_points + kKeyRowsPerBlock - 1) / kKeyRowsPerBlock;
    constexpr std::size_t kBlocksAtOnce = 64;  // bounds the memory
    std::vector<double> sums(std::min(num_blocks, kBlocksAtOnce) * size);
    for (std::size_t wave = 0; wave < num_blocks; wave += kBlocksAtOnce) {
      std::fill(sums.begin(), sums.end(), 0.0);
      const std::size_t count = std::min(kBlocksAtOnce, num_blocks - wave);
      parallel_for(threads, count, [&](std::size_t b) {
        const std::size_t begin = (wave + b) * kKeyRowsPerBlock;
        const std::size_t end = std::min<std::size_t>(begin + kKeyRowsPerBlock, points.num_points);
        for (std::size_t i = begin; i < end; ++i) {
          const auto row = points.row(i);
          const double f = factor(i);
          for (std::size_t t = 0; t < size; ++t) sums[b * size + t] += f * row[t];
        }
      });
      for (std::size_t b = 0; b < count; ++b)
        for (std::size_t t = 0; t < size; ++t) mean[t] += sums[b * size + t];
    }
    for (double& m : mean) m /= static_cast<double>(points.num_points);
  }
  const double largest = deterministic_reduce(
      threads, points.num_points, 0.0,
      [&](std::size_t begin, std::size_t end) {
        double most = 0;
        for (std::size_t i = begin; i < end; ++i) {
          const auto row = points.row(i);
          const double f = factor(i);
          for (std::size_t t = 0; t < size; ++t) most = std::max(most, std::abs(f * row[t] - mean[t]));
        }
        return most;
      },
      [](double a, double b) { return std::max(a, b); }, kKeyRowsPerBlock);
  const double power = power_below_one(largest);
  scale_ = (metric == Metric::inner ? 2 : 1) * power * power;

  rows_ = Buffer<float>(points.num_points * stride_);
  norms_ = Buffer<float>(points.num_points);
  std::vector<double> lengths(metric == Metric::inner ? points.num_points : 0);
  parallel_blocks(threads, points.num_points, kKeyRowsPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t i = begin; i < end; ++i) {
                      const auto row = points.row(i);
                      const double f = factor(i);
                      float* out = rows_.data() + i * stride_;
                      double sum = 0;
                      for (std::size_t t = 0; t < size; ++t) {
                        out[t] = static_cast<float>((f * row[t] - mean[t]) * power);
                        sum += double{out[t]} * out[t];
                      }
                      if (metric == Metric::inner)
                        lengths[i] = sum;
                      else
                        norms_[i] = static_cast<float>(sum);
                    }
                  });
  set_errors(metric, stride_, lengths);
}

void DenseKeys::products(std::span<const NodeId> rows, NodeId begin, NodeId end, float* out) const {
  bool is_run = true;
  for (std::size_t r = 1; r < rows.size() && is_run; ++r) is_run = rows[r] == rows[r - 1] + 1;
  if (is_run) {
    minus_two_products(row(rows.front()), rows.size(), row(begin), end - begin, stride_, out, end - begin);
    return;
  }
  const auto gathered = std::make_unique_for_overwrite<float[]>(rows.size() * stride_);
  for (std::size_t r = 0; r < rows.size(); ++r)
    std::copy_n(row(rows[r]), stride_, gathered.get() + r * stride_);
  minus_two_products(gathered.get(), rows.size(), row(begin), end - begin, stride_, out, end - begin);
}

RowsInOrder::RowsInOrder(DenseKeys& keys, std::span<const NodeId> points)
    : keys_(keys), points_(points), is_moved_(points.size()) {
  // Along each cycle of the order, every row moves one place back.
  std::vector<float> spare(keys.stride());
  for (NodeId first = 0; first < points.size(); ++first) {
    if (is_moved_[first] != 0) continue;
    std::copy_n(keys.row(first), keys.stride(), spare.data());
    NodeId place = first;
    for (is_moved_[place] = 1; points[place] != first; is_moved_[place] = 1) {
      std::copy_n(keys.row(points[place]), keys.stride(), keys.row(place));
      place = points[place];
    }
    std::copy_n(spare.data(), keys.stride(), keys.row(place));
  }
}

RowsInOrder::~RowsInOrder() {
  for (NodeId first = 0; first < points_.size(); ++first) {
    if (is_moved_[first] == 0) continue;
    // The row of a cycle's first place serves as the spare one.
    for (NodeId place = first; is_moved_[place] != 0; place = points_[place]) {
      is_moved_[place] = 0;
      if (points_[place] != first)
        std::swap_ranges(keys_.row(first), keys_.row(first) + keys_.stride(), keys_.row(points_[place]));
    }
  }
}

SparseKeys::SparseKeys(const PairDiscrepancy& exact) : points_(exact.points()) {
  const Metric metric = exact.metric();
  float largest = 0;
  for (const float value : points_.values) largest = std::max(largest, std::abs(value));
  const double power = metric == Metric::cosine ? 1 : power_below_one(largest);
  scale_ = (metric == Metric::inner ? 2 : 1) * power * power;

  factors_.resize(points_.num_points);
  norms_ = Buffer<float>(points_.num_points);
  std::vector<double> lengths(metric == Metric::inner ? points_.num_points : 0);
  for (std::size_t i = 0; i < points_.num_points; ++i) {
    factors_[i] =
        metric == Metric::cosine ? 1 / std::sqrt(exact.squared_length(static_cast<NodeId>(i))) : power;
    double sum = 0;
    for (const float value : points_.row(i)) sum += factors_[i] * value * (factors_[i] * value);
    if (metric == Metric::inner)
      lengths[i] = sum;
    else
      norms_[i] = static_cast<float>(sum);
  }
  // Products are sums of doubles, rounded once: as good as a single term of floats.
  set_errors(metric, 1, lengths);

  number_columns();
  rows_.resize(points_.values.size());
  values_.resize(points_.values.size());
  std::vector<std::uint64_t> next(starts_.begin(), starts_.end() - 1);
  for (std::size_t i = 0; i < points_.num_points; ++i) {
    for (EdgeIndex p = points_.offsets[i]; p < points_.offsets[i + 1]; ++p) {
      std::uint64_t& place = next[list_of_[p]];
      rows_[place] = static_cast<NodeId>(i);
      values_[place++] = points_.values[p];
    }
  }
}

// Hashed features name columns up to 2^32 and use few of them: the lists are those of the columns that occur.
void SparseKeys::number_columns() {
  std::vector<std::uint32_t> used(points_.columns.begin(), points_.columns.end());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  list_of_.resize(points_.columns.size());
  starts_.assign(used.size() + 1, 0);
  for (std::size_t p = 0; p < list_of_.size(); ++p) {
    list_of_[p] = static_cast<std::uint32_t>(std::lower_bound(used.begin(), used.end(), points_.columns[p]) -
                                             used.begin());
    ++starts_[list_of_[p] + 1];
  }
  for (std::size_t c = 0; c < used.size(); ++c) starts_[c + 1] += starts_[c];
}

void SparseKeys::products(std::span<const NodeId> rows, NodeId begin, NodeId end, float* out) const {
  std::vector<double> sums(num_points());
  for (const NodeId row : rows) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (EdgeIndex p = points_.offsets[row]; p < points_.offsets[row + 1]; ++p) {
      const double value = points_.values[p];
      for (std::uint64_t q = starts_[list_of_[p]]; q < starts_[list_of_[p] + 1]; ++q)
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

}  // namespace copse
