// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trees/wilson.hpp"

// Random spanning trees where a walk over the whole graph takes too many steps.

namespace copse {

/// A random spanning forest drawn block by block: the law is the same (a spanning tree of a graph is one of
/// each biconnected block), but light bridges and cut nodes, which a walk over the whole graph hardly ever
/// crosses, cost nothing. A block whose own walk takes more than `steps_per_node` is completed by random
/// keys, and the report says so.
SpanningForest sample_by_blocks(const GraphView& graph, bool weighted, std::span<const NodeId> roots,
                                const Execution& execution, std::uint64_t index, std::uint64_t steps_per_node,
                                TreeReport& report);

/// Completes a forest that stopped at its step limit: what is ranked stays, and the rest is joined by the
/// smallest of independent keys Exp(1)/w, as in a random-key tree of the graph with the ranked part
/// contracted. Not quite the law of a random spanning tree. Time and memory of a random-key tree: nothing an
/// edge, though it is the graphs with many that need this.
SpanningForest complete_by_keys(const GraphView& graph, const WilsonResult& part, bool weighted,
                                std::span<const NodeId> roots, const Execution& execution,
                                std::uint64_t index);

}  // namespace copse
