// SPDX-License-Identifier: Apache-2.0
#include "trees/similarity_forest.hpp"

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "copse/graph/build.hpp"
#include "copse/graph/components.hpp"
#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "trees/exponential.hpp"
#include "trees/shortest_path.hpp"
#include "trees/similarity_edge.hpp"

namespace copse {
namespace {

// Prim needs half the similarities, Boruvka's blocks share reads: they meet where the points outgrow the
// caches.
constexpr NodeId kBoruvkaFrom = 100000;

Weight stored_weight(float log_weight, std::uint64_t& num_clamped) {
  const double weight =
      log_weight > 0 ? 1 / exp_of_negative(-double{log_weight}) : exp_of_negative(log_weight);
  constexpr Weight kSmallest = std::numeric_limits<Weight>::min();
  if (weight < kSmallest) {
    ++num_clamped;
    return kSmallest;
  }
  return static_cast<Weight>(std::min(weight, double{std::numeric_limits<Weight>::max()}));
}

SimilarityForest hang_up(NodeId num_points, const std::vector<SimilarityEdge>& edges) {
  SimilarityForest result;
  std::vector<Edge> list;
  list.reserve(edges.size());
  for (const SimilarityEdge& edge : edges)
    list.push_back({edge.low, edge.high, stored_weight(edge.log_weight, result.num_clamped)});
  const Graph graph = graph_from_edges(num_points, list);
  const Components components = connected_components(graph);
  std::vector<NodeId> roots(components.count(), kNoNode);
  for (NodeId u = num_points; u-- > 0;) roots[components.of_node[u]] = u;
  result.forest = breadth_first_forest(graph, roots);
  return result;
}

/// Points not yet settled, with what Prim or Dijkstra know of each; any order.
template <class Known>
struct Frontier {
  std::vector<NodeId> nodes;
  std::vector<Known> known;

  explicit Frontier(NodeId num_points) : nodes(num_points), known(num_points) {
    std::iota(nodes.begin(), nodes.end(), NodeId{0});
  }
  void remove(std::size_t i) {
    nodes[i] = nodes.back();
    known[i] = known.back();
    nodes.pop_back();
    known.pop_back();
  }
};

constexpr std::size_t kFrontierBlock = 1 << 14;  // less work than this is not worth another thread

/// Reads the row of `point` against the frontier, calls update(i, log weight) for each, and returns the place
/// of the first one under `before(i, j)`.
template <class Known, class Update, class Before>
std::size_t sweep(const Similarity& similarity, NodeId point, Frontier<Known>& frontier, int threads,
                  Update&& update, Before&& before) {
  const std::size_t none = frontier.nodes.size();
  return deterministic_reduce(
      threads, frontier.nodes.size(), none,
      [&](std::size_t begin, std::size_t end) {
        float row[kFrontierBlock];
        fill_log_weights(similarity, point, {&frontier.nodes[begin], end - begin}, row);
        std::size_t first = begin;
        for (std::size_t i = begin; i < end; ++i) {
          update(i, row[i - begin]);
          if (before(i, first)) first = i;
        }
        return first;
      },
      [&](std::size_t a, std::size_t b) { return a == none || (b != none && before(b, a)) ? b : a; },
      kFrontierBlock);
}

}  // namespace

void fill_log_weights(const Similarity& similarity, NodeId point, std::span<const NodeId> others,
                      float* log_weights) {
  similarity.log_weights(point, others, log_weights);
  for (std::size_t i = 0; i < others.size(); ++i)
    if (std::isnan(log_weights[i]))
      throw InputError("similarity of points " + std::to_string(point) + " and " + std::to_string(others[i]),
                       "it is not a number", "a similarity function must give a logarithm or -infinity");
}

std::vector<SimilarityEdge> prim_edges(const Similarity& similarity, const Execution& execution) {
  std::vector<SimilarityEdge> edges;
  Frontier<SimilarityEdge> frontier(similarity.num_points);
  std::size_t next = 0;
  while (!frontier.nodes.empty()) {
    execution.throw_if_cancelled();
    execution.report("minimum tree", similarity.num_points - frontier.nodes.size(), similarity.num_points);
    const NodeId point = frontier.nodes[next];
    if (frontier.known[next].exists()) edges.push_back(frontier.known[next]);
    frontier.remove(next);
    next = sweep(
        similarity, point, frontier, execution.threads,
        [&](std::size_t i, float log_weight) {
          const auto edge = SimilarityEdge::between(point, frontier.nodes[i], log_weight);
          if (edge.exists() && edge.beats(frontier.known[i])) frontier.known[i] = edge;
        },
        [&](std::size_t i, std::size_t j) { return frontier.known[i].beats(frontier.known[j]); });
  }
  return edges;
}

SimilarityForest minimum_similarity_forest(const Similarity& similarity, const Execution& execution,
                                           SimilarityMethod method) {
  if (method == SimilarityMethod::automatic)
    method = similarity.num_points < kBoruvkaFrom ? SimilarityMethod::prim : SimilarityMethod::boruvka;
  return hang_up(similarity.num_points, method == SimilarityMethod::prim
                                            ? prim_edges(similarity, execution)
                                            : boruvka_edges(similarity, execution));
}

SimilarityForest shortest_similarity_forest(const Similarity& similarity, NodeId root,
                                            const Execution& execution) {
  struct Known {
    double distance = std::numeric_limits<double>::infinity();
    NodeId parent = kNoNode;  // rank
    float log_weight = kNoEdge;
  };
  const NodeId n = similarity.num_points;
  if (n == 0) return {};
  if (root >= n)
    throw UsageError("root", "there is no point " + std::to_string(root),
                     "points count from 0 to " + std::to_string(n - 1));
  SimilarityForest result;
  SpanningForest& forest = result.forest;
  forest.node = Buffer<NodeId>(n);
  forest.parent = Buffer<NodeId>(n);
  forest.weight = Buffer<Weight>(n);
  Frontier<Known> frontier(n);
  const auto before = [&](std::size_t i, std::size_t j) {
    const double a = frontier.known[i].distance, b = frontier.known[j].distance;
    return a != b ? a < b : frontier.nodes[i] < frontier.nodes[j];
  };
  std::size_t next = root;
  for (NodeId rank = 0; rank < n; ++rank) {
    execution.throw_if_cancelled();
    execution.report("shortest paths", rank, n);
    const NodeId point = frontier.nodes[next];
    const Known known = frontier.known[next];
    const bool is_root = known.parent == kNoNode;
    forest.node[rank] = point;
    forest.parent[rank] = is_root ? rank : known.parent;
    forest.weight[rank] = is_root ? 0 : stored_weight(known.log_weight, result.num_clamped);
    frontier.remove(next);
    next = sweep(
        similarity, point, frontier, execution.threads,
        [&](std::size_t i, float log_weight) {
          if (log_weight == kNoEdge) return;
          std::uint64_t ignored = 0;
          const double through =
              (is_root ? 0 : known.distance) + 1.0 / double{stored_weight(log_weight, ignored)};
          if (through < frontier.known[i].distance) frontier.known[i] = {through, rank, log_weight};
        },
        before);
  }
  return result;
}

Graph graph_of_tree(const SpanningForest& forest) {
  std::vector<Edge> edges;
  edges.reserve(forest.num_nodes());
  for (NodeId rank = 0; rank < forest.num_nodes(); ++rank)
    if (!forest.is_root(rank))
      edges.push_back({forest.node[rank], forest.node[forest.parent[rank]], forest.edge_weight(rank)});
  return forest.is_weighted() ? graph_from_edges(forest.num_nodes(), edges)
                              : graph_from_pairs(forest.num_nodes(), edges);
}

Graph similarity_tree(const PointsView& points, SimilarityTree kind, double scale, const Execution& execution,
                      std::uint64_t* num_clamped) {
  if (points.is_sparse())
    throw UsageError{"points", "a tree of all pairs takes dense points, and these are sparse",
                     "give an array, or build a graph of nearest neighbours"};
  if (!(scale > 0) || !std::isfinite(scale))
    throw UsageError{"scale", "a tree of all pairs needs the width of its weights, above 0",
                     "give s of exp(-d^2 / s^2), about the distance of neighbours"};
  if (points.num_points > kMaxNodes)
    throw UsageError{"points", with_commas(points.num_points) + " points are too many", "take fewer"};
  const Similarity similarity = gaussian_similarity({points.values, points.num_columns}, 1 / (scale * scale));
  const SimilarityForest found = kind == SimilarityTree::spt
                                     ? shortest_similarity_forest(similarity, 0, execution)
                                     : minimum_similarity_forest(similarity, execution);
  if (num_clamped != nullptr) *num_clamped = found.num_clamped;
  return graph_of_tree(found.forest);
}

}  // namespace copse
