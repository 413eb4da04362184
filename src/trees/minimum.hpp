// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/support/buffer.hpp"
#include "copse/support/execution.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// Maximum-weight (minimum-resistance) spanning forest under the strict total order (weight descending,
/// smaller end, larger end); unweighted graphs break ties by random keys of (seed, tree index). Unique,
/// so the same on any number of threads. O(m + n log n log(m/n)) for weights in random order; memory O(n).
SpanningForest minimum_forest(const GraphView& graph, std::span<const NodeId> roots, std::uint64_t index,
                              const Execution& execution);

/// Minimum spanning forest of independent keys Exp(1)/w, one an edge, from a counter-based hash of
/// (seed, index, edge): near the law of a random spanning tree, in deterministic time. Across a cut the
/// crossing edge is chosen exactly in proportion to its weight. With `weighted` false, uniform keys.
SpanningForest random_key_forest(const GraphView& graph, std::span<const NodeId> roots, std::uint64_t index,
                                 bool weighted, const Execution& execution);

/// The edges of that forest, smallest key first, named by their arcs.
struct ForestArcs {
  Buffer<NodeId> source;
  Buffer<EdgeIndex> edges;
};
ForestArcs random_key_arcs(const GraphView& graph, std::size_t num_components, std::uint64_t index,
                           bool weighted, const Execution& execution);

}  // namespace copse
