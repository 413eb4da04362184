// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/points/similarity_graph.hpp"
#include "fuzz.hpp"
#include "points/points_readers.hpp"

namespace copse::fuzz {

/// What a reader leaves either breaks a promise of PointsView, which check_points says, or makes a proper
/// graph.
inline void check_and_build(const NamedPoints& points) {
  const PointsView view = points.points;
  if (points.names.size() != view.num_points) __builtin_trap();
  check_points(view, "fuzz", 2);
  if (view.num_points < 2 || view.num_points > 64) return;
  SimilarityOptions options;
  options.neighbors.k = 1;
  options.connect = true;
  const Graph graph = similarity_graph(view, options, two_threads());
  try {
    check_graph(graph, "fuzz", 2);
  } catch (const Error&) {
    __builtin_trap();
  }
}

}  // namespace copse::fuzz
