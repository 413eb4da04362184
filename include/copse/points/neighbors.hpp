// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "copse/points/points.hpp"

namespace copse {

/// How far two points are apart. Every neighbour has a *discrepancy*, smaller is nearer:
/// euclidean: |x - y|^2; cosine: |x/|x| - y/|y||^2 = 2 - 2 cos(x, y); inner: -x.y, which is no distance.
/// It is the sum in double precision over the columns in order; ties go to the lower row.
enum class Metric { euclidean, cosine, inner };

/// automatic takes exact up to num_points^2 * num_columns = 10^12, 15 to 30 seconds of a core, and always for
/// sparse points; otherwise approximate.
enum class NeighborMethod { automatic, exact, approximate };

struct NeighborOptions {
  std::uint32_t k = 10;
  Metric metric = Metric::euclidean;
  NeighborMethod method = NeighborMethod::automatic;
  /// approximate: share of the true neighbours to find, above 0 and at most 1. It is met on a sample of the
  /// points; all points, and the other sample that is reported, may differ by some thousandths.
  double recall = 0.995;
};

/// Why a search was exact.
enum class WhyExact {
  asked,         // by name, or by automatic
  no_dearer,     // approximate was asked for, and comparing all pairs is as quick
  inner_product  // approximate was asked for, and an inner product is no distance
};

struct NeighborReport {
  NeighborMethod method = NeighborMethod::exact;
  WhyExact why_exact = WhyExact::asked;
  /// Exact: rows whose candidates were too close to tell by 32-bit products and were searched again.
  std::uint64_t num_searched_again = 0;
  /// Approximate: share of the true neighbours that were found, over `recall_sample` random points, which
  /// were drawn apart from those that tell the search when to end; of all points it is that give or take
  /// `recall_error`, two standard errors.
  std::optional<double> recall;
  double recall_error = 0;
  std::uint64_t recall_sample = 0;
  /// Approximate: random trees, points in a leaf of theirs, and compared pairs, of all pairs; some were
  /// compared more than once.
  std::uint64_t num_trees = 0, leaf_size = 0;
  double share_compared = 1;
};

/// The k nearest other points of every point, nearest first.
struct Neighbors {
  std::uint64_t num_points = 0;
  std::uint32_t k = 0;
  Buffer<NodeId> ids;            // num_points * k
  Buffer<double> discrepancies;  // num_points * k

  std::span<const NodeId> of(std::uint64_t point) const { return ids.span().subspan(point * k, k); }
  std::span<const double> discrepancies_of(std::uint64_t point) const {
    return discrepancies.span().subspan(point * k, k);
  }
};

/// Exact: the very answer of comparing all pairs in double precision, whatever the processor, library and
/// number of threads. Candidates come from blocks of single-precision matrix products, are ranked in double,
/// and where the products' error bound leaves a doubt the row is searched again. Approximate: the same among
/// the points that share a leaf of a random tree with it, and their neighbours (docs/points.md); how many
/// trees it takes for the wanted recall is measured on a sample, and where comparing all pairs is no dearer
/// the search is exact. Both are the same for any number of threads. UsageError if k is 0 or not below the
/// number of points; InputError for a row of zeros under cosine.
Neighbors nearest_neighbors(const PointsView& points, const NeighborOptions& options,
                            const Execution& execution, NeighborReport* report = nullptr);

/// The exact neighbours of some rows only, in the order of `rows`.
Neighbors nearest_neighbors_of(const PointsView& points, std::span<const NodeId> rows,
                               const NeighborOptions& options, const Execution& execution);

/// The discrepancy of two rows, as above.
double discrepancy(const PointsView& points, Metric metric, NodeId a, NodeId b);

/// Which method is tried first for such points: what `automatic` means.
NeighborMethod chosen_method(const PointsView& points, const NeighborOptions& options);

/// Bytes that nearest_neighbors takes beside the points, its result included.
std::uint64_t neighbor_bytes(const PointsView& points, const NeighborOptions& options, int threads);

}  // namespace copse
