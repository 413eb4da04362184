// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/laplacian/laplacian_solver.hpp"
#include "learners/score_table.hpp"

namespace copse {

/// Solves the system of `graph` with `grounded` nodes in place, `to_ground` being each node's weight to
/// these, and 0 for them. With few of them the solution is a constant and little else: the constant that
/// balances the right-hand side over a component is taken out first, so that the tolerance is one of what is
/// left.
inline SolveReport solve_from_constant(const GraphView& graph, std::span<const NodeId> grounded,
                                       std::span<double> values, std::size_t columns,
                                       std::span<const double> to_ground, const ScoreTable& table,
                                       const SolveOptions& options, const Execution& execution) {
  const LabelledClasses& classes = table.classes;
  std::vector<double> constant(classes.num_reached() * columns), ground(classes.num_reached());
  const auto for_each_reached = [&](auto&& body) {
    for (NodeId node = 0; node < table.components.of_node.size(); ++node) {
      const NodeId index = classes.index(table.components.of_node[node]);
      if (index != kNoNode)
        body(node, index, &values[std::size_t{node} * columns], &constant[index * columns]);
    }
  };
  for_each_reached([&](NodeId node, NodeId index, const double* row, double* sum) {
    ground[index] += to_ground[node];
    for (std::size_t c = 0; c < columns; ++c) sum[c] += row[c];
  });
  for (std::size_t i = 0; i < constant.size(); ++i)
    constant[i] = ground[i / columns] > 0 ? constant[i] / ground[i / columns] : 0;
  for_each_reached([&](NodeId node, NodeId, double* row, const double* level) {
    for (std::size_t c = 0; c < columns; ++c) row[c] -= level[c] * to_ground[node];
  });
  const SolveReport report =
      LaplacianSolver(graph, options.expecting(columns), execution, grounded).solve(values, values, columns);
  for_each_reached([&](NodeId, NodeId, double* row, const double* level) {
    for (std::size_t c = 0; c < columns; ++c) row[c] += level[c];
  });
  return report;
}

}  // namespace copse
