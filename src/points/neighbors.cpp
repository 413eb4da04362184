// SPDX-License-Identifier: Apache-2.0
#include "copse/points/neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "copse/support/error.hpp"
#include "copse/support/random.hpp"
#include "points/exact_neighbors.hpp"
#include "points/neighbor_descent.hpp"
#include "points/neighbor_forest.hpp"

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
// What a tree takes for a point, in the time of a product and a sum of two floats: to look at a pair beside
// its columns; to fetch a column; to halve; and for itself, lists above all.
constexpr double kLook = 24, kFetch = 40, kHalve = 1850, kTree = 14'000;
constexpr double kMostTrees = 1000;
constexpr std::size_t kScouts = 3;                // trees that are grown to see how many it takes
constexpr std::uint64_t kLeastPoints = 10'000;    // below, the samples alone are as dear as all pairs
constexpr std::size_t kSpare = 4;                 // of a list, beside the candidates
constexpr double kFew = 0.3, kMostlyKnown = 0.7;  // missed, and known to neighbours: go on by what they know
// How lists grow where that is not enough, and what is compared for a point, over the square of their length,
// in products of the exact search.
constexpr double kMostLonger = 2, kLeastLonger = 1.2, kComparedPerSquare = 20;

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

using ListOf = std::function<std::vector<NodeId>(NodeId)>;

// A neighbour as near as the true k-th is as good as it: with ties there is more than one right answer.
// Neighbours that are missed come in rows, so that the rows, not the neighbours, are what was drawn.
struct Recall {
  double mean = 0, error = 0;  // two standard errors

  Recall(const PairDiscrepancy& exact, const Sample& sample, const ListOf& list) {
    const std::size_t k = sample.truth.k, num_rows = sample.rows.size();
    double squares = 0;
    for (std::size_t slot = 0; slot < num_rows; ++slot) {
      const std::vector<NodeId> ids = list(sample.rows[slot]);
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

// Of the neighbours that lists miss, how many their neighbours know.
double share_known_to_neighbors(const Sample& sample, const ListOf& list) {
  double missed = 0, known = 0;
  const auto has = [](const std::vector<NodeId>& ids, NodeId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  for (std::size_t slot = 0; slot < sample.rows.size(); ++slot) {
    const std::vector<NodeId> own = list(sample.rows[slot]);
    std::vector<NodeId> theirs;
    for (const NodeId id : own) {
      const std::vector<NodeId> some = list(id);
      theirs.insert(theirs.end(), some.begin(), some.end());
    }
    for (const NodeId id : sample.truth.of(slot)) {
      if (has(own, id)) continue;
      ++missed;
      known += has(theirs, id) ? 1 : 0;
    }
  }
  return missed > 0 ? known / missed : 0;
}

// The share of trees that leave a pair of neighbours together differs from pair to pair: taken as a beta
// distribution, of the mean and the mean square that some trees show. Then so many of those that t trees have
// missed are found by the next one.
struct Together {
  double a = 0, b = 0;

  // Counts are out of kScouts.
  explicit Together(std::span<const int> counts) {
    double mean = 0, square = 0;
    for (const int count : counts) {
      mean += count;
      square += count * (count - 1);
    }
    const auto num_pairs = static_cast<double>(counts.size());
    mean /= num_pairs * kScouts;
    square /= num_pairs * kScouts * (kScouts - 1);
    const double variance = square - mean * mean, most = mean * (1 - mean);
    // No fewer than a tenth of what all or none would vary; and never quite as much.
    const double share = std::clamp(most > 0 ? variance / most : 0, kLeastSpread, kMostSpread);
    a = mean * (1 / share - 1);
    b = (1 - mean) * (1 / share - 1);
  }
  // Trees until no more are missed than that.
  double trees_until(double wanted) const {
    double missed = 1, trees = 0;
    for (; missed > wanted && trees < kMostTrees; ++trees) missed *= (b + trees) / (a + b + trees);
    return trees;
  }

  static constexpr double kLeastSpread = 0.02, kMostSpread = 0.9;
};

struct Plan {
  unsigned depth = 0;
  double trees = 0, cost_of_tree = 0;
  double cost() const { return trees * cost_of_tree; }
};

// The depth at which trees are expected to find enough in the least time. depths[p * kScouts + s]: how deep
// the pair p stayed together in tree s.
Plan cheapest_plan(const NeighborForest& forest, std::span<const unsigned> depths, const DenseKeys& keys,
                   double wanted) {
  Plan best;
  const auto num_points = static_cast<double>(keys.num_points()),
             columns = static_cast<double>(keys.stride());
  for (unsigned depth = 0; depth <= forest.most_depth(); ++depth) {
    std::vector<int> counts(depths.size() / kScouts);
    for (std::size_t i = 0; i < depths.size(); ++i) counts[i / kScouts] += depths[i] >= depth ? 1 : 0;
    const double leaf = num_points / static_cast<double>(std::uint64_t{1} << depth);
    const Plan plan{depth, Together(counts).trees_until(wanted),
                    num_points * (leaf / 2 * (columns + kLook) + kFetch * columns + kHalve * depth + kTree)};
    if (depth == 0 || plan.cost() < best.cost()) best = plan;
  }
  return best;
}

// How deep each neighbour of the sample stayed together with its point, in some trees.
std::vector<unsigned> scout(NeighborForest& forest, const Sample& sample) {
  std::vector<unsigned> depths(sample.rows.size() * sample.truth.k * kScouts);
  for (std::size_t s = 0; s < kScouts; ++s) {
    forest.grow(forest.most_depth());
    const std::vector<NodeId> positions = forest.positions();
    for (std::size_t slot = 0, i = s; slot < sample.rows.size(); ++slot)
      for (const NodeId id : sample.truth.of(slot)) {
        depths[i] = forest.depth_together(positions[sample.rows[slot]], positions[id]);
        i += kScouts;
      }
  }
  return depths;
}

// Trees until few neighbours are missed; then what neighbours know, if that is most of it, or more trees.
// Nothing where comparing all pairs is no dearer.
std::optional<Neighbors> search_by_forest(const PairDiscrepancy& exact, const DenseKeys& keys,
                                          const NeighborOptions& options, const Execution& execution,
                                          NeighborReport& report) {
  const std::uint64_t num_points = keys.num_points();
  std::size_t size = num_candidates(options.k) + kSpare;
  if (num_points < kLeastPoints || num_points <= size) return {};
  const Sample calibration(exact, keys, kCalibrationSample, options.k, Purpose::neighbor_calibration,
                           execution);
  std::optional<NeighborForest> forest(std::in_place, keys, size, execution);
  std::optional<NeighborDescent> descent;
  const ListOf list = [&](NodeId point) { return descent ? descent->of(point) : forest->of(point); };
  // One standard error more than is seen: a search that ends as soon as it sees enough would be late.
  const auto missed_now = [&] {
    const Recall recall(exact, calibration, list);
    return 1 - recall.mean + recall.error / 2;
  };
  // Of so many neighbours, fewer cannot be missed.
  const double may_miss = 1 - options.recall,
               wanted = std::max(may_miss, 1 / static_cast<double>(kCalibrationSample * options.k)),
               few = std::max(may_miss, kFew);
  const std::vector<unsigned> depths = scout(*forest, calibration);
  Plan plan = cheapest_plan(*forest, depths, keys, few);
  const auto points = static_cast<double>(num_points);
  const double cost_of_all = points * points / 2 * (static_cast<double>(keys.stride()) + kLook);
  if (plan.cost() > cost_of_all) return {};
  double missed = 1;
  bool is_to_the_end = false;
  for (double trees = 1;; ++trees) {
    execution.report("trees of points", static_cast<std::uint64_t>(trees),
                     static_cast<std::uint64_t>(plan.trees));
    forest->meet(plan.depth);
    missed = missed_now();
    if (missed <= may_miss) break;
    if (missed <= few && !is_to_the_end) {
      if (share_known_to_neighbors(calibration, list) > kMostlyKnown) break;
      is_to_the_end = true;
      plan = cheapest_plan(*forest, depths, keys, wanted);
      if (plan.cost() > cost_of_all) return {};
    }
    if (trees * plan.cost_of_tree > cost_of_all) return {};
    forest->grow(plan.depth);
  }
  report.num_trees = forest->num_trees() - (kScouts - 1);
  report.leaf_size = num_points >> plan.depth;
  std::uint64_t num_compared = forest->num_compared();
  const std::vector<NodeId> order = forest->order();
  if (missed > may_miss) {
    descent.emplace(keys, *forest, execution);
    forest.reset();
    const auto is_enough = [&] { return (missed = missed_now()) <= may_miss; };
    for (descent->run(is_enough); missed > may_miss; descent->run(is_enough)) {
      // On random points and on images the share that is missed falls like an exponential of the length.
      const double longer = may_miss > 0 ? std::log(may_miss) / std::log(missed) : kMostLonger;
      size =
          static_cast<std::size_t>(static_cast<double>(size) * std::clamp(longer, kLeastLonger, kMostLonger));
      if (kComparedPerSquare * static_cast<double>(size * size) > points / 2) return {};
      descent->widen(size);
    }
    num_compared += descent->num_compared();
  }
  const Sample sample(exact, keys, kRecallSample, options.k, Purpose::neighbor_sample, execution);
  const Recall recall(exact, sample, list);
  report.recall = recall.mean;
  report.recall_error = recall.error;
  report.recall_sample = sample.rows.size();
  report.share_compared = static_cast<double>(num_compared) / points / ((points - 1) / 2);
  return rank_points(exact, order, options.k, list, execution);
}

// By a forest, or exact; `report` tells which and why.
Neighbors approximate_neighbors(const PairDiscrepancy& exact, const NeighborOptions& options,
                                const Execution& execution, NeighborReport& report) {
  const DenseKeys keys(exact, execution.threads);
  const bool is_inner = options.metric == Metric::inner;
  if (!is_inner)
    if (auto found = search_by_forest(exact, keys, options, execution, report)) return std::move(*found);
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
               : std::max(NeighborForest::bytes(n, points.num_columns, num_candidates(options.k) + kSpare),
                          NeighborDescent::bytes(n, points.num_columns, 2 * num_candidates(options.k)));
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
