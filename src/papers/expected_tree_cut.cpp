// SPDX-License-Identifier: Apache-2.0
#include "papers/expected_tree_cut.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <vector>

#include "copse/graph/components.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/support/parallel.hpp"
#include "copse/trees/parity.hpp"
#include "copse/trees/sample.hpp"
#include "papers/tree_edges.hpp"

namespace copse {
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

std::vector<NodePair> cut_edges(const GraphView& graph, std::span<const Label> labels,
                                std::vector<double>& weights) {
  std::vector<NodePair> cut;
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      const NodeId v = graph.neighbors[arc];
      if (v < u || !is_cut(graph, labels, u, v)) continue;
      cut.push_back({u, v});
      weights.push_back(graph.weight(arc));
    }
  }
  return cut;
}

std::optional<ExpectedTreeCut> by_all_edges(const GraphView& graph, std::span<const Label> labels,
                                            const Execution& execution) {
  const TreeEdges edges(graph.magnitudes(), execution);
  if (edges.num_trees() > 0) return std::nullopt;
  ExpectedTreeCut result;
  edges.for_each([&](NodeId u, NodeId v, double probability) {
    if (is_cut(graph, labels, u, v)) result.value += probability;
  });
  return result;
}

std::optional<ExpectedTreeCut> by_solves(const GraphView& graph, std::span<const NodePair> cut,
                                         std::span<const double> weights, const Execution& execution) {
  ExpectedTreeCut result;
  const Estimates resistances = exact_resistances(graph.magnitudes(), cut, kTolerance, {}, execution);
  for (std::size_t i = 0; i < cut.size(); ++i) {
    result.value += weights[i] * resistances.value[i];
    result.error += weights[i] * resistances.error[i];
  }
  if (!(result.error <= kMostError * std::max(1.0, result.value))) return std::nullopt;
  return result;
}

std::uint64_t cut_size(const GraphView& graph, const SpanningForest& forest, std::span<const Label> labels) {
  std::uint64_t size = 0;
  for (NodeId rank = 0; rank < forest.num_nodes(); ++rank)
    size += is_cut(graph, labels, forest.node[rank], forest.node[forest.parent[rank]]) ? 1 : 0;
  return size;
}

ExpectedTreeCut by_trees(const GraphView& graph, std::span<const Label> labels, std::uint64_t num_trees,
                         const Execution& execution) {
  const TreeSampler sampler(graph.magnitudes(), TreeKind::rst, execution);
  std::vector<double> cuts(num_trees);
  std::atomic<std::uint64_t> done{0};
  parallel_for(execution.threads, num_trees, [&](std::size_t t) {
    execution.throw_if_cancelled();
    cuts[t] = static_cast<double>(cut_size(graph, sampler.tree(t), labels));
    execution.report("trees", ++done, num_trees);
  });
  const auto count = static_cast<double>(num_trees);
  double sum = 0, squares = 0;
  for (const double cut : cuts) sum += cut;
  for (const double cut : cuts) squares += (cut - sum / count) * (cut - sum / count);
  return {sum / count, num_trees > 1 ? std::sqrt(squares / (count - 1) / count) : 0, num_trees};
}

}  // namespace

ExpectedTreeCut expected_tree_cut(const GraphView& graph, std::span<const Label> labels,
                                  std::uint64_t num_trees, const Execution& execution) {
  if (labels.size() != graph.num_nodes())
    throw UsageError{"labels",
                     with_commas(labels.size()) + " labels for " + with_commas(graph.num_nodes()) + " nodes",
                     "give one label a node, kNoLabel where it is unknown"};
  if (num_trees < 1) throw UsageError{"num_trees", "no trees, no estimate", "give at least 1"};
  std::optional<ExpectedTreeCut> result;
  if (TreeEdges::may_be_exact(graph.magnitudes(), execution)) {
    result = by_all_edges(graph, labels, execution);
  } else {
    std::vector<double> weights;
    const std::vector<NodePair> cut = cut_edges(graph, labels, weights);
    if (cut.size() * (graph.num_nodes() + graph.num_arcs()) <= kAffordable)
      result = by_solves(graph, cut, weights, execution);
  }
  return result ? *result : by_trees(graph, labels, num_trees, execution);
}

}  // namespace copse
