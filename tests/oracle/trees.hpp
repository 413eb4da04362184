// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "copse/graph/build.hpp"
#include "copse/trees/spanning_forest.hpp"

// Spanning trees the slow way: every one of them, or one by the definition.

namespace copse::oracle {

using EdgeSet = std::vector<std::pair<NodeId, NodeId>>;  // pairs (smaller, larger), sorted
using TreeLaw = std::map<EdgeSet, double>;               // probability of each tree

/// Every edge once, u < v, in the order of the rows.
inline std::vector<Edge> edge_list(const GraphView& graph) {
  std::vector<Edge> edges;
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      if (u < graph.neighbors[arc]) edges.push_back({u, graph.neighbors[arc], graph.weight(arc)});
  return edges;
}

inline EdgeSet edge_set(const SpanningForest& forest) {
  EdgeSet edges;
  for (NodeId rank = 0; rank < forest.num_nodes(); ++rank)
    if (!forest.is_root(rank))
      edges.push_back(std::minmax({forest.node[rank], forest.node[forest.parent[rank]]}));
  std::sort(edges.begin(), edges.end());
  return edges;
}

/// Union-find without pointers to chase: one label per node, and the smaller part relabelled on every union.
class Partition {
 public:
  explicit Partition(NodeId num_nodes) : label_(num_nodes), smallest_(num_nodes), members_(num_nodes) {
    for (NodeId u = 0; u < num_nodes; ++u) label_[u] = smallest_[u] = u, members_[u] = {u};
  }
  bool join(NodeId u, NodeId v) {
    NodeId to = label_[u], from = label_[v];
    if (from == to) return false;
    if (members_[from].size() > members_[to].size()) std::swap(from, to);
    for (const NodeId member : members_[from]) label_[member] = to;
    members_[to].insert(members_[to].end(), members_[from].begin(), members_[from].end());
    members_[from].clear();
    smallest_[to] = std::min(smallest_[to], smallest_[from]);
    return true;
  }
  /// The smallest node of the part of `u`.
  NodeId of(NodeId u) const { return smallest_[label_[u]]; }

 private:
  std::vector<NodeId> label_, smallest_;
  std::vector<std::vector<NodeId>> members_;
};

/// The smallest node of every component, in order.
inline std::vector<NodeId> smallest_nodes(const GraphView& graph) {
  Partition parts(graph.num_nodes());
  for (const Edge& edge : edge_list(graph)) parts.join(edge.u, edge.v);
  std::vector<NodeId> result;
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    if (parts.of(u) == u) result.push_back(u);
  return result;
}

/// Calls `use` with every spanning forest (one tree a component), by taking or leaving each edge.
inline void for_each_spanning_forest(const GraphView& graph,
                                     const std::function<void(const std::vector<Edge>&)>& use) {
  const std::vector<Edge> edges = edge_list(graph);
  const std::size_t size = graph.num_nodes() - smallest_nodes(graph).size();
  std::vector<Edge> chosen;
  const std::function<void(std::size_t, const Partition&)> extend = [&](std::size_t k,
                                                                        const Partition& parts) {
    if (chosen.size() == size) return use(chosen);
    if (edges.size() - k < size - chosen.size()) return;
    Partition joined = parts;
    if (joined.join(edges[k].u, edges[k].v)) {
      chosen.push_back(edges[k]);
      extend(k + 1, joined);
      chosen.pop_back();
    }
    extend(k + 1, parts);
  };
  extend(0, Partition(graph.num_nodes()));
}

inline EdgeSet pairs_of(const std::vector<Edge>& edges) {
  EdgeSet pairs;
  for (const Edge& edge : edges) pairs.push_back(std::minmax({edge.u, edge.v}));
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// The products of weights of all spanning forests, not divided by their sum.
inline TreeLaw tree_weights(const GraphView& graph) {
  TreeLaw law;
  for_each_spanning_forest(graph, [&](const std::vector<Edge>& edges) {
    double product = 1;
    for (const Edge& edge : edges) product *= edge.weight;
    law[pairs_of(edges)] = product;
  });
  return law;
}

inline double total(const TreeLaw& law) {
  double sum = 0;
  for (const auto& [tree, probability] : law) sum += probability;
  return sum;
}

/// P(T) proportional to the product of weights.
inline TreeLaw random_tree_law(const GraphView& graph) {
  TreeLaw law = tree_weights(graph);
  const double sum = total(law);
  for (auto& [tree, probability] : law) probability /= sum;
  return law;
}

/// Every tree alike.
inline TreeLaw uniform_tree_law(const GraphView& graph) {
  TreeLaw law = tree_weights(graph);
  for (auto& [tree, probability] : law) probability = 1.0 / static_cast<double>(law.size());
  return law;
}

/// The law of the depth-first tree of a connected graph by following every choice: uniform root, then from
/// the node on top of the stack each unvisited neighbour in proportion to its weight.
inline TreeLaw depth_first_law(const GraphView& graph) {
  TreeLaw law;
  EdgeSet tree;
  std::vector<bool> visited(graph.num_nodes());
  std::vector<NodeId> stack;
  const std::function<void(double)> go = [&](double probability) {
    if (stack.empty()) {
      EdgeSet sorted = tree;
      std::sort(sorted.begin(), sorted.end());
      law[sorted] += probability;
      return;
    }
    const NodeId u = stack.back();
    double sum = 0;
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      if (!visited[graph.neighbors[arc]]) sum += graph.weight(arc);
    if (sum == 0) {
      stack.pop_back();
      go(probability);
      stack.push_back(u);
      return;
    }
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      const NodeId v = graph.neighbors[arc];
      if (visited[v]) continue;
      visited[v] = true;
      stack.push_back(v);
      tree.push_back(std::minmax({u, v}));
      go(probability * graph.weight(arc) / sum);
      tree.pop_back();
      stack.pop_back();
      visited[v] = false;
    }
  };
  for (NodeId root = 0; root < graph.num_nodes(); ++root) {
    visited[root] = true;
    stack.push_back(root);
    go(1.0 / graph.num_nodes());
    stack.pop_back();
    visited[root] = false;
  }
  return law;
}

/// Kruskal by the book: all edges sorted by (key, smaller end, larger end).
template <class Key>
EdgeSet minimum_forest_by(const GraphView& graph, const Key& key) {
  std::vector<Edge> edges = edge_list(graph), chosen;
  std::sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) {
    return std::tuple(key(a), a.u, a.v) < std::tuple(key(b), b.u, b.v);
  });
  Partition parts(graph.num_nodes());
  for (const Edge& edge : edges)
    if (parts.join(edge.u, edge.v)) chosen.push_back(edge);
  return pairs_of(chosen);
}

/// The law of the minimum tree of keys Exp(1)/w: keys are a race, so the next edge Kruskal takes is each of
/// those that join two parts with probability proportional to its weight.
inline TreeLaw random_key_law(const GraphView& graph) {
  const std::vector<Edge> edges = edge_list(graph);
  TreeLaw law;
  std::vector<Edge> chosen;
  const std::function<void(double, const Partition&)> go = [&](double probability, const Partition& parts) {
    double sum = 0;
    for (const Edge& edge : edges)
      if (parts.of(edge.u) != parts.of(edge.v)) sum += edge.weight;
    if (sum == 0) {
      law[pairs_of(chosen)] += probability;
      return;
    }
    for (const Edge& edge : edges) {
      Partition joined = parts;
      if (!joined.join(edge.u, edge.v)) continue;
      chosen.push_back(edge);
      go(probability * edge.weight / sum, joined);
      chosen.pop_back();
    }
  };
  go(1, Partition(graph.num_nodes()));
  return law;
}

/// Resistance of the shortest path between all pairs (Floyd-Warshall); infinite between components.
inline std::vector<std::vector<double>> shortest_distances(const GraphView& graph) {
  const std::size_t n = graph.num_nodes();
  std::vector<std::vector<double>> distance(n,
                                            std::vector<double>(n, std::numeric_limits<double>::infinity()));
  for (std::size_t u = 0; u < n; ++u) distance[u][u] = 0;
  for (const Edge& edge : edge_list(graph)) {
    distance[edge.u][edge.v] = 1 / static_cast<double>(edge.weight);
    distance[edge.v][edge.u] = distance[edge.u][edge.v];
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        distance[i][j] = std::min(distance[i][j], distance[i][k] + distance[k][j]);
  return distance;
}

/// The forest as a graph, for twins that want one.
inline Graph as_graph(const SpanningForest& forest) {
  std::vector<Edge> edges;
  for (NodeId rank = 0; rank < forest.num_nodes(); ++rank)
    if (!forest.is_root(rank))
      edges.push_back({forest.node[rank], forest.node[forest.parent[rank]], forest.edge_weight(rank)});
  return forest.is_weighted() ? graph_from_edges(forest.num_nodes(), edges)
                              : graph_from_pairs(forest.num_nodes(), edges);
}

}  // namespace copse::oracle
