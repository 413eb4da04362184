// SPDX-License-Identifier: Apache-2.0
#include "copse/points/similarity_graph.hpp"

#include <algorithm>
#include <cmath>

#include "copse/graph/build.hpp"
#include "copse/graph/components.hpp"
#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "points/point_pairs.hpp"

namespace copse {
namespace {

constexpr std::size_t kWeightRowsPerBlock = 4096;

bool is_kernel(Weighting weighting) {
  return weighting == Weighting::gaussian || weighting == Weighting::local || weighting == Weighting::heat;
}

bool needs_neighbors(const SimilarityOptions& options) {
  return options.rule == PairRule::nearest || options.weighting == Weighting::local ||
         (is_kernel(options.weighting) && options.scale == 0);
}

void check_options(const SimilarityOptions& options) {
  const bool is_inner = options.neighbors.metric == Metric::inner;
  if (is_inner && is_kernel(options.weighting))
    throw UsageError{"weights", "an inner product is no distance: it has no Gaussian, local or heat weights",
                     "use similarity or none, or the cosine or euclidean metric"};
  if (options.weighting == Weighting::similarity && options.neighbors.metric == Metric::euclidean)
    throw UsageError{"weights", "a euclidean distance is no similarity",
                     "use gaussian, local, heat or none, or the cosine or inner metric"};
  if (!(options.scale >= 0) || std::isinf(options.scale))
    throw UsageError{"scale", "the scale of weights is a positive number",
                     "leave it out to have it chosen from the points"};
  if (options.scale != 0 && options.weighting != Weighting::gaussian && options.weighting != Weighting::heat)
    throw UsageError{"scale", "only gaussian and heat weights have a scale",
                     "leave it out; local weights take theirs from the neighbours of each point"};
  if (options.rule == PairRule::radius && is_inner)
    throw UsageError{"radius", "an inner product is no distance: nothing is within a radius",
                     "use the cosine or euclidean metric, or the k nearest"};
  if (options.rule == PairRule::radius && (!(options.radius > 0) || std::isinf(options.radius)))
    throw UsageError{"radius", "the radius of a neighbourhood is a positive number",
                     "give a distance between points, or use the k nearest"};
}

void check_bytes(const PointsView& points, const SimilarityOptions& options, int threads) {
  const std::uint64_t needed = similarity_graph_bytes(points, options, threads);
  if (options.max_bytes == 0 || needed <= options.max_bytes) return;
  throw UsageError{options.rule == PairRule::complete ? "complete" : "points",
                   "the graph needs about " + with_commas(needed) + " bytes, and " +
                       with_commas(options.max_bytes) + " are allowed",
                   options.rule == PairRule::complete
                       ? "use the k nearest neighbours: complete graphs are for a few thousand points"
                       : "ask for fewer neighbours, or build the graph on a larger machine"};
}

void check_neighbors(const PointsView& points, const Neighbors& neighbors, const SimilarityOptions& options) {
  if (options.rule != PairRule::nearest)
    throw UsageError{"neighbors", "only graphs of the nearest neighbours are made of them",
                     "use PairRule::nearest, or let the pairs be searched"};
  const std::uint64_t size = points.num_points * options.neighbors.k;
  if (neighbors.num_points != points.num_points || neighbors.k != options.neighbors.k || neighbors.k == 0 ||
      neighbors.ids.size() != size || neighbors.discrepancies.size() != size)
    throw UsageError{"neighbors",
                     "they are not those of " + with_commas(options.neighbors.k) + " neighbours of " +
                         with_commas(points.num_points) + " points",
                     "give k ids and k discrepancies a point"};
  for (std::uint64_t i = 0; i < points.num_points; ++i)
    for (const NodeId id : neighbors.of(i))
      if (id >= points.num_points || id == i)
        throw UsageError{"neighbors",
                         "point " + with_commas(i) + " has " + with_commas(id) + " for a neighbour",
                         "neighbours are rows of other points, counted from 0"};
}

// Mean squared distance of each point to its k nearest.
Buffer<double> mean_squares(const Neighbors& neighbors, int threads) {
  Buffer<double> means(neighbors.num_points);
  parallel_blocks(threads, neighbors.num_points, kWeightRowsPerBlock,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t i = begin; i < end; ++i) {
                      double sum = 0;
                      for (const double square : neighbors.discrepancies_of(i)) sum += square;
                      means[i] = sum / neighbors.k;
                    }
                  });
  return means;
}

double root_mean_square(const Buffer<double>& means) {
  const double sum = deterministic_reduce(
      1, means.size(), 0.0,
      [&](std::size_t begin, std::size_t end) {
        double part = 0;
        for (std::size_t i = begin; i < end; ++i) part += means[i];
        return part;
      },
      [](double a, double b) { return a + b; });
  const double mean = sum / static_cast<double>(means.size());
  return mean > 0 ? std::sqrt(mean) : 1;  // all points coincide: any scale gives weight 1
}

double scale_of(const SimilarityOptions& options, const Buffer<double>& means) {
  if (!is_kernel(options.weighting) || options.weighting == Weighting::local) return 0;
  return options.scale != 0 ? options.scale : root_mean_square(means);
}

Neighbors search_neighbors(const PointsView& points, const SimilarityOptions& options,
                           const Execution& execution, SimilarityReport& report) {
  NeighborOptions search = options.neighbors;
  // Beside another rule, k only serves the scale.
  if (options.rule != PairRule::nearest)
    search.k = static_cast<std::uint32_t>(std::min<std::uint64_t>(search.k, points.num_points - 1));
  report.used_neighbors = true;
  return nearest_neighbors(points, search, execution, &report.neighbors);
}

PairList make_pairs(const PointsView& points, const Neighbors& neighbors, const SimilarityOptions& options,
                    const Execution& execution, SimilarityReport& report) {
  PairList pairs;
  if (options.rule == PairRule::nearest)
    pairs = nearest_pairs(neighbors, options.symmetrize, execution.threads);
  if (options.rule == PairRule::nearest && !options.connect) return pairs;
  const PairDiscrepancy exact(points, options.neighbors.metric, execution.threads);
  if (options.rule == PairRule::complete) return all_pairs(exact, execution);
  const auto keys = make_keys(exact, execution.threads);
  if (options.rule == PairRule::radius)
    pairs = pairs_within(exact, *keys, options.radius, options.max_bytes, execution);
  if (options.connect) {
    pairs.push_back(joining_pairs(exact, *keys, pairs, execution));
    report.num_joining_edges = pairs.back().u.size();
  }
  return pairs;
}

std::uint64_t num_coinciding(const PairList& pairs) {
  std::uint64_t count = 0;
  for (const PairChunk& chunk : pairs)
    count += static_cast<std::uint64_t>(std::count(chunk.value.begin(), chunk.value.end(), 0.0));
  return count;
}

Graph build(const PointsView& points, Neighbors neighbors, const SimilarityOptions& options,
            const Execution& execution, SimilarityReport& report) {
  Buffer<double> means;
  if (needs_neighbors(options) && is_kernel(options.weighting))
    means = mean_squares(neighbors, execution.threads);
  report.scale = scale_of(options, means);
  PairList pairs = make_pairs(points, neighbors, options, execution, report);
  neighbors = {};
  if (options.neighbors.metric != Metric::inner) report.num_coinciding = num_coinciding(pairs);
  Graph graph = build_graph(weighted_edges(std::move(pairs), options, means, report, execution.threads),
                            points.num_points, {}, execution, "points");
  report.num_components = connected_components(graph, execution).count();
  return graph;
}

}  // namespace

std::uint64_t similarity_graph_bytes(const PointsView& points, const SimilarityOptions& options,
                                     int threads) {
  const std::uint64_t n = points.num_points;
  std::uint64_t bytes = 8 * n;
  if (needs_neighbors(options)) bytes += neighbor_bytes(points, options.neighbors, threads) + 8 * n;
  if (options.rule == PairRule::nearest) bytes += n * options.neighbors.k * kBytesPerEdge;
  if (options.rule == PairRule::complete) bytes += n * (n - 1) / 2 * kBytesPerEdge;
  if (options.rule == PairRule::radius || options.connect)
    bytes += points.is_sparse() ? points.values.size() * 20 + 36 * n
                                : n * (DenseKeys::stride_of(points.num_columns) * 4 + 16);
  return bytes;
}

Graph similarity_graph(const PointsView& points, const SimilarityOptions& options, const Execution& execution,
                       SimilarityReport* report) {
  SimilarityReport own;
  SimilarityReport& result = report == nullptr ? own : *report;
  result = {};
  check_options(options);
  if (points.num_points < 2)
    throw UsageError{"points", "there are " + with_commas(points.num_points) + " points",
                     "a graph needs at least two"};
  check_bytes(points, options, execution.threads);
  Neighbors neighbors;
  if (needs_neighbors(options)) neighbors = search_neighbors(points, options, execution, result);
  return build(points, std::move(neighbors), options, execution, result);
}

Graph similarity_graph(const PointsView& points, Neighbors neighbors, const SimilarityOptions& options,
                       const Execution& execution, SimilarityReport* report) {
  SimilarityReport own;
  SimilarityReport& result = report == nullptr ? own : *report;
  result = {};
  check_options(options);
  check_neighbors(points, neighbors, options);
  return build(points, std::move(neighbors), options, execution, result);
}

}  // namespace copse
