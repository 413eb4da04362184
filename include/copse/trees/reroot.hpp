// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/support/random.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// Roots every tree of three or more nodes at a node chosen uniformly. Those trees come first in the new
/// order, the others after them, each group in the order it had: the same for every forest of a graph.
/// O(n log depth), in place but for 8 bytes a node where there are several trees.
void reroot_at_random(SpanningForest& forest, Stream& stream);

}  // namespace copse
