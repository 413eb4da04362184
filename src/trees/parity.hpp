// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// Which side of its root every node is on: the parity of the negative edges on the way there. Within a tree
/// every pattern of signs is two sides, so that labels seen from there (the other one for nodes of side 1)
/// are labels on a tree without signs. A bit per node.
class TreeParity {
 public:
  /// Of no signs: everything on side 0, and no memory.
  TreeParity() = default;
  /// `forest` may have any weights or none; its edges are looked up in the graph, O(n log d). No memory where
  /// the graph has no signs.
  TreeParity(const GraphView& graph, const SpanningForest& forest);

  bool is_signed() const { return !words_.empty(); }
  bool is_other_side(NodeId node) const {
    return !words_.empty() && (words_[node / 64] >> (node % 64) & 1) != 0;
  }

 private:
  Buffer<std::uint64_t> words_;
};

/// Whether the edge between neighbours u and v is negative. O(log d).
bool is_negative_edge(const GraphView& graph, NodeId u, NodeId v);

}  // namespace copse
