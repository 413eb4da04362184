// SPDX-License-Identifier: Apache-2.0
#include "copse/points/neighbors.hpp"

#include <algorithm>
#include <optional>

#include "copse/support/error.hpp"
#include "copse/support/random.hpp"
#include "points/cells.hpp"
#include "points/exact_neighbors.hpp"

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

constexpr std::uint64_t kRecallSample = 1000;

// How many points show which pairs to compare: 5,000 neighbours tell a recall of 0.995 to 0.001.
constexpr std::uint64_t kCalibrationNeighbors = 20'000, kLeastCalibrated = 32, kMostCalibrated = 500;

// In products of the exact search, measured: what a pass of all points over all centres costs per point and
// centre, and what a pair costs whose rows are gathered first.
constexpr double kPassesOverCells = 4, kDearerProducts = 3;

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

// A neighbour as near as the true k-th is as good as it: with ties there is more than one right answer.
double measured_recall(const PairDiscrepancy& exact, const DenseKeys& keys, std::span<const NodeId> rows,
                       const Neighbors& found, const Execution& execution) {
  const Neighbors truth = exact_neighbors_of(exact, keys, rows, found.k, execution);
  std::uint64_t right = 0;
  for (std::size_t slot = 0; slot < rows.size(); ++slot) {
    const double farthest = truth.discrepancies_of(slot).back();
    for (const double discrepancy : found.discrepancies_of(rows[slot])) right += discrepancy <= farthest;
  }
  return static_cast<double>(right) / static_cast<double>(rows.size() * found.k);
}

// The points that the printed recall is measured on.
std::vector<NodeId> recall_sample(std::uint64_t num_points, std::uint64_t seed) {
  return sample_rows(num_points, std::min(kRecallSample, num_points),
                     Stream(seed, Purpose::neighbor_sample, 0));
}

// The points that the cells are fitted to: none of the above, on which the recall would look too good.
std::vector<NodeId> calibration_sample(std::uint64_t num_points, std::uint32_t k, std::uint64_t seed,
                                       std::span<const NodeId> others) {
  const std::uint64_t wanted =
      std::clamp<std::uint64_t>(kCalibrationNeighbors / k, kLeastCalibrated, kMostCalibrated);
  std::vector<NodeId> rows =
      sample_rows(num_points, std::min(wanted, num_points), Stream(seed, Purpose::neighbor_calibration, 0));
  std::erase_if(rows, [&](NodeId row) { return std::binary_search(others.begin(), others.end(), row); });
  return rows;
}

// Work of a search by cells, in products of two rows, against num_points^2 / 2 of the exact one.
bool pays(double num_points, double num_cells, double num_sampled, double share) {
  const double overhead = num_sampled + kPassesOverCells * num_cells;
  return num_points * overhead + kDearerProducts * share * num_points * num_points / 2 <
         num_points * num_points / 2;
}

// Nothing where comparing all pairs is no dearer.
std::optional<Neighbors> search_by_cells(const PairDiscrepancy& exact, DenseKeys& keys,
                                         const NeighborOptions& options, const Execution& execution,
                                         NeighborReport& report) {
  const std::uint64_t num_points = keys.num_points();
  const CellId num_cells = number_of_cells(num_points);
  const std::vector<NodeId> sample = recall_sample(num_points, execution.seed);
  const std::vector<NodeId> rows = calibration_sample(num_points, options.k, execution.seed, sample);
  const auto num_sampled = static_cast<double>(sample.size() + rows.size());
  if (rows.empty() || !pays(static_cast<double>(num_points), num_cells, num_sampled, 0)) return {};
  const Neighbors truth = exact_neighbors_of(exact, keys, rows, options.k, execution);
  const CellPlan plan =
      plan_cells(keys, find_centers(keys, num_cells, execution), rows, truth, options.recall, execution);
  if (!pays(static_cast<double>(num_points), plan.centers.count(), num_sampled, plan.share)) return {};
  report.num_cells = plan.centers.count();
  report.share_compared = plan.share;
  Neighbors result = cell_neighbors(exact, keys, plan, options.k, execution, report.num_searched_again);
  report.recall = measured_recall(exact, keys, sample, result, execution);
  report.recall_sample = sample.size();
  return result;
}

// By cells that are fitted to the wanted recall, or exact; `report` tells which and why.
Neighbors approximate_neighbors(const PairDiscrepancy& exact, const NeighborOptions& options,
                                const Execution& execution, NeighborReport& report) {
  DenseKeys keys(exact, execution.threads);
  const bool is_inner = options.metric == Metric::inner;
  if (!is_inner)
    if (auto found = search_by_cells(exact, keys, options, execution, report)) return std::move(*found);
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
