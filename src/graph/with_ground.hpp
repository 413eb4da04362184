// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "copse/graph/graph.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// The graph with one more node, the last, joined to each node u by the weight to_ground[u] where that is not
/// 0. All weights are divided by `unit`: a power of two near them keeps sums and quotients in the range of
/// float. No edge vanishes by it.
Graph with_ground(const GraphView& graph, std::span<const double> to_ground, double unit,
                  const Execution& execution);

}  // namespace copse
