// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/neighbors.hpp"

#include <algorithm>

#include "copse/support/error.hpp"
#include "copse/support/random.hpp"
#include "graph/candidates.hpp"
#include "graph/exact_neighbors.hpp"
#include "graph/hnsw_neighbors.hpp"

namespace copse {
namespace {

constexpr double kMostExactWork = 1e13;  // num_points^2 * num_columns: a few minutes a core
constexpr std::uint64_t kRecallSample = 1000;

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
  const std::string where = "method";
  if (!has_approximate_neighbors())
    throw UsageError{where, "this copse was built without approximate search (faiss)",
                     "use the exact method, or build with -DCOPSE_FAISS=ON"};
  if (points.is_sparse())
    throw UsageError{where, "approximate search is for dense points",
                     "use the exact method, or save the points as a dense .npy with fewer columns"};
  constexpr std::uint32_t kMost = 1 << 12;
  if (options.num_links < 2 || options.num_links > kMost || options.build_breadth == 0 ||
      options.search_breadth == 0)
    throw UsageError{where, "the index needs 2 to 4096 links and a breadth of at least 1",
                     "leave these options out for their defaults"};
  if (points.num_points >= std::uint64_t{1} << 31)
    throw UsageError{where, "approximate search numbers points with 31 bits", "build the graph from parts"};
}

#ifdef COPSE_WITH_FAISS
// Random rows, each once.
std::vector<NodeId> sample_rows(std::uint64_t num_points, std::uint64_t seed) {
  const std::uint64_t wanted = std::min(kRecallSample, num_points);
  std::vector<NodeId> rows;
  Stream stream(seed, Purpose::neighbor_sample, 0);
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
double measured_recall(const Neighbors& found, const Neighbors& truth, const std::vector<NodeId>& rows) {
  std::uint64_t right = 0;
  for (std::size_t slot = 0; slot < rows.size(); ++slot) {
    const double farthest = truth.discrepancies_of(slot).back();
    for (const double discrepancy : found.discrepancies_of(rows[slot])) right += discrepancy <= farthest;
  }
  return static_cast<double>(right) / static_cast<double>(rows.size() * found.k);
}

Neighbors approximate_neighbors(const PairDiscrepancy& exact, const NeighborOptions& options,
                                const Execution& execution, NeighborReport& report) {
  const DenseKeys keys(exact, execution.threads);
  std::vector<NodeId> short_rows;
  Neighbors result = hnsw_neighbors(exact, keys, options, execution, short_rows);
  report.num_searched_again = short_rows.size();
  if (!short_rows.empty()) {
    const Neighbors rest = exact_neighbors_of(exact, keys, short_rows, options.k, execution);
    for (std::size_t slot = 0; slot < short_rows.size(); ++slot) {
      const std::size_t to = std::size_t{short_rows[slot]} * options.k;
      std::copy_n(rest.of(slot).begin(), options.k, result.ids.begin() + to);
      std::copy_n(rest.discrepancies_of(slot).begin(), options.k, result.discrepancies.begin() + to);
    }
  }
  const std::vector<NodeId> sample = sample_rows(exact.points().num_points, execution.seed);
  const Neighbors truth = exact_neighbors_of(exact, keys, sample, options.k, execution);
  report.recall = measured_recall(result, truth, sample);
  report.recall_sample = sample.size();
  return result;
}
#endif

}  // namespace

bool has_approximate_neighbors() {
#ifdef COPSE_WITH_FAISS
  return true;
#else
  return false;
#endif
}

NeighborMethod chosen_method(const PointsView& points, const NeighborOptions& options) {
  if (options.method != NeighborMethod::automatic) return options.method;
  const double work = static_cast<double>(points.num_points) * static_cast<double>(points.num_points) *
                      static_cast<double>(points.num_columns);
  return work > kMostExactWork && !points.is_sparse() && has_approximate_neighbors()
             ? NeighborMethod::approximate
             : NeighborMethod::exact;
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
  if (chosen_method(points, options) == NeighborMethod::exact)
    return result + lengths + keys + n * (8 + 8 * num_candidates(options.k)) +
           static_cast<std::uint64_t>(threads) * (std::uint64_t{2} << 20);
  // Links of all layers (about 1/M of the points are on the next one), levels, locks, marks of visits a
  // thread.
  return result + lengths + keys + n * (4 * (2 * std::uint64_t{options.num_links} + 2) + 24) +
         static_cast<std::uint64_t>(threads) * n;
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
#ifdef COPSE_WITH_FAISS
  if (result.method == NeighborMethod::approximate)
    return approximate_neighbors(exact, options, execution, result);
#endif
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
