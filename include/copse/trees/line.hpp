// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// A spanning forest laid out on a line (Cesa-Bianchi et al. 2013, section 4): the depth-first preorder
/// of each tree, one tree after the other. Neighbours on the line are joined by
/// the smallest weight on the tree path between them, which at most doubles the cut of any labelling.
struct Line {
  Buffer<NodeId> node;         // node[place]
  Buffer<Weight> weight;       // weight[i] joins places i - 1 and i; empty when the graph has no weights
  std::vector<NodeId> starts;  // places where a tree begins: no distance crosses them; weight there is 0
  bool ties_go_left = true;    // which of two labels as near decides; false reads the line from its other end

  NodeId num_nodes() const { return static_cast<NodeId>(node.size()); }
};

/// Children by rank. O(n) time, a few passes over the forest, which it consumes to keep the peak of memory
/// low.
Line linearize(SpanningForest&& forest);

/// The line of tree `index` of a committee: rooted at a random node, children by rank or the other way round,
/// ties to either side. With fixed choices all trees err alike: without weights most distances are tied, a
/// node that is always the root always stands at the end of the line, with neighbours on one side only, and
/// the way back to it would always come last.
Line random_line(SpanningForest&& forest, std::uint64_t seed, std::uint64_t index);

}  // namespace copse
