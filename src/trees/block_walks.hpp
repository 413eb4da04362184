// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/trees/sample.hpp"

namespace copse {

/// A random spanning forest drawn block by block: the law is the same (a spanning tree of a graph is one of
/// each biconnected block), but light bridges and cut nodes, which a walk over the whole graph hardly ever
/// crosses, cost nothing. A block whose own walk takes more than `steps_per_node` is completed by random
/// keys, and the report says so.
SpanningForest sample_by_blocks(const GraphView& graph, bool weighted, std::span<const NodeId> roots,
                                const Execution& execution, std::uint64_t index, std::uint64_t steps_per_node,
                                TreeReport& report);

}  // namespace copse
