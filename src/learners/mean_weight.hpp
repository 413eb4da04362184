// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/graph/graph.hpp"
#include "copse/support/parallel.hpp"

namespace copse {

/// Weights are divided by this where a kernel adds other terms to L^+: b, c and ridges then mean the same on
/// every graph.
inline double mean_weight(const GraphView& graph, int threads) {
  if (!graph.is_weighted() || graph.weights.empty()) return 1;
  const double sum = deterministic_reduce(
      threads, graph.weights.size(), 0.0,
      [&](std::size_t begin, std::size_t end) {
        double part = 0;
        for (std::size_t arc = begin; arc < end; ++arc) part += graph.weights[arc];
        return part;
      },
      [](double a, double b) { return a + b; });
  return sum / static_cast<double>(graph.weights.size());
}

}  // namespace copse
