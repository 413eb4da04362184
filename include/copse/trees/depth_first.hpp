// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/support/execution.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// A random depth-first forest: random root in each component, and from each node the next unvisited
/// neighbour with probability proportional to its weight (Cesa-Bianchi et al. 2013, section 7: DFST).
/// One exponential key Exp(1)/w an arc, rows visited in key order, is the same law without looking at a
/// row again each time: the smallest of the keys that are left is proportional to the weights left.
SpanningForest depth_first_forest(const GraphView& graph, std::uint64_t index, const Execution& execution);

}  // namespace copse
