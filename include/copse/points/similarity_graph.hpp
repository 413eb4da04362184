// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "copse/graph/graph.hpp"
#include "copse/points/neighbors.hpp"

namespace copse {

/// Which pairs of points become edges.
enum class PairRule {
  nearest,  // each point with its k nearest
  radius,   // pairs at distance <= radius
  complete  // all pairs
};

/// An edge for a pair when one of the two has the other among its k nearest, or when both have.
enum class Symmetrize { either, mutual };

/// d is the distance (of the directions under cosine).
enum class Weighting {
  none,        // an unweighted graph
  gaussian,    // exp(-d^2 / scale^2): Rojas & Herbster's exp(-a d^2) with a = 1 / scale^2
  local,       // exp(-d^2 / s_ij), s_ij the mean over i and j of the mean squared distance to the k nearest
               // (Cesa-Bianchi, Gentile, Vitale & Zappella 2013, section 7)
  heat,        // exp(-d / scale): Herbster's heat kernel exp(-a d) with a = 1 / scale
  similarity,  // the cosine or the inner product itself; pairs where it is not above 0 are no edges
};

struct SimilarityOptions {
  PairRule rule = PairRule::nearest;
  NeighborOptions neighbors;  // k also serves scales that are chosen from the points
  double radius = 0;          // rule == radius; of the same kind as d
  Symmetrize symmetrize = Symmetrize::either;
  Weighting weighting = Weighting::local;
  double scale = 0;      // gaussian, heat; 0: the root mean square distance to the k nearest
  bool connect = false;  // add the shortest edges that join the components
  /// Refuse to hold more bytes than this (0: no limit): before the start where the size is known, and as soon
  /// as it shows otherwise.
  std::uint64_t max_bytes = 0;
};

/// What was done, to be told to whoever uses the graph.
struct SimilarityReport {
  NeighborReport neighbors;
  bool used_neighbors = false;
  double scale = 0;                     // in effect
  std::uint64_t num_coinciding = 0;     // edges at distance 0: duplicate points
  std::uint64_t num_not_similar = 0;    // pairs left out: similarity not above 0
  std::uint64_t num_joining_edges = 0;  // added by `connect`
  std::uint64_t num_components = 0;     // of the result

  /// Weights are worked out as logarithms. Where the smallest would leave the range of a 32-bit float, all
  /// are divided by the largest; what is still below 2^-100 is squeezed into [2^-126, 2^-100): its order is
  /// kept, its size is not.
  double log_divisor = 0;          // natural logarithm of what weights were divided by
  std::uint64_t num_squeezed = 0;  // edges
  double smallest_log_weight = 0;  // natural logarithm, before squeezing, after dividing
};

/// A graph whose nodes are the points, in order. The same bits for any number of threads.
Graph similarity_graph(const PointsView& points, const SimilarityOptions& options, const Execution& execution,
                       SimilarityReport* report = nullptr);

/// The same from neighbours that are there already, of nearest_neighbors or of another library: for `options`
/// that take each point with its nearest, with options.neighbors.k of them. Nothing is searched.
Graph similarity_graph(const PointsView& points, Neighbors neighbors, const SimilarityOptions& options,
                       const Execution& execution, SimilarityReport* report = nullptr);

/// Bytes it takes beside the points, the graph included; for `radius` without its edges, whose number only
/// shows.
std::uint64_t similarity_graph_bytes(const PointsView& points, const SimilarityOptions& options, int threads);

}  // namespace copse
