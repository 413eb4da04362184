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
  const EdgeRandom random{execution.seed, index};
  if (weighted && graph.is_weighted())
    return filter_kruskal_forest(graph, roots, ExponentialKeys{random}, execution);
  return filter_kruskal_forest(graph, roots, UniformKeys{random},
                               execution);  // only the order of the keys matters
}

}  // namespace copse
