// SPDX-License-Identifier: Apache-2.0
#include "copse/points/similarity_graph.hpp"

#include <algorithm>
#include <cmath>

#include "copse/graph/build.hpp"
#include "copse/graph/components.hpp"
#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "points/exact_neighbors.hpp"
#include "points/point_pairs.hpp"

namespace copse {
namespace {

constexpr double kLogOfNothing = -1e300;  // far away by any scale, and still in order with itself
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

double log_weight(double square, double width) {
  if (square == 0) return 0;
  return width > 0 ? std::max(-square / width, kLogOfNothing) : kLogOfNothing;
}

// Discrepancies to logarithms of weights, in place.
void set_log_weights(PairList& pairs, const SimilarityOptions& options, const Buffer<double>& means,
                     double scale, int threads) {
  parallel_for(threads, pairs.size(), [&](std::size_t c) {
    PairChunk& chunk = pairs[c];
    for (std::size_t i = 0; i < chunk.value.size(); ++i) {
      double& value = chunk.value[i];
      if (options.weighting == Weighting::heat)
        value = log_weight(std::sqrt(value), scale);
      else if (options.weighting == Weighting::gaussian)
        value = log_weight(value, scale * scale);
      else
        value = log_weight(value, (means[chunk.u[i]] + means[chunk.v[i]]) / 2);
    }
  });
}

// Discrepancies to similarities; pairs without one are dropped.
std::uint64_t set_similarities(PairList& pairs, Metric metric) {
  std::uint64_t num_dropped = 0;
  for (PairChunk& chunk : pairs) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < chunk.value.size(); ++i) {
      const double similarity = metric == Metric::cosine ? 1 - chunk.value[i] / 2 : -chunk.value[i];
      if (!(similarity > 0)) continue;
      chunk.u[kept] = chunk.u[i];
      chunk.v[kept] = chunk.v[i];
      chunk.value[kept++] = similarity;
    }
    num_dropped += chunk.value.size() - kept;
    chunk.u.resize(kept);
    chunk.v.resize(kept);
    chunk.value.resize(kept);
  }
  return num_dropped;
}

std::vector<EdgeChunk> without_weights(PairList pairs) {
  std::vector<EdgeChunk> edges(pairs.size());
  for (std::size_t c = 0; c < pairs.size(); ++c) {
    edges[c].u = std::move(pairs[c].u);
    edges[c].v = std::move(pairs[c].v);
    std::vector<double>().swap(pairs[c].value);
  }
  return edges;
}

class SimilarityBuilder {
 public:
  SimilarityBuilder(const PointsView& points, const SimilarityOptions& options, const Execution& execution,
                    SimilarityReport& report)
      : points_(points), options_(options), execution_(execution), report_(report) {}

  void give_neighbors(Neighbors neighbors) { neighbors_ = std::move(neighbors); }

  Graph build() {
    if (needs_neighbors(options_)) find_neighbors();
    PairList pairs = make_pairs();
    if (options_.connect) join(pairs);
    neighbors_ = {};
    keys_.reset();
    if (options_.neighbors.metric != Metric::inner)
      for (const PairChunk& chunk : pairs)
        report_.num_coinciding +=
            static_cast<std::uint64_t>(std::count(chunk.value.begin(), chunk.value.end(), 0.0));
    Graph graph = build_graph(make_edges(std::move(pairs)), points_.num_points, {}, execution_, "points");
    report_.num_components = connected_components(graph, execution_).count();
    return graph;
  }

 private:
  const PairDiscrepancy& exact() {
    if (!exact_) exact_.emplace(points_, options_.neighbors.metric, execution_.threads);
    return *exact_;
  }
  const KeySource& keys() {
    if (!keys_) keys_ = make_keys(exact(), execution_.threads);
    return *keys_;
  }

  void find_neighbors() {
    NeighborOptions options = options_.neighbors;
    // Beside another rule, k only serves the scale.
    if (options_.rule != PairRule::nearest)
      options.k = static_cast<std::uint32_t>(std::min<std::uint64_t>(options.k, points_.num_points - 1));
    if (neighbors_.num_points == 0) {
      neighbors_ = nearest_neighbors(points_, options, execution_, &report_.neighbors);
      report_.used_neighbors = true;
    }
    if (!is_kernel(options_.weighting)) return;
    means_ = mean_squares(neighbors_, execution_.threads);
    if (options_.weighting != Weighting::local && options_.scale == 0)
      report_.scale = root_mean_square(means_);
  }

  PairList make_pairs() {
    switch (options_.rule) {
      case PairRule::radius:
        return pairs_within(exact(), keys(), options_.radius, options_.max_bytes, execution_);
      case PairRule::complete:
        return all_pairs(exact(), execution_);
      default:
        return nearest_pairs(neighbors_, options_.symmetrize, execution_.threads);
    }
  }

  void join(PairList& pairs) {
    PairChunk joining = joining_pairs(exact(), keys(), pairs, execution_);
    report_.num_joining_edges = joining.u.size();
    pairs.push_back(std::move(joining));
  }

  std::vector<EdgeChunk> make_edges(PairList pairs) {
    if (options_.weighting == Weighting::none) return without_weights(std::move(pairs));
    if (options_.weighting == Weighting::similarity) {
      report_.num_not_similar = set_similarities(pairs, options_.neighbors.metric);
      return similar_edges(std::move(pairs), report_, execution_.threads);
    }
    if (options_.weighting != Weighting::local && options_.scale != 0) report_.scale = options_.scale;
    set_log_weights(pairs, options_, means_, report_.scale, execution_.threads);
    return weighted_edges(std::move(pairs), report_, execution_.threads);
  }

  const PointsView& points_;
  const SimilarityOptions& options_;
  const Execution& execution_;
  SimilarityReport& report_;
  std::optional<PairDiscrepancy> exact_;
  std::unique_ptr<KeySource> keys_;
  Neighbors neighbors_;
  Buffer<double> means_;
};

}  // namespace

std::uint64_t similarity_graph_bytes(const PointsView& points, const SimilarityOptions& options,
                                     int threads) {
  const std::uint64_t n = points.num_points;
  std::uint64_t bytes = 8 * n;
  if (needs_neighbors(options)) bytes += neighbor_bytes(points, options.neighbors, threads) + 8 * n;
  if (options.rule == PairRule::nearest) bytes += n * options.neighbors.k * kBytesPerEdge;
  if (options.rule == PairRule::complete) bytes += n * (n - 1) / 2 * kBytesPerEdge;
  if (options.rule == PairRule::radius || options.connect)
    bytes += points.is_sparse() ? points.values.size() * 8 + 36 * n
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
  return SimilarityBuilder(points, options, execution, result).build();
}

Graph similarity_graph(const PointsView& points, Neighbors neighbors, const SimilarityOptions& options,
                       const Execution& execution, SimilarityReport* report) {
  SimilarityReport own;
  SimilarityReport& result = report == nullptr ? own : *report;
  result = {};
  check_options(options);
  check_neighbors(points, neighbors, options);
  SimilarityBuilder builder(points, options, execution, result);
  builder.give_neighbors(std::move(neighbors));
  return builder.build();
}

}  // namespace copse
