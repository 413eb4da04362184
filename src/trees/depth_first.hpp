// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/graph/components.hpp"
#include "copse/support/execution.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// A random depth-first forest: random root in each component, and from each node the next unvisited
/// neighbour with probability proportional to its weight (Cesa-Bianchi et al. 2013, section 7: DFST).
/// Ranks are the preorder. O(m log d) time; beside the result a quarter of a byte per node, 16 bytes for each
/// arc of the largest row, and 4 for each arc that waits on the stack: at most one an edge, few on most
/// graphs.
SpanningForest depth_first_forest(const GraphView& graph, std::uint64_t index, const Execution& execution);
/// The same where the components are known: for many trees of one graph.
SpanningForest depth_first_forest(const GraphView& graph, const Components& components, std::uint64_t index,
                                  const Execution& execution);

}  // namespace copse
