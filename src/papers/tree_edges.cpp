// SPDX-License-Identifier: Apache-2.0
#include "papers/tree_edges.hpp"

#include <algorithm>
#include <cmath>

#include "copse/graph/components.hpp"
#include "copse/laplacian/pseudoinverse.hpp"
#include "copse/trees/sample.hpp"

namespace copse {
namespace {

EdgeIndex arc_between(const GraphView& graph, NodeId u, NodeId v) {
  const auto row = graph.neighbors_of(u);
  return graph.offsets[u] + static_cast<EdgeIndex>(std::lower_bound(row.begin(), row.end(), v) - row.begin());
}

bool is_forest(const GraphView& graph, const Execution& execution) {
  return graph.num_edges() < graph.num_nodes() &&
         graph.num_edges() + connected_components(graph, execution).count() == graph.num_nodes();
}

}  // namespace

bool TreeEdges::may_be_exact(const GraphView& graph, const Execution& execution) {
  return graph.num_nodes() <= kDenseNodes || is_forest(graph, execution);
}

TreeEdges::TreeEdges(const GraphView& graph, const Execution& execution, std::uint64_t num_trees)
    : graph_(graph), probability_(graph.num_arcs()) {
  const NodeId n = graph.num_nodes();
  if (is_forest(graph, execution)) {
    std::fill(probability_.begin(), probability_.end(), 1.0F);
  } else if (n <= kDenseNodes) {
    const std::vector<double> k = dense_pseudoinverse(graph, kDenseNodes);
    const auto at = [&](std::size_t u, std::size_t v) { return k[u * n + v]; };
    for (NodeId u = 0; u < n; ++u) {
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
        const NodeId v = graph.neighbors[arc];
        probability_[arc] =
            static_cast<float>(std::min(1.0, graph.weight(arc) * (at(u, u) + at(v, v) - 2 * at(u, v))));
      }
    }
    if (!add_up(n - connected_components(graph, execution).count())) sample(execution, num_trees);
  } else {
    sample(execution, num_trees);
  }
}

// Foster 1949: they sum up to the number of edges of a tree. Digits that a matrix has lost, where weights
// range over many orders, show here.
bool TreeEdges::add_up(std::size_t num_tree_edges) const {
  double sum = 0;
  for_each([&](NodeId, NodeId, double probability) { sum += probability; });
  const auto expected = static_cast<double>(num_tree_edges);
  return std::abs(sum - expected) <= 1e-6 * std::max(1.0, expected);
}

void TreeEdges::sample(const Execution& execution, std::uint64_t num_trees) {
  num_trees_ = num_trees;
  std::fill(probability_.begin(), probability_.end(), 0.0F);
  const TreeSampler sampler(graph_, TreeKind::rst, execution);
  const float step = 1.0F / static_cast<float>(num_trees);
  for (std::uint64_t t = 0; t < num_trees; ++t) {
    execution.throw_if_cancelled();
    execution.report("trees", t, num_trees);
    const SpanningForest forest = sampler.tree(t);
    for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
      if (forest.is_root(rank)) continue;
      const NodeId a = forest.node[rank], b = forest.node[forest.parent[rank]];
      probability_[arc_between(graph_, std::min(a, b), std::max(a, b))] += step;
    }
  }
}

}  // namespace copse
