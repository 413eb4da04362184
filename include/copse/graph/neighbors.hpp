// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "copse/graph/points.hpp"

namespace copse {

/// How far two points are apart. Every neighbour has a *discrepancy*, smaller is nearer:
/// euclidean: |x - y|^2; cosine: |x/|x| - y/|y||^2 = 2 - 2 cos(x, y); inner: -x.y, which is no distance.
/// It is the sum in double precision over the columns in order; ties go to the lower row.
enum class Metric { euclidean, cosine, inner };

/// automatic takes exact up to num_points^2 * num_columns = 10^13, and always for sparse points.
enum class NeighborMethod { automatic, exact, approximate };

struct NeighborOptions {
  std::uint32_t k = 10;
  Metric metric = Metric::euclidean;
  NeighborMethod method = NeighborMethod::automatic;
  // HNSW (Malkov & Yashunin 2020): more of each is slower and finds more.
  std::uint32_t num_links = 24;       // M: links a point and layer, twice as many on the lowest
  std::uint32_t build_breadth = 64;   // efConstruction
  std::uint32_t search_breadth = 64;  // efSearch, at least k
};

struct NeighborReport {
  NeighborMethod method = NeighborMethod::exact;
  /// Exact: rows whose candidates were too close to tell by 32-bit products and were searched again.
  /// Approximate: rows for which the index found fewer than k and were searched exactly.
  std::uint64_t num_searched_again = 0;
  /// Approximate only: share of the true neighbours that were found, over `recall_sample` random points.
  std::optional<double> recall;
  std::uint64_t recall_sample = 0;
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
/// and where the products' error bound leaves a doubt the row is searched again. Approximate: faiss's HNSW,
/// inserted in one order from seeded levels, then ranked in double: the same for any number of threads.
/// UsageError if k is 0 or not below the number of points; InputError for a row of zeros under cosine.
Neighbors nearest_neighbors(const PointsView& points, const NeighborOptions& options,
                            const Execution& execution, NeighborReport* report = nullptr);

/// The exact neighbours of some rows only, in the order of `rows`.
Neighbors nearest_neighbors_of(const PointsView& points, std::span<const NodeId> rows,
                               const NeighborOptions& options, const Execution& execution);

/// The discrepancy of two rows, as above.
double discrepancy(const PointsView& points, Metric metric, NodeId a, NodeId b);

/// Which method `automatic` means for such points.
NeighborMethod chosen_method(const PointsView& points, const NeighborOptions& options);

/// Bytes that nearest_neighbors takes beside the points, its result included.
std::uint64_t neighbor_bytes(const PointsView& points, const NeighborOptions& options, int threads);

/// Whether this build of copse has the approximate search (faiss).
bool has_approximate_neighbors();

}  // namespace copse
