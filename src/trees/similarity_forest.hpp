// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "copse/graph/graph.hpp"
#include "copse/points/points.hpp"
#include "copse/support/execution.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// Points in someone else's array: point i is values[i * dimension ... (i + 1) * dimension).
struct CoordinatesView {
  std::span<const float> values;
  std::size_t dimension = 0;

  std::size_t num_points() const { return dimension == 0 ? 0 : values.size() / dimension; }
  const float* point(std::size_t i) const { return values.data() + i * dimension; }
};

/// A complete graph that nobody stores: the logarithm of the weight between any two of its points.
struct Similarity {
  NodeId num_points = 0;
  /// Writes the logarithm of the weight between `point` and each of `others`. Called by any thread. Symmetric
  /// to the last bit; -infinity means no edge, not-a-number is an InputError. Logarithms, because weights
  /// such as exp(-a d^2) round to 0 where their order still matters.
  std::function<void(NodeId point, std::span<const NodeId> others, float* log_weights)> log_weights;
};

/// The weight exp(-a d^2) of two points at distance d (Rojas Galeano & Herbster, section 5). Keeps the view.
/// UsageError where a is not above 0, InputError where a coordinate is not finite.
Similarity gaussian_similarity(const CoordinatesView& points, double a);

/// A spanning forest of such a graph: connected but for missing edges, each tree rooted at its smallest node,
/// breadth-first.
struct SimilarityForest {
  SpanningForest forest;
  std::uint64_t num_clamped =
      0;  // edges whose weight is below the smallest normal float and is stored as that
};

enum class SimilarityMethod {
  automatic,
  prim,     // one row per node, n^2/2 similarities: the fewest
  boruvka,  // rows in blocks that share what they read, about n^2 similarities: for many points on many
            // threads
};

/// The maximum-weight (minimum-resistance) spanning forest under the strict total order (logarithm of the
/// weight descending, smaller end, larger end), the same by either method on any number of threads. O(n)
/// memory (Rojas Galeano & Herbster, section 4): 12 bytes per node by Prim, 120 by Boruvka, beside the
/// result.
SimilarityForest minimum_similarity_forest(const Similarity& similarity, const Execution& execution,
                                           SimilarityMethod method = SimilarityMethod::automatic);

/// Shortest paths in resistance from `root`, and from the smallest node of whatever it does not reach
/// (Dijkstra without a heap, n^2/2 similarities): the tree that `shortest_path_forest` finds on the complete
/// graph. Ranks are the order of settling. Resistances are those of the stored weights.
SimilarityForest shortest_similarity_forest(const Similarity& similarity, NodeId root,
                                            const Execution& execution);

/// The edges of a forest as a graph.
Graph graph_of_tree(const SpanningForest& forest);

enum class SimilarityTree { mst, spt };

/// The minimum or shortest-path tree of points under the weights exp(-d^2 / scale^2), as a graph: n^2/2
/// distances, O(n) memory, the complete graph is never there. Shortest paths lead from the first point.
/// UsageError for sparse points, a scale that is not above 0, or more points than nodes have numbers.
Graph similarity_tree(const PointsView& points, SimilarityTree kind, double scale, const Execution& execution,
                      std::uint64_t* num_clamped = nullptr);

}  // namespace copse
