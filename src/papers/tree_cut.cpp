// SPDX-License-Identifier: Apache-2.0
#include "papers/tree_cut.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "copse/graph/components.hpp"
#include "copse/laplacian/pseudoinverse.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "trees/parity.hpp"
#include "copse/trees/sample.hpp"
#include "papers/report.hpp"

namespace copse {

// --- edges of random trees

std::optional<TreeEdges> TreeEdges::exact(const GraphView& graph, const Execution& execution) {
  const NodeId n = graph.num_nodes();
  if (n > kDenseNodes && graph.num_edges() >= n) return std::nullopt;
  const std::size_t num_tree_edges = n - connected_components(graph, execution).count();
  if (graph.num_edges() == num_tree_edges) return TreeEdges(graph, 1);  // a forest
  if (n > kDenseNodes) return std::nullopt;
  TreeEdges edges(graph, 0);
  const std::vector<double> k = dense_pseudoinverse(graph, kDenseNodes);
  const auto at = [&](std::size_t u, std::size_t v) { return k[u * n + v]; };
  for_each_edge(graph, [&](NodeId u, NodeId v, EdgeIndex arc) {
    edges.probability_[arc] =
        static_cast<float>(std::min(1.0, graph.weight(arc) * (at(u, u) + at(v, v) - 2 * at(u, v))));
  });
  return edges.add_up(num_tree_edges) ? std::optional(std::move(edges)) : std::nullopt;
}

// Foster 1949: they sum up to the number of edges of a tree. Digits that a matrix has lost, where weights
// range over many orders, show here.
bool TreeEdges::add_up(std::size_t num_tree_edges) const {
  double sum = 0;
  for_each([&](NodeId, NodeId, EdgeIndex, double probability) { sum += probability; });
  const auto expected = static_cast<double>(num_tree_edges);
  return std::abs(sum - expected) <= 1e-6 * std::max(1.0, expected);
}

TreeEdges TreeEdges::sampled(const GraphView& graph, std::uint64_t num_trees, const Execution& execution) {
  TreeEdges edges(graph, 0);
  const TreeSampler sampler(graph, TreeKind::rst, execution);
  const float step = 1.0F / static_cast<float>(num_trees);
  for (std::uint64_t t = 0; t < num_trees; ++t) {
    execution.throw_if_cancelled();
    execution.report("trees", t, num_trees);
    const SpanningForest forest = sampler.tree(t);
    for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
      if (forest.is_root(rank)) continue;
      const auto [u, v] = std::minmax(forest.node[rank], forest.node[forest.parent[rank]]);
      const auto row = graph.neighbors_of(u);
      const auto place = std::lower_bound(row.begin(), row.end(), v) - row.begin();
      edges.probability_[graph.offsets[u] + static_cast<EdgeIndex>(place)] += step;
    }
  }
  return edges;
}

// --- the expected cut

namespace {

constexpr double kTolerance = 1e-6;  // of a resistance, relative
constexpr double kMostError = 1e-3;  // of the sum: beyond, weights range too widely for solves, not for trees
// Columns times (nodes + arcs): some seconds of solving, about what the trees would take.
constexpr std::uint64_t kAffordable = 20'000'000;

/// Whether the labels speak against the edge: they differ, or agree where the edge is negative.
bool is_cut(const GraphView& graph, std::span<const Label> labels, NodeId u, NodeId v) {
  if (u == v || labels[u] == kNoLabel || labels[v] == kNoLabel) return false;
  return (labels[u] == labels[v]) == (graph.is_signed() && is_negative_edge(graph, u, v));
}

/// Solves for the resistances of the cut edges, if they are few and their errors small.
std::optional<ExpectedTreeCut> by_solves(const GraphView& graph, std::span<const Label> labels,
                                         const Execution& execution) {
  std::vector<NodePair> cut;
  std::vector<double> weights;
  for_each_edge(graph, [&](NodeId u, NodeId v, EdgeIndex arc) {
    if (!is_cut(graph, labels, u, v)) return;
    cut.push_back({u, v});
    weights.push_back(graph.weight(arc));
  });
  if (cut.size() * (graph.num_nodes() + graph.num_arcs()) > kAffordable) return std::nullopt;
  ExpectedTreeCut result;
  const Estimates resistances = exact_resistances(graph.magnitudes(), cut, kTolerance, {}, execution);
  for (std::size_t i = 0; i < cut.size(); ++i) {
    result.value += weights[i] * resistances.value[i];
    result.error += weights[i] * resistances.error[i];
  }
  if (!(result.error <= kMostError * std::max(1.0, result.value))) return std::nullopt;
  return result;
}

ExpectedTreeCut by_trees(const GraphView& graph, std::span<const Label> labels, std::uint64_t num_trees,
                         const Execution& execution) {
  const TreeSampler sampler(graph.magnitudes(), TreeKind::rst, execution);
  std::vector<double> cuts(num_trees);
  std::atomic<std::uint64_t> done{0};
  parallel_for(execution, num_trees, [&](std::size_t t) {
    const SpanningForest forest = sampler.tree(t);
    for (NodeId rank = 0; rank < forest.num_nodes(); ++rank)
      cuts[t] += is_cut(graph, labels, forest.node[rank], forest.node[forest.parent[rank]]) ? 1 : 0;
    execution.report("trees", ++done, num_trees);
  });
  return {mean(cuts), standard_error(cuts), num_trees};
}

}  // namespace

ExpectedTreeCut expected_tree_cut(const GraphView& graph, std::span<const Label> labels,
                                  std::uint64_t num_trees, const Execution& execution) {
  if (labels.size() != graph.num_nodes())
    throw UsageError{"labels",
                     with_commas(labels.size()) + " labels for " + with_commas(graph.num_nodes()) + " nodes",
                     "give one label per node, kNoLabel where it is unknown"};
  if (num_trees < 1) throw UsageError{"num_trees", "no trees, no estimate", "give at least 1"};
  if (const auto edges = TreeEdges::exact(graph.magnitudes(), execution)) {
    ExpectedTreeCut result;
    edges->for_each([&](NodeId u, NodeId v, EdgeIndex, double probability) {
      if (is_cut(graph, labels, u, v)) result.value += probability;
    });
    return result;
  }
  std::optional<ExpectedTreeCut> solved;  // where the dense matrix lost digits, solves would as well
  if (graph.num_nodes() > TreeEdges::kDenseNodes) solved = by_solves(graph, labels, execution);
  return solved ? *solved : by_trees(graph, labels, num_trees, execution);
}

// --- the adversary

Adversary adversarial_labelling(const GraphView& graph, std::uint64_t budget, const Execution& execution) {
  constexpr std::uint64_t kTrees = 64;  // on graphs too large for exact figures
  const NodeId n = graph.num_nodes();
  if (budget < 1 || budget > n)
    throw UsageError{"adversary", with_commas(budget) + " coins for " + with_commas(n) + " nodes",
                     "give at least 1 and at most as many as there are nodes"};
  const std::optional<TreeEdges> exact = TreeEdges::exact(graph, execution);
  const TreeEdges edges = exact ? *exact : TreeEdges::sampled(graph, kTrees, execution);
  Adversary adversary;
  adversary.num_trees = exact ? 0 : kTrees;

  std::vector<double> weight(n);
  edges.for_each([&](NodeId u, NodeId v, EdgeIndex, double probability) {
    weight[u] += probability;
    weight[v] += probability;
  });
  std::vector<NodeId> order(n);
  std::iota(order.begin(), order.end(), NodeId{0});
  std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return weight[a] < weight[b]; });
  adversary.budget.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(budget));

  adversary.labels.classes.intern("+1");
  adversary.labels.classes.intern("-1");
  std::vector<Label>& labels = adversary.labels.of_node;
  labels.assign(n, kNoLabel);
  Stream coins{execution.seed, Purpose::adversary, 0};
  for (const NodeId node : adversary.budget) labels[node] = static_cast<Label>(coins.next32() & 1);

  // What either label of the others would cut: edges to coins that fell on the other side.
  double inner = 0, cut_by[2] = {0, 0};
  edges.for_each([&](NodeId u, NodeId v, EdgeIndex, double probability) {
    if (labels[u] != kNoLabel && labels[v] != kNoLabel)
      inner += labels[u] != labels[v] ? probability : 0;
    else if (labels[u] != kNoLabel || labels[v] != kNoLabel)
      cut_by[1 - (labels[u] != kNoLabel ? labels[u] : labels[v])] += probability;
  });
  const Label rest = cut_by[1] < cut_by[0] ? 1 : 0;
  std::replace(labels.begin(), labels.end(), kNoLabel, rest);
  adversary.expected_cut = inner + cut_by[rest];
  return adversary;
}

}  // namespace copse
