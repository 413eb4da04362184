// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "copse/graph/graph.hpp"

namespace copse {

/// What `copse graph info` shows of a graph. Exact; the same for any number of threads.
struct GraphStatistics {
  std::uint64_t num_nodes = 0, num_edges = 0;
  std::uint64_t num_isolated = 0;       // nodes without an edge
  std::uint64_t num_components = 0;     // isolated nodes included
  std::uint64_t largest_component = 0;  // its nodes

  std::uint64_t min_degree = 0, max_degree = 0;  // 0 of a graph without nodes, as all below
  double median_degree = 0,
         mean_degree = 0;  // the median of an even number of values is the mean of the middle two

  bool is_weighted = false;                                  // otherwise every weight is 1
  double min_weight = 0, median_weight = 0, max_weight = 0;  // over edges; 0 of a graph without edges
  double total_weight = 0;                                   // each edge once
  double weight_range = 0;                                   // max / min: how hard sums and solvers have it

  // Of a signed graph, whose weights above are magnitudes.
  bool is_signed = false;
  std::uint64_t num_negative = 0;             // edges
  std::uint64_t num_balanced_components = 0;  // graph/signs.hpp; isolated nodes included
  std::uint64_t num_frustrated = 0;           // edges against the two sides of a breadth-first tree

  std::uint64_t num_bytes = 0;  // of the arrays, in memory or mapped
};

GraphStatistics graph_statistics(const GraphView& graph, int threads = 1);

/// How a labelling lies on a graph. Only edges with both ends labelled are judged. A negative edge is cut
/// where its ends agree: it says that they differ.
struct LabelStatistics {
  std::uint64_t num_labelled = 0;
  std::vector<std::uint64_t> class_counts;  // by class index, up to the largest that occurs
  std::uint64_t num_judged_edges = 0;
  double judged_weight = 0;
  std::uint64_t cut_size = 0;  // edges whose ends disagree: the papers' Phi
  double cut_weight = 0;       // their weight: Phi^W

  /// Share of the judged edges (of their weight) whose ends agree; none where no edge is judged.
  std::optional<double> homophily() const;
  std::optional<double> weighted_homophily() const;
};

/// `labels` has one entry per node, kNoLabel where there is none. UsageError if it has another length.
LabelStatistics label_statistics(const GraphView& graph, std::span<const Label> labels, int threads = 1);

}  // namespace copse
