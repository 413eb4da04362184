// SPDX-License-Identifier: Apache-2.0
#include "trees/minimum.hpp"

#include "trees/edge_keys.hpp"
#include "trees/filter_kruskal.hpp"

namespace copse {
namespace {

/// Heaviest first: the order of weights, never of their rounded inverses.
struct HeaviestFirst {
  using Key = Weight;

  template <class Weights>
  Key key(NodeId, NodeId, const Weights& weights, EdgeIndex arc, Key) const {
    return -weights[arc];
  }
};

}  // namespace

SpanningForest minimum_forest(const GraphView& graph, std::span<const NodeId> roots, std::uint64_t index,
                              const Execution& execution) {
  if (graph.is_weighted()) return filter_kruskal_forest(graph, roots, HeaviestFirst{}, execution);
  return filter_kruskal_forest(graph, roots, UniformKeys{EdgeRandom{execution.seed, index}}, execution);
}

SpanningForest random_key_forest(const GraphView& graph, std::span<const NodeId> roots, std::uint64_t index,
                                 bool weighted, const Execution& execution) {
  const ForestArcs arcs = random_key_arcs(graph, roots.size(), index, weighted, execution);
  return root_forest(graph, arcs.source.span(), arcs.edges.span(), roots, siblings_of(index));
}

ForestArcs random_key_arcs(const GraphView& graph, std::size_t num_components, std::uint64_t index,
                           bool weighted, const Execution& execution) {
  const EdgeRandom random{execution.seed, index};
  if (weighted && graph.is_weighted())
    return filter_kruskal_arcs(graph, num_components, ExponentialKeys{random}, execution);
  // Only the order of the keys matters.
  return filter_kruskal_arcs(graph, num_components, UniformKeys{random}, execution);
}

}  // namespace copse
