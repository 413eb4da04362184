// SPDX-License-Identifier: Apache-2.0
#include "laplacian/interpolation.hpp"

#include <cmath>
#include <string>

#include "copse/graph/components.hpp"
#include "copse/support/error.hpp"

namespace copse {
namespace {

void check_values(const GraphView& graph, std::span<const NodeId> nodes, std::span<const double> values,
                  std::size_t columns) {
  if (nodes.size() * columns != values.size())
    throw UsageError("values",
                     std::to_string(values.size()) + " values for " + std::to_string(nodes.size()) + " nodes",
                     "give one value per node");
  std::vector<bool> seen(graph.num_nodes());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] >= graph.num_nodes())
      throw UsageError("nodes", "there is no node " + std::to_string(nodes[i]),
                       "nodes count from 0 to the number of nodes less 1");
    if (seen[nodes[i]])
      throw UsageError("nodes", "node " + std::to_string(nodes[i]) + " is given twice", "give it once");
    for (const double value : values.subspan(i * columns, columns))
      if (!std::isfinite(value))
        throw UsageError("values", "the value of node " + std::to_string(nodes[i]) + " is not finite",
                         "give finite numbers");
    seen[nodes[i]] = true;
  }
}

}  // namespace

Interpolation minimum_norm_interpolation(const GraphView& graph, std::span<const NodeId> nodes,
                                         std::span<const double> values, const SolveOptions& options,
                                         const Execution& execution, std::size_t columns) {
  check_values(graph, nodes, values, columns);
  const std::size_t n = graph.num_nodes();
  const Components components = connected_components(graph, execution);
  Interpolation result{std::vector<double>(n * columns), {.converged = true}};
  std::vector<char> is_given(n), has_given(components.count());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t c = 0; c < columns; ++c) result.value[nodes[i] * columns + c] = values[i * columns + c];
    is_given[nodes[i]] = has_given[components.of_node[nodes[i]]] = 1;
  }
  if (nodes.empty()) return result;

  // The columns -L_UL y, whose solutions are h, and behind them 1, whose solution is z.
  const std::size_t wide = columns + 1;
  std::vector<double> work(wide * n);
  for (NodeId u = 0; u < n; ++u) {
    if (is_given[u] || !has_given[components.of_node[u]]) continue;
    double* row = &work[wide * u];
    row[columns] = 1;
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      const std::size_t neighbor = graph.neighbors[arc];
      if (!is_given[neighbor]) continue;
      for (std::size_t c = 0; c < columns; ++c)
        row[c] += graph.weight(arc) * result.value[neighbor * columns + c];
    }
  }
  result.report = LaplacianSolver(graph, options.expecting(wide), execution, nodes).solve(work, work, wide);

  std::vector<double> sum(components.count() * columns), sum_z(components.count());
  for (std::size_t u = 0; u < n; ++u) {
    const std::size_t component = components.of_node[u];
    if (!has_given[component]) continue;
    for (std::size_t c = 0; c < columns; ++c) {
      double& value = result.value[u * columns + c];
      if (!is_given[u]) value = work[wide * u + c];
      sum[component * columns + c] += value;
    }
    sum_z[component] += is_given[u] ? 0 : work[wide * u + columns];
  }
  for (std::size_t u = 0; u < n; ++u) {
    const std::size_t component = components.of_node[u];
    if (!has_given[component] || is_given[u]) continue;
    for (std::size_t c = 0; c < columns; ++c)
      result.value[u * columns + c] -=
          sum[component * columns + c] / sum_z[component] * work[wide * u + columns];
  }
  return result;
}

}  // namespace copse
