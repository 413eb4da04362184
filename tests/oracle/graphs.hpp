// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "copse/graph/build.hpp"

// Graphs for tests: small named ones and random ones. The random ones draw from std::mt19937_64, whose
// output the standard fixes, so that they share no code with copse's own streams.

namespace copse::oracle {

struct RandomGraph {
  NodeId num_nodes = 10;
  std::uint64_t num_edges = 20;  // brought between n - 1 and n (n - 1) / 2
  std::uint64_t seed = 1;
  bool weighted = false;  // weights 2^-5 ... 2^5, log-uniform
};

inline Weight random_weight(std::mt19937_64& random) {
  return static_cast<Weight>(std::exp2(static_cast<double>(random() % 10001) / 1000.0 - 5));
}

/// Each node hangs below a random earlier one, under shuffled names.
inline std::vector<Edge> random_tree_edges(NodeId num_nodes, std::mt19937_64& random, bool weighted) {
  std::vector<NodeId> name(num_nodes);
  for (NodeId u = 0; u < num_nodes; ++u) name[u] = u;
  for (NodeId u = num_nodes; u > 1; --u) std::swap(name[u - 1], name[random() % u]);
  std::vector<Edge> edges;
  for (NodeId u = 1; u < num_nodes; ++u) {
    const NodeId parent = static_cast<NodeId>(random() % u);
    edges.push_back({name[u], name[parent], weighted ? random_weight(random) : Weight{1}});
  }
  return edges;
}

inline Graph make_graph(NodeId num_nodes, const std::vector<Edge>& edges, bool weighted) {
  return weighted ? graph_from_edges(num_nodes, edges) : graph_from_pairs(num_nodes, edges);
}

inline Graph random_tree(const RandomGraph& wanted) {
  std::mt19937_64 random(wanted.seed);
  return make_graph(wanted.num_nodes, random_tree_edges(wanted.num_nodes, random, wanted.weighted),
                    wanted.weighted);
}

/// The edges of random_connected_graph, for twins that want a list instead of a Graph.
inline std::vector<Edge> random_connected_edges(const RandomGraph& wanted) {
  std::mt19937_64 random(wanted.seed);
  const std::uint64_t n = wanted.num_nodes;
  std::vector<Edge> edges = random_tree_edges(wanted.num_nodes, random, wanted.weighted);
  std::set<std::pair<NodeId, NodeId>> known;
  for (const Edge& edge : edges) known.insert(std::minmax(edge.u, edge.v));
  const std::uint64_t most = n * (n - std::min<std::uint64_t>(n, 1)) / 2;
  while (edges.size() < std::min(wanted.num_edges, most)) {
    const auto u = static_cast<NodeId>(random() % n), v = static_cast<NodeId>(random() % n);
    if (u == v || !known.insert(std::minmax(u, v)).second) continue;
    edges.push_back({u, v, wanted.weighted ? random_weight(random) : Weight{1}});
  }
  return edges;
}

inline Graph random_connected_graph(const RandomGraph& wanted) {
  return make_graph(wanted.num_nodes, random_connected_edges(wanted), wanted.weighted);
}

/// Any number of components and isolated nodes.
inline Graph random_graph(const RandomGraph& wanted) {
  std::mt19937_64 random(wanted.seed);
  const std::uint64_t n = wanted.num_nodes, most = n * (n - std::min<std::uint64_t>(n, 1)) / 2;
  std::vector<Edge> edges;
  std::set<std::pair<NodeId, NodeId>> known;
  while (edges.size() < std::min(wanted.num_edges, most)) {
    const auto u = static_cast<NodeId>(random() % n), v = static_cast<NodeId>(random() % n);
    if (u == v || !known.insert(std::minmax(u, v)).second) continue;
    edges.push_back({u, v, wanted.weighted ? random_weight(random) : Weight{1}});
  }
  return make_graph(wanted.num_nodes, edges, wanted.weighted);
}

// Small graphs with names. Unweighted; node 0 is an end of the path, the centre of the star.

inline Graph path(NodeId num_nodes) {
  std::vector<Edge> edges;
  for (NodeId u = 1; u < num_nodes; ++u) edges.push_back({u - 1, u});
  return graph_from_pairs(num_nodes, edges);
}

inline Graph cycle(NodeId num_nodes) {
  std::vector<Edge> edges;
  for (NodeId u = 0; u < num_nodes; ++u) edges.push_back({u, (u + 1) % num_nodes});
  return graph_from_pairs(num_nodes, edges);
}

inline Graph star(NodeId num_nodes) {
  std::vector<Edge> edges;
  for (NodeId u = 1; u < num_nodes; ++u) edges.push_back({0, u});
  return graph_from_pairs(num_nodes, edges);
}

inline Graph complete(NodeId num_nodes) {
  std::vector<Edge> edges;
  for (NodeId u = 0; u < num_nodes; ++u)
    for (NodeId v = u + 1; v < num_nodes; ++v) edges.push_back({u, v});
  return graph_from_pairs(num_nodes, edges);
}

inline Graph grid(NodeId rows, NodeId columns) {
  std::vector<Edge> edges;
  for (NodeId r = 0; r < rows; ++r) {
    for (NodeId c = 0; c < columns; ++c) {
      if (c + 1 < columns) edges.push_back({r * columns + c, r * columns + c + 1});
      if (r + 1 < rows) edges.push_back({r * columns + c, (r + 1) * columns + c});
    }
  }
  return graph_from_pairs(rows * columns, edges);
}

/// A triangle {0, 2, 4} with weights 1, 2, 4, a path 1 - 3 - 5 with weights 1/2 and 8, and node 6 alone.
inline Graph two_components_and_an_isolated_node() {
  return graph_from_edges(7, {{0, 2, 1.0F}, {2, 4, 2.0F}, {0, 4, 4.0F}, {1, 3, 0.5F}, {3, 5, 8.0F}});
}

inline Graph single_node() { return graph_from_pairs(1, {}); }
inline Graph isolated_nodes(NodeId num_nodes) { return graph_from_pairs(num_nodes, {}); }

/// For tests that run over "every kind of small graph"; the name goes into SCOPED_TRACE.
struct NamedTestGraph {
  std::string name;
  Graph graph;
};

inline std::vector<NamedTestGraph> small_graphs() {
  std::vector<NamedTestGraph> graphs;
  graphs.push_back({"single node", single_node()});
  graphs.push_back({"two isolated nodes", isolated_nodes(2)});
  graphs.push_back({"one edge", path(2)});
  graphs.push_back({"path of 7", path(7)});
  graphs.push_back({"cycle of 6", cycle(6)});
  graphs.push_back({"star of 8", star(8)});
  graphs.push_back({"complete graph of 5", complete(5)});
  graphs.push_back({"grid of 4 x 5", grid(4, 5)});
  graphs.push_back({"two components and an isolated node", two_components_and_an_isolated_node()});
  graphs.push_back(
      {"random connected", random_connected_graph({.num_nodes = 30, .num_edges = 60, .seed = 1})});
  graphs.push_back({"random connected, weighted",
                    random_connected_graph({.num_nodes = 30, .num_edges = 60, .seed = 2, .weighted = true})});
  graphs.push_back({"random tree, weighted", random_tree({.num_nodes = 25, .seed = 3, .weighted = true})});
  graphs.push_back({"random with several components, weighted",
                    random_graph({.num_nodes = 40, .num_edges = 30, .seed = 4, .weighted = true})});
  return graphs;
}

}  // namespace copse::oracle
