// SPDX-License-Identifier: Apache-2.0
#include "evaluation/tree_edges.hpp"

#include <algorithm>

#include "copse/graph/components.hpp"
#include "copse/kernels/pseudoinverse.hpp"
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

bool TreeEdges::are_exact(const GraphView& graph, const Execution& execution) {
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
  } else {
    sample(execution, num_trees);
  }
}

void TreeEdges::sample(const Execution& execution, std::uint64_t num_trees) {
  num_trees_ = num_trees;
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
