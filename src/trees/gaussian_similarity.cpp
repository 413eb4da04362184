// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "copse/support/error.hpp"
#include "trees/similarity_forest.hpp"

namespace copse {
namespace {

constexpr std::size_t kLanes = 8;

/// Squared distance of two points. Differences, not the product formula, which loses near points; eight sums
/// that a compiler may keep in vector registers, joined in one fixed order: symmetric to the last bit.
float squared_distance(const float* x, const float* y, std::size_t dimension) {
  float sums[kLanes] = {};
  std::size_t d = 0;
  for (; d + kLanes <= dimension; d += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float difference = x[d + lane] - y[d + lane];
      sums[lane] += difference * difference;
    }
  }
  for (std::size_t lane = 0; d < dimension; ++d, ++lane) {
    const float difference = x[d] - y[d];
    sums[lane] += difference * difference;
  }
  for (std::size_t half = kLanes / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  return sums[0];
}

void check_points(const CoordinatesView& points) {
  if (points.dimension == 0 || points.values.size() % points.dimension != 0)
    throw UsageError("points",
                     std::to_string(points.values.size()) + " values are no points of " +
                         std::to_string(points.dimension) + " coordinates",
                     "give a multiple of the dimension, which is at least 1");
  if (points.num_points() > kMaxNodes)
    throw UsageError("points", with_commas(points.num_points()) + " points are too many",
                     "at most " + with_commas(kMaxNodes));
  const auto bad = std::find_if(points.values.begin(), points.values.end(),
                                [](float value) { return !std::isfinite(value); });
  if (bad == points.values.end()) return;
  const auto at = static_cast<std::size_t>(bad - points.values.begin());
  throw InputError("point " + std::to_string(at / points.dimension),
                   "coordinate " + std::to_string(at % points.dimension) + " is not a finite number",
                   "leave the point out or fill the value in; points and coordinates count from 0");
}

}  // namespace

Similarity gaussian_similarity(const CoordinatesView& points, double a) {
  if (!(a > 0) || !std::isfinite(a))
    throw UsageError("a", "the width of a Gaussian cannot be " + std::to_string(a),
                     "weights are exp(-a d^2) with a > 0");
  check_points(points);
  const auto log_weights = [points, a](NodeId point, std::span<const NodeId> others, float* out) {
    const float* x = points.point(point);
    for (std::size_t i = 0; i < others.size(); ++i) {
      const double square = squared_distance(x, points.point(others[i]), points.dimension);
      out[i] = static_cast<float>(std::max(-a * square, double{std::numeric_limits<float>::lowest()}));
    }
  };
  return {static_cast<NodeId>(points.num_points()), log_weights};
}

}  // namespace copse
