// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "trees/similarity_forest.hpp"

namespace copse {

inline constexpr float kNoEdge = -std::numeric_limits<float>::infinity();

/// An edge under the order of minimum_similarity_forest.
struct SimilarityEdge {
  float log_weight = kNoEdge;
  NodeId low = kNoNode, high = kNoNode;

  static SimilarityEdge between(NodeId u, NodeId v, float log_weight) {
    return {log_weight, std::min(u, v), std::max(u, v)};
  }
  bool exists() const { return log_weight > kNoEdge; }
  NodeId other(NodeId node) const { return node == low ? high : low; }
  /// Whether this one comes first. Any edge comes before a missing one.
  bool beats(const SimilarityEdge& e) const {
    if (log_weight != e.log_weight) return log_weight > e.log_weight;
    return low != e.low ? low < e.low : high < e.high;
  }
};

/// The rows of a similarity, checked.
void fill_log_weights(const Similarity& similarity, NodeId point, std::span<const NodeId> others,
                      float* log_weights);

/// The edges of the minimum forest, in any order.
std::vector<SimilarityEdge> prim_edges(const Similarity& similarity, const Execution& execution);
std::vector<SimilarityEdge> boruvka_edges(const Similarity& similarity, const Execution& execution);

}  // namespace copse
