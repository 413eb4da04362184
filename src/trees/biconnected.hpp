// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "copse/graph/graph.hpp"

namespace copse {

/// A biconnected component (block) as a graph of its own: no node of it cuts it in two. A bridge is a block
/// of two nodes; a node without edges is in no block; every edge is in exactly one. A spanning tree of the
/// graph is one spanning tree of each block, so random ones may be drawn block by block.
struct Block {
  std::span<const NodeId> nodes;       // in the graph, ascending: nodes[i] is node i of the block
  std::span<const EdgeIndex> offsets;  // nodes.size() + 1 entries
  std::span<const NodeId> neighbors;   // nodes of the block; rows sorted
  std::span<const Weight> weights;     // empty when the graph has no weights
  std::span<const EdgeIndex>
      arcs;  // position in the graph of each arc, which lies in the row of the same node

  GraphView view() const { return {offsets, neighbors, weights}; }
  NodeId num_nodes() const { return static_cast<NodeId>(nodes.size()); }
};

/// Calls `use` with each block, in an order that depends on the graph alone; the arrays are valid during the
/// call only. O(n log n + m) time (Tarjan & Hopcroft 1973, without a stack of edges); memory 24 bytes per
/// node and the largest block.
void for_each_block(const GraphView& graph, const std::function<void(const Block&)>& use);

}  // namespace copse
