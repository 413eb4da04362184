// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/subgraph.hpp"

namespace copse {

Subgraph component_subgraph(const GraphView& graph, const Components& components, NodeId component) {
  Subgraph sub;
  std::vector<NodeId> place(graph.num_nodes(), kNoNode);
  EdgeIndex num_arcs = 0;
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    if (components.of_node[u] != component) continue;
    place[u] = static_cast<NodeId>(sub.nodes.size());
    sub.nodes.push_back(u);
    num_arcs += graph.degree(u);
  }
  // Nodes keep their order, so that rows stay sorted.
  Buffer<EdgeIndex> offsets(sub.nodes.size() + 1);
  Buffer<NodeId> neighbors(num_arcs);
  Buffer<Weight> weights(graph.is_weighted() ? num_arcs : 0);
  Buffer<std::uint64_t> negative(graph.is_signed() ? num_sign_words(num_arcs) : 0);
  EdgeIndex next = 0;
  for (std::size_t i = 0; i < sub.nodes.size(); ++i) {
    offsets[i] = next;
    const NodeId u = sub.nodes[i];
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc, ++next) {
      neighbors[next] = place[graph.neighbors[arc]];
      if (graph.is_weighted()) weights[next] = graph.weights[arc];
      if (graph.is_negative(arc)) negative[next / 64] |= std::uint64_t{1} << (next % 64);
    }
  }
  offsets[sub.nodes.size()] = next;
  sub.graph = Graph(std::move(offsets), std::move(neighbors), std::move(weights), std::move(negative));
  return sub;
}

}  // namespace copse
