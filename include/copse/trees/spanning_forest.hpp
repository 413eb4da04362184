// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/support/buffer.hpp"

namespace copse {

/// A rooted spanning forest, one tree a connected component, its nodes listed parents first.
///
/// Everything is indexed by *rank*, the place of a node in that list, not by node: what follows (subtree
/// sizes, preorder, minima) is then two passes over arrays in order, without a stack, and most parents
/// lie close to their children in memory. Roots come in the order of their components (by smallest node);
/// the ranks of different trees may interleave.
struct SpanningForest {
  Buffer<NodeId> node;    // node[rank]
  Buffer<NodeId> parent;  // parent[rank] < rank is the parent's rank; a root has parent[rank] == rank
  Buffer<Weight> weight;  // of the edge to the parent, 0 at a root; empty when the graph has no weights

  NodeId num_nodes() const { return static_cast<NodeId>(node.size()); }
  bool is_weighted() const { return !weight.empty(); }
  bool is_root(NodeId rank) const { return parent[rank] == rank; }
  Weight edge_weight(NodeId rank) const { return weight.empty() ? Weight{1} : weight[rank]; }
};

/// The kinds of spanning tree, as users type them.
enum class TreeKind {
  rst,         // random, P(T) proportional to the product of its weights (Wilson)
  nwrst,       // random, uniform: the law ignores the weights, the tree carries them
  random_key,  // minimum tree of keys Exp(1)/w: close to rst, in deterministic time
  mst,         // maximum total weight = minimum total resistance
  spt,         // shortest paths in resistance, the best of several random roots
  dfst,        // depth-first, next neighbour with probability proportional to its weight
  bfst,        // breadth-first from the node of largest weighted degree: fewest edges to it
};

/// Which children of a node come first in a forest: those of the first edges, or the first nodes.
enum class Siblings { by_edge, by_number };

/// A forest from its edges, in any order: `edges[k]` is the position in graph.neighbors of one of the
/// two arcs of the k-th edge, `source[k]` the node in whose row it lies. Rooted at `roots` (one a
/// component, by component number), breadth-first.
SpanningForest root_forest(const GraphView& graph, std::span<const NodeId> source,
                           std::span<const EdgeIndex> edges, std::span<const NodeId> roots,
                           Siblings siblings = Siblings::by_edge);

/// The same from columns: edge k joins u[k] and v[k].
SpanningForest root_forest(NodeId num_nodes, std::span<const NodeId> u, std::span<const NodeId> v,
                           std::span<const Weight> weights, bool is_weighted, std::span<const NodeId> roots,
                           Siblings siblings = Siblings::by_edge);

/// By rank: the nodes of the subtree, the rank itself among them.
Buffer<NodeId> subtree_sizes(const SpanningForest& forest);

/// Throws std::logic_error unless `forest` spans `graph` and keeps the promises above: for tests.
void check_forest(const GraphView& graph, const SpanningForest& forest);

}  // namespace copse
