// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/support/random.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// Parents first, in a forest whose ranks are those of other roots: the nodes between new roots and old ones,
/// whose edges have changed direction, then all others by rank. Nothing is moved.
struct VisitOrder {
  std::vector<NodeId> front;   // ranks, in the order of the visit
  std::vector<NodeId> sorted;  // the same, ascending

  template <class Body>
  void for_each(NodeId num_nodes, Body&& body) const {
    for (const NodeId rank : front) body(rank);
    NodeId rank = 0;
    for (const NodeId visited : sorted) {
      for (; rank < visited; ++rank) body(rank);
      ++rank;
    }
    for (; rank < num_nodes; ++rank) body(rank);
  }
  /// Children first.
  template <class Body>
  void for_each_backwards(NodeId num_nodes, Body&& body) const {
    NodeId end = num_nodes;
    for (std::size_t i = sorted.size(); i-- > 0;) {
      while (end > sorted[i] + 1) body(--end);
      --end;
    }
    while (end > 0) body(--end);
    for (std::size_t i = front.size(); i-- > 0;) body(front[i]);
  }
};

/// For every rank, how many nodes are below it.
struct NodesBelow {
  Buffer<NodeId> count;
  std::vector<NodeId> large_roots;  // of trees in which the root matters to a line, by rank
};
NodesBelow count_below(const SpanningForest& forest);

/// Gives every large tree a root chosen uniformly, by turning the edges between it and the old one round:
/// parents (no longer of smaller rank than their children), weights and `below` are those of the new trees.
/// About half a pass over the forest, with another word a node.
VisitOrder take_random_roots(SpanningForest& forest, NodesBelow& below, Stream& stream);

}  // namespace copse
