// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/graph/build.hpp"
#include "copse/points/similarity_graph.hpp"
#include "points/discrepancy.hpp"

namespace copse {

/// Pairs of points that become edges, each once: `value` is their discrepancy, later the logarithm of their
/// weight.
struct PairChunk {
  std::vector<NodeId> u, v;
  std::vector<double> value;

  void add(NodeId a, NodeId b, double discrepancy) {
    u.push_back(a);
    v.push_back(b);
    value.push_back(discrepancy);
  }
};
using PairList = std::vector<PairChunk>;

inline constexpr std::uint64_t kBytesPerPair = 2 * sizeof(NodeId) + sizeof(double);
/// Of an edge while the graph is built: the list, and its two arcs with weights.
inline constexpr std::uint64_t kBytesPerEdge = kBytesPerPair + 16;

PairList nearest_pairs(const Neighbors& neighbors, Symmetrize symmetrize, int threads);
/// Throws UsageError as soon as the pairs would need more than `max_bytes` (0: no limit).
PairList pairs_within(const PairDiscrepancy& exact, const KeySource& keys, double radius,
                      std::uint64_t max_bytes, const Execution& execution);
PairList all_pairs(const PairDiscrepancy& exact, const Execution& execution);

/// The shortest pairs that make one component of those that `pairs` leave: what a minimum spanning tree of
/// all pairs would add to them.
PairChunk joining_pairs(const PairDiscrepancy& exact, const KeySource& keys, const PairList& pairs,
                        const Execution& execution);

/// Edges with the weights that the options ask for, see SimilarityReport, which it fills in; pairs without a
/// similarity are dropped. `means` are the mean squared distances of each point to its k nearest, for local
/// weights. Frees the pairs as it goes.
std::vector<EdgeChunk> weighted_edges(PairList pairs, const SimilarityOptions& options,
                                      const Buffer<double>& means, SimilarityReport& report, int threads);

}  // namespace copse
