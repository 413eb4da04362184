// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// What to do with a pair of nodes that is listed more than once, in either direction.
enum class Duplicates { sum, max, min, error };

struct BuildOptions {
  Duplicates duplicates = Duplicates::sum;  // parallel conductors add
  /// Weights below 0 are negative edges. Listings of a pair then add with their signs, and where they cancel
  /// there is no edge; max and min go by magnitude and refuse a pair whose listings differ in sign. A graph
  /// without a negative edge comes out without signs; one whose weights are all 1 and -1, without weights.
  bool is_signed = false;
};

/// What building did to the list it was given; nothing is changed in silence.
struct BuildReport {
  std::uint64_t num_listed = 0;        // edges in the list
  std::uint64_t num_self_loops = 0;    // dropped
  std::uint64_t num_zero_weights = 0;  // dropped: weight 0 means no edge
  std::uint64_t num_merged = 0;        // listings that were merged into another one of the same pair
  std::uint64_t num_cancelled = 0;     // signed: pairs whose listings add to 0, which is no edge
  bool listed_both_ways = false;       // every edge once in each direction with equal weight: read as it is
};

/// Part of a list of edges, as a reader leaves it: `u[i] v[i] weight[i]`; no weights in any chunk when
/// the list has none. Weights are finite and >= 0, or of any sign for a signed graph (the reader has checked,
/// it knows the line).
struct EdgeChunk {
  std::vector<NodeId> u, v;
  std::vector<Weight> weight;
};

/// The graph of a list of edges. Deterministic for any number of threads and any cutting into chunks:
/// rows are sorted and duplicates summed in sorted order. O(m log d). Frees the chunks as it goes.
/// `where` names the list in errors (Duplicates::error names the nodes by number).
Graph build_graph(std::vector<EdgeChunk> chunks, std::uint64_t num_nodes, const BuildOptions& options,
                  const Execution& execution, const std::string& where, BuildReport* report = nullptr);

/// Convenience for code and tests: a graph from a few edges.
struct Edge {
  NodeId u = 0, v = 0;
  Weight weight = 1;
};
Graph graph_from_edges(std::uint64_t num_nodes, const std::vector<Edge>& edges);  // weighted
Graph graph_from_signed_edges(std::uint64_t num_nodes,
                              const std::vector<Edge>& edges);  // weights below 0: negative edges
Graph graph_from_pairs(std::uint64_t num_nodes,
                       const std::vector<Edge>& edges);  // weights ignored: unweighted

}  // namespace copse
