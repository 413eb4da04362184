// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/graph/components.hpp"
#include "copse/support/execution.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// Shortest paths in resistance 1/w from `roots` (Dijkstra; breadth-first when unweighted). Ties go to
/// the parent that was settled first; nodes at equal distance are settled in their order. Ranks are the
/// order of settling. O(m log n) time, at most 32 bytes per node beside the result.
SpanningForest shortest_path_forest(const GraphView& graph, std::span<const NodeId> roots,
                                    const Execution& execution = {});

/// The best of `num_roots` random roots a component: the shortest-path tree of smallest diameter in
/// resistance (Cesa-Bianchi et al. 2013, section 7: SPT), the first drawn of equal ones. Threads work on
/// different roots, so that memory grows with their number.
SpanningForest best_shortest_path_forest(const GraphView& graph, std::uint64_t index, int num_roots,
                                         const Execution& execution);
/// The same where the components are known: for many trees of one graph.
SpanningForest best_shortest_path_forest(const GraphView& graph, const Components& components,
                                         std::uint64_t index, int num_roots, const Execution& execution);

/// Largest resistance between two nodes of each tree; one entry per tree, in forest order. O(n).
std::vector<double> tree_diameters(const SpanningForest& forest);

/// Fewest edges from the roots. Ties go to the parent that was reached first.
SpanningForest breadth_first_forest(const GraphView& graph, std::span<const NodeId> roots,
                                    const Execution& execution = {});

}  // namespace copse
