// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "copse/support/parallel.hpp"
#include "points/point_pairs.hpp"
#include "support/exponential.hpp"

namespace copse {
namespace {

constexpr double kLogSmallest = -87.33;  // just above the logarithm of the smallest normal float, 2^-126
constexpr double kLogFloor = -69.31471805599453;  // of 2^-100: below, only the order is kept
constexpr float kFloor = 0x1p-100F;
constexpr std::uint32_t kNumSlots =
    std::bit_cast<std::uint32_t>(kFloor) - std::bit_cast<std::uint32_t>(std::numeric_limits<float>::min());

constexpr double kLogOfNothing = -1e300;  // far away by any scale, and still in order with itself

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
};

Range range_of(const PairList& pairs) {
  Range range;
  for (const PairChunk& chunk : pairs)
    for (const double value : chunk.value) {
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  return range;
}

// The distinct logarithms below the floor, largest first: the place of one is the place of its weight.
std::vector<double> squeezed_values(const PairList& pairs, double divisor, std::uint64_t& count) {
  std::vector<double> values;
  for (const PairChunk& chunk : pairs)
    for (const double value : chunk.value)
      if (value - divisor < kLogFloor) values.push_back(value);
  count = values.size();
  std::sort(values.begin(), values.end(), std::greater<>());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// One float below the floor for each place; with more places than floats (over 2 * 10^8), some share one.
Weight squeezed(const std::vector<double>& values, double value) {
  const auto place = static_cast<std::uint64_t>(
      std::lower_bound(values.begin(), values.end(), value, std::greater<>()) - values.begin());
  const std::uint64_t slot = values.size() <= kNumSlots ? place : place * kNumSlots / values.size();
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(kFloor) - 1 - static_cast<std::uint32_t>(slot));
}

double log_weight(double square, double width) {
  if (square == 0) return 0;
  return width > 0 ? std::max(-square / width, kLogOfNothing) : kLogOfNothing;
}

// Discrepancies to logarithms of weights, in place.
void set_log_weights(PairList& pairs, Weighting weighting, const Buffer<double>& means, double scale,
                     int threads) {
  parallel_for(threads, pairs.size(), [&](std::size_t c) {
    PairChunk& chunk = pairs[c];
    for (std::size_t i = 0; i < chunk.value.size(); ++i) {
      double& value = chunk.value[i];
      if (weighting == Weighting::heat)
        value = log_weight(std::sqrt(value), scale);
      else if (weighting == Weighting::gaussian)
        value = log_weight(value, scale * scale);
      else
        value = log_weight(value, (means[chunk.u[i]] + means[chunk.v[i]]) / 2);
    }
  });
}

// Discrepancies to similarities; pairs without one are dropped.
std::uint64_t set_similarities(PairList& pairs, Metric metric) {
  std::uint64_t num_dropped = 0;
  for (PairChunk& chunk : pairs) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < chunk.value.size(); ++i) {
      const double similarity = metric == Metric::cosine ? 1 - chunk.value[i] / 2 : -chunk.value[i];
      if (!(similarity > 0)) continue;
      chunk.u[kept] = chunk.u[i];
      chunk.v[kept] = chunk.v[i];
      chunk.value[kept++] = similarity;
    }
    num_dropped += chunk.value.size() - kept;
    chunk.u.resize(kept);
    chunk.v.resize(kept);
    chunk.value.resize(kept);
  }
  return num_dropped;
}

template <class ToWeight>
std::vector<EdgeChunk> converted(PairList pairs, int threads, const ToWeight& to_weight) {
  std::vector<EdgeChunk> edges(pairs.size());
  parallel_for(threads, pairs.size(), [&](std::size_t c) {
    edges[c].weight.resize(pairs[c].value.size());
    for (std::size_t i = 0; i < pairs[c].value.size(); ++i) edges[c].weight[i] = to_weight(pairs[c].value[i]);
    edges[c].u = std::move(pairs[c].u);
    edges[c].v = std::move(pairs[c].v);
    std::vector<double>().swap(pairs[c].value);
  });
  return edges;
}

std::vector<EdgeChunk> without_weights(PairList pairs) {
  std::vector<EdgeChunk> edges(pairs.size());
  for (std::size_t c = 0; c < pairs.size(); ++c) {
    edges[c].u = std::move(pairs[c].u);
    edges[c].v = std::move(pairs[c].v);
    std::vector<double>().swap(pairs[c].value);
  }
  return edges;
}

// From logarithms of weights.
std::vector<EdgeChunk> kernel_edges(PairList pairs, SimilarityReport& report, int threads) {
  const Range range = range_of(pairs);
  if (range.low > range.high) return converted(std::move(pairs), threads, [](double) { return Weight{1}; });
  if (range.low < kLogSmallest) report.log_divisor = range.high;
  const double divisor = report.log_divisor;
  report.smallest_log_weight = range.low - divisor;
  std::vector<double> values;
  if (report.smallest_log_weight < kLogSmallest)
    values = squeezed_values(pairs, divisor, report.num_squeezed);
  return converted(std::move(pairs), threads, [&](double value) {
    if (!values.empty() && value - divisor < kLogFloor) return squeezed(values, value);
    return static_cast<Weight>(exponential_of(value - divisor));
  });
}

// Only ratios matter: a range that a float does not hold is divided by a power of two. What is still too
// small becomes the smallest float.
std::vector<EdgeChunk> similar_edges(PairList pairs, SimilarityReport& report, int threads) {
  const Range range = range_of(pairs);
  constexpr double kSmallest = std::numeric_limits<float>::min(),
                   kLargest = std::numeric_limits<float>::max();
  double factor = 1;
  if (range.low <= range.high && (range.high > kLargest || range.low < kSmallest)) {
    int exponent = 0;
    std::frexp(range.high, &exponent);
    factor = std::ldexp(1.0, -exponent);
    report.log_divisor = exponent * 0.6931471805599453;
  }
  if (range.low <= range.high) report.smallest_log_weight = std::log(range.low * factor);
  for (const PairChunk& chunk : pairs)
    for (const double value : chunk.value) report.num_squeezed += value * factor < kSmallest;
  return converted(std::move(pairs), threads,
                   [&](double value) { return static_cast<Weight>(std::max(value * factor, kSmallest)); });
}

}  // namespace

std::vector<EdgeChunk> weighted_edges(PairList pairs, const SimilarityOptions& options,
                                      const Buffer<double>& means, SimilarityReport& report, int threads) {
  if (options.weighting == Weighting::none) return without_weights(std::move(pairs));
  if (options.weighting == Weighting::similarity) {
    report.num_not_similar = set_similarities(pairs, options.neighbors.metric);
    return similar_edges(std::move(pairs), report, threads);
  }
  set_log_weights(pairs, options.weighting, means, report.scale, threads);
  return kernel_edges(std::move(pairs), report, threads);
}

}  // namespace copse
