// SPDX-License-Identifier: Apache-2.0
#include "copse/points/neighbors.hpp"

#include <algorithm>

#include "copse/support/error.hpp"
#include "points/approximate_neighbors.hpp"
#include "points/candidates.hpp"
#include "points/cell_neighbors.hpp"
#include "points/exact_neighbors.hpp"

namespace copse {
namespace {

constexpr double kMostExactWork = 1e12;  // num_points^2 * num_columns: 15 to 30 s of a core

void check_options(const PointsView& points, const NeighborOptions& options) {
  if (points.num_points == 0 || points.num_columns == 0)
    throw UsageError{"points", "there are no points", "give at least two"};
  if (options.k == 0) throw UsageError{"k", "0 neighbours make no graph", "give at least 1"};
  if (options.k >= points.num_points)
    throw UsageError{
        "k",
        with_commas(options.k) + " neighbours are asked for, and a point has only " +
            with_commas(points.num_points - 1) + " others",
        "ask for " + with_commas(points.num_points - 1) + " or fewer, or for the complete graph"};
}

void check_dense(const PointsView& points) {
  if (points.is_sparse())
    throw UsageError{"method", "approximate search is for dense points",
                     "use the exact method, or save the points as a dense .npy with fewer columns"};
}

void check_approximate(const PointsView& points, const NeighborOptions& options) {
  check_dense(points);
  if (!(options.recall > 0 && options.recall <= 1))
    throw UsageError{"recall", "the share of neighbours to find is above 0 and at most 1",
                     "leave it out for " + std::to_string(NeighborOptions{}.recall).substr(0, 5)};
}

}  // namespace

NeighborMethod chosen_method(const PointsView& points, const NeighborOptions& options) {
  if (options.method != NeighborMethod::automatic) return options.method;
  const double work = static_cast<double>(points.num_points) * static_cast<double>(points.num_points) *
                      static_cast<double>(points.num_columns);
  return work > kMostExactWork && !points.is_sparse() ? NeighborMethod::approximate : NeighborMethod::exact;
}

std::uint64_t neighbor_bytes(const PointsView& points, const NeighborOptions& options, int threads) {
  const std::uint64_t n = points.num_points, k = options.k;
  const std::uint64_t result = n * k * (sizeof(NodeId) + sizeof(double));
  const std::uint64_t lengths = options.metric == Metric::cosine ? 8 * n : 0;
  if (points.is_sparse())
    return result + lengths + n * (24 + 8 * num_candidates(options.k)) + points.values.size() * 16 +
           std::min<std::uint64_t>(points.num_columns, points.values.size()) * 16 +
           static_cast<std::uint64_t>(threads) * n * (8 + 8 * 4 + 4);
  const std::uint64_t keys = n * (DenseKeys::stride_of(points.num_columns) * 4 + 12);
  const bool is_exact = chosen_method(points, options) == NeighborMethod::exact;
  const std::uint64_t cells = is_exact ? 0 : cell_bytes(n, points.num_columns, threads);
  return result + lengths + keys + cells + n * (8 + 8 * num_candidates(options.k)) +
         static_cast<std::uint64_t>(threads) * (std::uint64_t{2} << 20);
}

Neighbors nearest_neighbors(const PointsView& points, const NeighborOptions& options,
                            const Execution& execution, NeighborReport* report) {
  check_options(points, options);
  NeighborReport own;
  NeighborReport& result = report == nullptr ? own : *report;
  result = {};
  result.method = chosen_method(points, options);
  if (result.method == NeighborMethod::approximate) check_approximate(points, options);
  const PairDiscrepancy exact(points, options.metric, execution.threads);
  if (result.method == NeighborMethod::approximate)
    return approximate_neighbors(exact, options, execution, result);
  const auto keys = make_keys(exact, execution.threads);
  return exact_neighbors(exact, *keys, options.k, execution, result.num_searched_again);
}

Neighbors nearest_neighbors_of(const PointsView& points, std::span<const NodeId> rows,
                               const NeighborOptions& options, const Execution& execution) {
  check_options(points, options);
  for (const NodeId row : rows) {
    if (row >= points.num_points)
      throw UsageError{"rows", "there is no row " + with_commas(row), "rows count from 0"};
  }
  const PairDiscrepancy exact(points, options.metric, execution.threads);
  const auto keys = make_keys(exact, execution.threads);
  return exact_neighbors_of(exact, *keys, rows, options.k, execution);
}

}  // namespace copse
