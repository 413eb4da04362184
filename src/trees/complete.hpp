// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trees/wilson.hpp"

namespace copse {

/// Completes a forest that stopped at its step limit: what is ranked stays, and the rest is joined by the
/// smallest of independent keys Exp(1)/w, as in a random-key tree of the graph with the ranked part
/// contracted. Not quite the law of a random spanning tree. Time and memory of a random-key tree: nothing an
/// edge, though it is the graphs with many that need this.
SpanningForest complete_by_keys(const GraphView& graph, const WilsonResult& part, bool weighted,
                                std::span<const NodeId> roots, const Execution& execution,
                                std::uint64_t index);

}  // namespace copse
