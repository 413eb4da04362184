// SPDX-License-Identifier: Apache-2.0
#include "trees/complete.hpp"

#include <algorithm>

#include "copse/support/buffer.hpp"
#include "trees/edge_keys.hpp"
#include "trees/filter_kruskal.hpp"
#include "trees/find_arc.hpp"

namespace copse {
namespace {

template <class Keys>
SpanningForest complete(const GraphView& graph, const WilsonResult& part, const Keys& keys,
                        std::span<const NodeId> roots, Execution execution) {
  execution.threads = 1;  // committees run a tree a thread
  const std::size_t num_edges = graph.num_nodes() - roots.size();
  Buffer<NodeId> source(num_edges);
  Buffer<EdgeIndex> edges(num_edges);
  FilterKruskal<Keys> kruskal(graph, keys, execution);
  std::size_t num_given = 0;
  for (NodeId rank = 0; rank < part.num_ranked; ++rank) {
    if (part.forest.is_root(rank)) continue;
    const NodeId u = part.forest.node[rank], parent = part.forest.node[part.forest.parent[rank]];
    kruskal.join(u, parent);
    source[num_given] = u;
    edges[num_given++] = find_arc(graph, u, parent);
  }
  kruskal.run(source.span(), edges.span(), num_given);
  return root_forest(graph, source.span(), edges.span(), roots);
}

}  // namespace

SpanningForest complete_by_keys(const GraphView& graph, const WilsonResult& part, bool weighted,
                                std::span<const NodeId> roots, const Execution& execution,
                                std::uint64_t index) {
  const EdgeRandom random{execution.seed, index};
  if (weighted && graph.is_weighted())
    return complete(graph, part, ExponentialKeys{random}, roots, execution);
  return complete(graph, part, UniformKeys{random}, roots, execution);
}

}  // namespace copse
