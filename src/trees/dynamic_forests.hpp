// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "copse/graph/build.hpp"
#include "copse/support/execution.hpp"
#include "copse/trees/forest_builder.hpp"

// Forests of kind random_key of a graph whose edges come and go. Such a forest is a function of the edges
// alone, so that after any changes, in any order, it is the forest that would be drawn from nothing, bit for
// bit.

namespace copse {

/// Someone else's rows, and those of them that have changed.
class ChangingGraph {
 public:
  explicit ChangingGraph(const GraphView& base) : base_(base), num_nodes_(base.num_nodes()) {}

  NodeId num_nodes() const { return num_nodes_; }
  bool is_weighted() const { return base_.is_weighted(); }
  NodeId add_node() { return num_nodes_++; }
  /// 0: no such edge.
  Weight weight(NodeId u, NodeId v) const;
  /// 0 takes the edge away.
  void set_weight(NodeId u, NodeId v, Weight weight);
  template <class Body>
  void for_each_neighbor(NodeId u, Body&& body) const {
    if (const auto row = changed_.find(u); row != changed_.end()) {
      for (const Arc& arc : row->second) body(arc.node, arc.weight);
    } else if (u < base_.num_nodes()) {
      for (EdgeIndex arc = base_.offsets[u]; arc < base_.offsets[u + 1]; ++arc)
        body(base_.neighbors[arc], base_.weight(arc));
    }
  }
  Graph snapshot() const;

 private:
  struct Arc {
    NodeId node;
    Weight weight;
  };
  std::vector<Arc>& row_to_change(NodeId u);
  void set_arc(NodeId u, NodeId v, Weight weight);

  GraphView base_;
  NodeId num_nodes_;
  std::unordered_map<NodeId, std::vector<Arc>> changed_;  // rows, sorted
};

/// Per tree its edges by key, and Kruskal's union-find without path compression: the link that joins two
/// components remembers which edge did it, so that "does an edge of this key join two components?" is a climb
/// from both ends, O(log n). That tells which trees an edge enters or leaves. Only these are mended, when
/// they are asked for, all changes at once in O(n): for trees that lost edges, the edges across the cut are
/// looked for in the smaller parts; Kruskal then goes over the old edges and the new ones, which are few. 16
/// bytes per node and tree (20 with weights).
class DynamicForests {
 public:
  /// Draws the trees. `graph` must outlive this; its signs are not looked at.
  DynamicForests(const GraphView& graph, std::size_t num_trees, const Execution& execution);

  const ChangingGraph& graph() const { return graph_; }
  NodeId add_node();
  /// 0 takes the edge away.
  void set_weight(NodeId u, NodeId v, Weight weight);

  bool is_settled(std::size_t tree) const;
  /// Mends a tree; several threads may do so with trees of their own.
  void settle(std::size_t tree);
  /// Of a settled tree.
  SpanningForest forest(std::size_t tree) const;

 private:
  using Pair = std::pair<NodeId, NodeId>;
  struct Tree {
    KeptEdges edges;             // by key
    std::vector<NodeId> link;    // by node: another one of its component, or itself
    std::vector<NodeId> joined;  // by node: number of the edge that made the link; kNoNode without one
    std::vector<NodeId> roots;   // smallest nodes of components
    std::vector<Pair> changed;   // edges since it was settled
  };
  std::uint64_t key(std::size_t tree, const Edge& edge) const;
  bool is_before(std::size_t tree, const Edge& a, const Edge& b) const;
  static Edge edge(const Tree& tree, std::size_t i);
  std::size_t place_of(std::size_t tree, const Edge& edge) const;
  bool has(std::size_t tree, const Edge& edge) const;
  bool would_take(std::size_t tree, const Edge& edge) const;
  std::vector<NodeId> drop_changed(Tree& tree) const;
  void sort_by_key(std::size_t tree, std::vector<Edge>& edges) const;
  void find_replacements(std::size_t tree, std::span<const NodeId> ends, std::vector<Edge>& found) const;
  void join(std::size_t tree, std::span<const Edge> fresh);

  ChangingGraph graph_;
  Execution execution_;
  std::vector<Tree> trees_;
};

}  // namespace copse
