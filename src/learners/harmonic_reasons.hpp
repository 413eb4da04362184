// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>
#include <vector>

#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/learners/learner.hpp"

namespace copse {

/// The labelled node that is the fewest edges away, alone: for where a solve has failed, weights being too
/// far apart for its digits. Nothing where there is none.
template <class IsLabelled>
std::vector<Reason> fewest_edges_away(const GraphView& graph, NodeId node, IsLabelled&& is_labelled) {
  std::unordered_map<NodeId, double> resistance{{node, 0.0}};
  std::vector<NodeId> queue{node};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const NodeId u = queue[i];
    if (u != node && is_labelled(u)) return {{u, kNoLabel, 1, resistance[u]}};
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      const NodeId v = graph.neighbors[arc];
      if (resistance.try_emplace(v, resistance[u] + 1.0 / graph.weight(arc)).second) queue.push_back(v);
    }
  }
  return {};
}

/// Each of `labelled` with its share of the current when one unit enters at `node`, which is then at this
/// potential: current(u) leaves through u. Labels of the reasons are left open.
template <class Current>
std::vector<Reason> reasons_by_current(const GraphView& graph, std::span<const NodeId> labelled, NodeId node,
                                       double potential, Current&& current) {
  std::vector<Reason> reasons;
  double total = 0;
  for (const NodeId u : labelled) {
    const double share = current(u), resistance = potential / share;
    if (!(share > 0) || !(resistance > 0) || !std::isfinite(resistance)) continue;
    reasons.push_back({u, kNoLabel, share, resistance});
    total += share;
  }
  if (!(total > 0) || !std::isfinite(total))
    return fewest_edges_away(graph, node, [&](NodeId u) { return std::ranges::count(labelled, u) > 0; });
  for (Reason& reason : reasons) reason.share /= total;
  return reasons;
}

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
  return reasons_by_current(graph, labelled, node, potential[node], [&](NodeId u) {
    double current = 0;
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      current += graph.weight(arc) * potential[graph.neighbors[arc]];
    return current;
  });
}

}  // namespace copse
