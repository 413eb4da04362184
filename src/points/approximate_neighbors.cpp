// SPDX-License-Identifier: Apache-2.0
#include "points/approximate_neighbors.hpp"

#include <algorithm>
#include <optional>

#include "copse/support/random.hpp"
#include "points/cell_neighbors.hpp"
#include "points/exact_neighbors.hpp"
#include "points/rank_candidates.hpp"

namespace copse {
namespace {

constexpr std::uint64_t kRecallSample = 1000;

// How many points show which pairs to compare: 5,000 neighbours tell a recall of 0.995 to 0.001.
constexpr std::uint64_t kCalibrationNeighbors = 20'000, kLeastCalibrated = 32, kMostCalibrated = 500;

// Measured against products of the exact search: what a pass of all points over all centres costs a point and
// centre, and what a pair costs that is gathered first.
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
double measured_recall(const Neighbors& found, const Neighbors& truth, std::span<const NodeId> rows) {
  std::uint64_t right = 0;
  for (std::size_t slot = 0; slot < rows.size(); ++slot) {
    const double farthest = truth.discrepancies_of(slot).back();
    for (const double discrepancy : found.discrepancies_of(rows[slot])) right += discrepancy <= farthest;
  }
  return static_cast<double>(right) / static_cast<double>(rows.size() * found.k);
}

void measure_recall(const PairDiscrepancy& exact, const DenseKeys& keys, std::span<const NodeId> sample,
                    const Neighbors& found, const Execution& execution, NeighborReport& report) {
  const Neighbors truth = exact_neighbors_of(exact, keys, sample, found.k, execution);
  report.recall = measured_recall(found, truth, sample);
  report.recall_sample = sample.size();
}

// The points that the printed recall is measured on.
std::vector<NodeId> recall_sample(std::uint64_t num_points, std::uint64_t seed) {
  return sample_rows(num_points, std::min(kRecallSample, num_points),
                     Stream(seed, Purpose::neighbor_sample, 0));
}

// The points that the cells are fitted to: none of the above, or the recall would be praised by its maker.
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
  measure_recall(exact, keys, sample, result, execution, report);
  return result;
}

}  // namespace

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

}  // namespace copse
