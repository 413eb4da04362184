// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "copse/kernels/laplacian_solver.hpp"
#include "copse/learners/learner.hpp"

namespace copse {

/// Each of `labelled`, none of which is `node`, with the probability that a random walk from `node` meets it
/// first: the current that leaves through it when one unit enters at `node`. The system is symmetric, so one
/// solve gives the influence of every label on this node. Labels of the reasons are left open; nothing where
/// no walk meets one.
inline std::vector<Reason> harmonic_reasons(const GraphView& graph, std::span<const NodeId> labelled,
                                            NodeId node, const SolveOptions& options,
                                            const Execution& execution) {
  std::vector<double> potential(graph.num_nodes());
  potential[node] = 1;
  LaplacianSolver(graph, options, execution, labelled).solve(potential, potential);
  std::vector<Reason> reasons;
  double total = 0;  // 1, to within the tolerance
  for (const NodeId u : labelled) {
    double current = 0;
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      current += graph.weight(arc) * potential[graph.neighbors[arc]];
    if (!(current > 0)) continue;
    reasons.push_back({u, kNoLabel, current, potential[node] / current});
    total += current;
  }
  for (Reason& reason : reasons) reason.share /= total;
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.share > b.share; });
  return reasons;
}

}  // namespace copse
