// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/spanning_forest.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "trees/prefetch.hpp"

namespace copse {
namespace {

struct PlainLink {
  NodeId node;
  void set_weight(Weight) {}
  Weight get_weight() const { return 1; }
};
struct WeightedLink {
  NodeId node;
  Weight weight;
  void set_weight(Weight w) { weight = w; }
  Weight get_weight() const { return weight; }
};

/// The edges of a forest, named by their arcs in a graph, or in columns.
struct ArcsOfGraph {
  const GraphView& graph;
  std::span<const NodeId> source;
  std::span<const EdgeIndex> edges;

  NodeId num_nodes() const { return graph.num_nodes(); }
  std::size_t size() const { return edges.size(); }
  NodeId u(std::size_t k) const { return source[k]; }
  NodeId v(std::size_t k) const { return graph.neighbors[edges[k]]; }
  Weight weight(std::size_t k) const { return graph.weight(edges[k]); }
};
struct Columns {
  NodeId nodes;
  std::span<const NodeId> one, other;
  std::span<const Weight> weights;

  NodeId num_nodes() const { return nodes; }
  std::size_t size() const { return one.size(); }
  NodeId u(std::size_t k) const { return one[k]; }
  NodeId v(std::size_t k) const { return other[k]; }
  Weight weight(std::size_t k) const { return weights.empty() ? Weight{1} : weights[k]; }
};

/// The adjacency of the forest alone, rows in the order of the edges, or of the nodes. Offsets take 4 bytes
/// where they fit (n <= 2^31), a link 4 or 8: at most 20 bytes per node beside the result up to there, 24
/// beyond.
template <class Offset, class Link>
struct TreeRows {
  Buffer<Offset> offsets;
  Buffer<Link> links;

  template <class Edges>
  TreeRows(const Edges& edges, Siblings siblings)
      : offsets(std::size_t{edges.num_nodes()} + 1), links(2 * edges.size()) {
    for (std::size_t k = 0; k < edges.size(); ++k) {
      ++offsets[edges.u(k)];
      ++offsets[edges.v(k)];
    }
    for (std::size_t u = 1; u < offsets.size(); ++u) offsets[u] += offsets[u - 1];
    // From the last edge to the first, each row filled from its end: the rows come out in edge order and
    // the offsets, which were ends, become beginnings.
    for (std::size_t k = edges.size(); k-- > 0;) {
      const NodeId u = edges.u(k), v = edges.v(k);
      const Weight weight = edges.weight(k);
      place(u, v, weight);
      place(v, u, weight);
    }
    if (siblings == Siblings::by_edge) return;
    for (std::size_t u = 0; u < edges.num_nodes(); ++u)
      std::sort(links.begin() + offsets[u], links.begin() + offsets[u + 1],
                [](const Link& a, const Link& b) { return a.node < b.node; });
  }

 private:
  void place(NodeId u, NodeId v, Weight weight) {
    Link& link = links[--offsets[u]];
    link.node = v;
    link.set_weight(weight);
  }
};

template <class Offset, class Link, class Edges>
SpanningForest breadth_first(const Edges& edges, bool is_weighted, std::span<const NodeId> roots,
                             Siblings siblings) {
  const std::size_t n = edges.num_nodes();
  const TreeRows<Offset, Link> rows(edges, siblings);
  SpanningForest forest;
  forest.node = Buffer<NodeId>(n);
  forest.parent = Buffer<NodeId>(n);
  if (is_weighted) forest.weight = Buffer<Weight>(n);

  constexpr std::size_t kRowsAhead = 12;  // queued nodes whose rows are fetched before they are needed
  std::size_t head = 0, tail = 0;
  const auto append = [&](NodeId node, std::size_t parent) {
    if (tail == n)
      throw std::logic_error("root_forest: the edges contain a cycle, or a component has two roots");
    forest.node[tail] = node;
    forest.parent[tail] = static_cast<NodeId>(parent);
    return tail++;
  };
  for (const NodeId root : roots) {
    append(root, tail);
    for (; head < tail; ++head) {
      if (head + 2 * kRowsAhead < tail) __builtin_prefetch(&rows.offsets[forest.node[head + 2 * kRowsAhead]]);
      if (head + kRowsAhead < tail)
        __builtin_prefetch(&rows.links[rows.offsets[forest.node[head + kRowsAhead]]]);
      const NodeId u = forest.node[head];
      // In a tree the only neighbour seen before is the parent: no array of marks is needed.
      const NodeId parent = forest.parent[head] == head ? kNoNode : forest.node[forest.parent[head]];
      for (Offset i = rows.offsets[u]; i < rows.offsets[u + 1]; ++i) {
        const Link& link = rows.links[i];
        if (link.node == parent) continue;
        const std::size_t rank = append(link.node, head);
        if (!forest.weight.empty()) forest.weight[rank] = link.get_weight();
      }
    }
  }
  if (tail != n) throw std::logic_error("root_forest: the edges and roots do not reach every node");
  return forest;
}

template <class Edges>
SpanningForest root_edges(const Edges& edges, bool is_weighted, std::span<const NodeId> roots,
                          Siblings siblings) {
  if (edges.size() + roots.size() != edges.num_nodes())
    throw std::logic_error("root_forest: a forest of " + std::to_string(edges.num_nodes()) + " nodes and " +
                           std::to_string(roots.size()) + " trees cannot have " +
                           std::to_string(edges.size()) + " edges");
  const bool narrow = 2 * edges.size() <= std::numeric_limits<std::uint32_t>::max();
  if (is_weighted)
    return narrow ? breadth_first<std::uint32_t, WeightedLink>(edges, true, roots, siblings)
                  : breadth_first<std::uint64_t, WeightedLink>(edges, true, roots, siblings);
  return narrow ? breadth_first<std::uint32_t, PlainLink>(edges, false, roots, siblings)
                : breadth_first<std::uint64_t, PlainLink>(edges, false, roots, siblings);
}

[[noreturn]] void broken(const std::string& what) { throw std::logic_error("check_forest: " + what); }

void check_edge_to_parent(const GraphView& graph, const SpanningForest& forest, std::size_t rank) {
  const NodeId u = forest.node[rank], v = forest.node[forest.parent[rank]];
  const auto row = graph.neighbors_of(u);
  const auto found = std::lower_bound(row.begin(), row.end(), v);
  const std::string name = std::to_string(u) + "-" + std::to_string(v);
  if (found == row.end() || *found != v) broken("edge " + name + " is not in the graph");
  const EdgeIndex arc = graph.offsets[u] + static_cast<EdgeIndex>(found - row.begin());
  if (graph.is_weighted() && forest.weight[rank] != graph.weights[arc])
    broken("wrong weight on edge " + name);
}

}  // namespace

SpanningForest root_forest(const GraphView& graph, std::span<const NodeId> source,
                           std::span<const EdgeIndex> edges, std::span<const NodeId> roots,
                           Siblings siblings) {
  if (source.size() != edges.size()) throw std::logic_error("root_forest: edges without a source");
  return root_edges(ArcsOfGraph{graph, source, edges}, graph.is_weighted(), roots, siblings);
}

SpanningForest root_forest(NodeId num_nodes, std::span<const NodeId> u, std::span<const NodeId> v,
                           std::span<const Weight> weights, bool is_weighted, std::span<const NodeId> roots,
                           Siblings siblings) {
  if (u.size() != v.size() || (is_weighted && weights.size() != u.size()))
    throw std::logic_error("root_forest: columns of different lengths");
  return root_edges(Columns{num_nodes, u, v, weights}, is_weighted, roots, siblings);
}

Buffer<NodeId> subtree_sizes(const SpanningForest& forest) {
  auto size = Buffer<NodeId>::for_overwrite(forest.num_nodes());
  std::fill(size.begin(), size.end(), 1);
  constexpr NodeId kAhead = 32;                          // parents lie anywhere in memory
  for (NodeId rank = forest.num_nodes(); rank-- > 0;) {  // children before parents
    prefetch(&size[forest.parent[rank < kAhead ? 0 : rank - kAhead]]);
    if (!forest.is_root(rank)) size[forest.parent[rank]] += size[rank];
  }
  return size;
}

void check_forest(const GraphView& graph, const SpanningForest& forest) {
  const std::size_t n = graph.num_nodes();
  if (forest.node.size() != n || forest.parent.size() != n) broken("wrong number of nodes");
  if (forest.weight.size() != (graph.is_weighted() ? n : 0)) broken("wrong number of weights");

  std::vector<NodeId> tree_of(n, kNoNode);  // by node: the number of its tree
  std::vector<NodeId> smallest;             // node, by tree
  for (std::size_t rank = 0; rank < n; ++rank) {
    const NodeId u = forest.node[rank], parent = forest.parent[rank];
    if (u >= n) broken("node " + std::to_string(u) + " does not exist");
    if (tree_of[u] != kNoNode) broken("node " + std::to_string(u) + " is listed twice");
    if (parent > rank) broken("rank " + std::to_string(rank) + " comes before its parent");
    if (parent == rank) {
      if (graph.is_weighted() && forest.weight[rank] != 0) broken("a root has an edge weight");
      tree_of[u] = static_cast<NodeId>(smallest.size());
      smallest.push_back(u);
    } else {
      check_edge_to_parent(graph, forest, rank);
      tree_of[u] = tree_of[forest.node[parent]];
      smallest[tree_of[u]] = std::min(smallest[tree_of[u]], u);
    }
  }
  // A tree is connected through edges of the graph, so it lies within one component; if no edge leaves
  // it, it is the component.
  for (NodeId u = 0; u < n; ++u)
    for (const NodeId v : graph.neighbors_of(u))
      if (tree_of[u] != tree_of[v])
        broken("edge " + std::to_string(u) + "-" + std::to_string(v) + " joins two trees");
  if (!std::is_sorted(smallest.begin(), smallest.end()))
    broken("roots are not in the order of their components");
}

}  // namespace copse
