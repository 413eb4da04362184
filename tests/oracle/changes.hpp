// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>

#include "oracle/graphs.hpp"

namespace copse::oracle {

/// A graph that changes, as a plain map of edges, and random changes of it: edges that come, go, or take
/// another weight, and nodes that come.
struct Changes {
  NodeId num_nodes;
  bool weighted;
  std::map<std::pair<NodeId, NodeId>, Weight> edges;
  std::mt19937_64 random;

  Changes(const RandomGraph& start)
      : num_nodes(start.num_nodes), weighted(start.weighted), random(start.seed + 1000) {
    for (const Edge& edge : random_connected_edges(start)) edges[std::minmax(edge.u, edge.v)] = edge.weight;
  }

  Graph graph() const {
    std::vector<Edge> list;
    for (const auto& [pair, weight] : edges) list.push_back({pair.first, pair.second, weight});
    return make_graph(num_nodes, list, weighted);
  }

  /// One change, told to add_node(), add_edge(u, v, weight) or remove_edge(u, v) as well.
  template <class Committee>
  void step(Committee&& committee) {
    const auto kind = random() % 8;
    if (kind == 0) {
      ++num_nodes;
      committee.add_node();
    } else if (kind < 4 && edges.size() > 1) {  // a graph without edges has no weights
      const auto edge = std::next(edges.begin(), static_cast<std::ptrdiff_t>(random() % edges.size()));
      const auto [u, v] = edge->first;
      edges.erase(edge);
      committee.remove_edge(v, u);
    } else {
      const auto u = static_cast<NodeId>(random() % num_nodes), v = static_cast<NodeId>(random() % num_nodes);
      if (u == v) return;
      const Weight weight = weighted ? random_weight(random) : Weight{1};
      edges[std::minmax(u, v)] = weight;
      committee.add_edge(u, v, weight);
    }
  }
};

}  // namespace copse::oracle
