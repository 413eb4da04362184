// SPDX-License-Identifier: Apache-2.0
#include "trees/parity.hpp"

#include <algorithm>

namespace copse {

bool is_negative_edge(const GraphView& graph, NodeId u, NodeId v) {
  if (graph.degree(u) > graph.degree(v)) std::swap(u, v);
  const auto row = graph.neighbors_of(u);
  const auto place = std::lower_bound(row.begin(), row.end(), v) - row.begin();
  return graph.is_negative(graph.offsets[u] + static_cast<EdgeIndex>(place));
}

TreeParity::TreeParity(const GraphView& graph, const SpanningForest& forest) {
  if (!graph.is_signed()) return;
  words_ = Buffer<std::uint64_t>((std::size_t{graph.num_nodes()} + 63) / 64);
  for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
    if (forest.is_root(rank)) continue;
    const NodeId node = forest.node[rank], above = forest.node[forest.parent[rank]];
    const bool side = is_other_side(above) != is_negative_edge(graph, node, above);
    words_[node / 64] |= static_cast<std::uint64_t>(side) << (node % 64);
  }
}

}  // namespace copse
