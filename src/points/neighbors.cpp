// SPDX-License-Identifier: Apache-2.0
#include "copse/points/neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "copse/support/error.hpp"
#include "copse/support/random.hpp"
#include "points/exact_neighbors.hpp"
#include "points/neighbor_descent.hpp"

namespace copse {
namespace {

constexpr double kMostExactWork = 1e12;  // num_points^2 * num_columns: 15 to 30 s on one core

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

void check_approximate(const PointsView& points, const NeighborOptions& options) {
  if (points.is_sparse())
    throw UsageError{"method", "approximate search is for dense points",
                     "use the exact method, or save the points as a dense .npy with fewer columns"};
  if (!(options.recall > 0 && options.recall <= 1))
    throw UsageError{"recall", "the share of neighbours to find is above 0 and at most 1",
                     "leave it out for " + std::to_string(NeighborOptions{}.recall).substr(0, 5)};
}

constexpr std::uint64_t kRecallSample = 600;       // points that the printed recall is measured on
constexpr std::uint64_t kCalibrationSample = 400;  // other points, which tell when lists are long enough
constexpr double kMostLonger = 2, kLeastLonger = 1.2;
// What a descent compares for a point, over the square of its lists' length, in products of the exact search.
constexpr double kComparedPerSquare = 20;

// Random rows, each once.
std::vector<NodeId> sample_rows(std::uint64_t num_points, std::uint64_t wanted, Stream stream) {
  std::vector<NodeId> rows;
  // Floyd's way: no list of all rows.
  for (std::uint64_t last = num_points - wanted; last < num_points; ++last) {
    const auto drawn = static_cast<NodeId>(stream.below(last + 1));
    const bool is_new = std::find(rows.begin(), rows.end(), drawn) == rows.end();
    rows.push_back(is_new ? drawn : static_cast<NodeId>(last));
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Random points and their true neighbours.
struct Sample {
  std::vector<NodeId> rows;
  Neighbors truth;

  Sample(const PairDiscrepancy& exact, const DenseKeys& keys, std::uint64_t wanted, std::uint32_t k,
         Purpose purpose, const Execution& execution)
      : rows(sample_rows(keys.num_points(), std::min<std::uint64_t>(wanted, keys.num_points()),
                         Stream(execution.seed, purpose, 0))),
        truth(exact_neighbors_of(exact, keys, rows, k, execution)) {}
};

// A neighbour as near as the true k-th is as good as it: with ties there is more than one right answer.
// Neighbours that are missed come in rows, so that the rows, not the neighbours, are what was drawn.
struct Recall {
  double mean = 0, error = 0;  // two standard errors

  Recall(const PairDiscrepancy& exact, const Sample& sample, const NeighborDescent& lists) {
    const std::size_t k = sample.truth.k, num_rows = sample.rows.size();
    double squares = 0;
    for (std::size_t slot = 0; slot < num_rows; ++slot) {
      const std::vector<NodeId> ids = lists.of(sample.rows[slot]);
      std::vector<double> discrepancies(ids.size());
      exact.of(sample.rows[slot], ids, discrepancies.data());
      const double farthest = sample.truth.discrepancies_of(slot).back();
      const auto right = static_cast<std::size_t>(
          std::ranges::count_if(discrepancies, [&](double found) { return found <= farthest; }));
      const double share = static_cast<double>(std::min(right, k)) / static_cast<double>(k);
      mean += share / static_cast<double>(num_rows);
      squares += share * share / static_cast<double>(num_rows);
    }
    error = 2 * std::sqrt(std::max(0.0, squares - mean * mean) / static_cast<double>(num_rows));
  }
};

// Nothing where comparing all pairs is no dearer.
std::optional<Neighbors> search_by_descent(const PairDiscrepancy& exact, const DenseKeys& keys,
                                           const NeighborOptions& options, const Execution& execution,
                                           NeighborReport& report) {
  const std::uint64_t num_points = keys.num_points();
  const auto pays = [&](std::size_t size) {
    return kComparedPerSquare * static_cast<double>(size * size) < static_cast<double>(num_points) / 2;
  };
  std::size_t size = num_candidates(options.k) + 4;
  if (!pays(size)) return {};
  const Sample calibration(exact, keys, kCalibrationSample, options.k, Purpose::neighbor_calibration,
                           execution);
  const Sample sample(exact, keys, kRecallSample, options.k, Purpose::neighbor_sample, execution);
  NeighborDescent lists(keys, size, execution);
  for (lists.run();; lists.run()) {
    const double missed = 1 - Recall(exact, calibration, lists).mean, wanted = 1 - options.recall;
    if (missed <= wanted) break;
    // On random points and on images the share that is missed falls like an exponential of the length.
    const double longer = wanted > 0 ? std::log(wanted) / std::log(missed) : kMostLonger;
    size =
        static_cast<std::size_t>(static_cast<double>(size) * std::clamp(longer, kLeastLonger, kMostLonger));
    if (!pays(size)) return {};
    lists.widen(size);
  }
  const Recall recall(exact, sample, lists);
  report.recall = recall.mean;
  report.recall_error = recall.error;
  report.recall_sample = sample.rows.size();
  report.list_size = lists.size();
  report.share_compared = static_cast<double>(lists.num_compared()) / static_cast<double>(num_points) /
                          (static_cast<double>(num_points - 1) / 2);
  return rank_points(
      exact, num_points, options.k, [&](NodeId point) { return lists.of(point); }, execution);
}

// By descent, or exact; `report` tells which and why.
Neighbors approximate_neighbors(const PairDiscrepancy& exact, const NeighborOptions& options,
                                const Execution& execution, NeighborReport& report) {
  const DenseKeys keys(exact, execution.threads);
  const bool is_inner = options.metric == Metric::inner;
  if (!is_inner)
    if (auto found = search_by_descent(exact, keys, options, execution, report)) return std::move(*found);
  report.method = NeighborMethod::exact;
  report.why_exact = is_inner ? WhyExact::inner_product : WhyExact::no_dearer;
  return exact_neighbors(exact, keys, options.k, execution, report.num_searched_again);
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
    return result + lengths + n * (24 + 8 * num_candidates(options.k)) + points.values.size() * 20 +
           static_cast<std::uint64_t>(threads) * n * (8 + 8 * 4 + 4);
  const std::uint64_t keys = n * (DenseKeys::stride_of(points.num_columns) * 4 + 12);
  const bool is_exact = chosen_method(points, options) == NeighborMethod::exact;
  const std::uint64_t candidates =
      is_exact ? n * (8 + 8 * num_candidates(options.k))
               : NeighborDescent::bytes(n, points.num_columns, 2 * num_candidates(options.k));
  return result + lengths + keys + candidates +
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
