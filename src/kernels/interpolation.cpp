// SPDX-License-Identifier: Apache-2.0
#include "copse/kernels/interpolation.hpp"

#include <cmath>
#include <string>

#include "copse/graph/components.hpp"
#include "copse/support/error.hpp"

namespace copse {
namespace {

void check_values(const GraphView& graph, std::span<const NodeId> nodes, std::span<const double> values) {
  if (nodes.size() != values.size())
    throw UsageError("values",
                     std::to_string(values.size()) + " values for " + std::to_string(nodes.size()) + " nodes",
                     "give one value a node");
  std::vector<bool> seen(graph.num_nodes());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] >= graph.num_nodes())
      throw UsageError("nodes", "there is no node " + std::to_string(nodes[i]),
                       "nodes count from 0 to the number of nodes less 1");
    if (seen[nodes[i]])
      throw UsageError("nodes", "node " + std::to_string(nodes[i]) + " is given twice", "give it once");
    if (!std::isfinite(values[i]))
      throw UsageError("values", "the value of node " + std::to_string(nodes[i]) + " is not finite",
                       "give finite numbers");
    seen[nodes[i]] = true;
  }
}

}  // namespace

Interpolation minimum_norm_interpolation(const GraphView& graph, std::span<const NodeId> nodes,
                                         std::span<const double> values, const SolveOptions& options,
                                         const Execution& execution) {
  check_values(graph, nodes, values);
  const std::size_t n = graph.num_nodes();
  const Components components = connected_components(graph, execution.threads);
  Interpolation result{std::vector<double>(n), {.converged = true}};
  std::vector<char> is_given(n), has_given(components.count());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    result.value[nodes[i]] = values[i];
    is_given[nodes[i]] = has_given[components.of_node[nodes[i]]] = 1;
  }
  if (nodes.empty()) return result;

  // Two columns: -L_UL y, whose solution is h, and 1, whose solution is z.
  std::vector<double> work(2 * n);
  for (NodeId u = 0; u < n; ++u) {
    if (is_given[u] || !has_given[components.of_node[u]]) continue;
    work[2 * std::size_t{u} + 1] = 1;
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      if (is_given[graph.neighbors[arc]])
        work[2 * std::size_t{u}] += graph.weight(arc) * result.value[graph.neighbors[arc]];
  }
  result.report = LaplacianSolver(graph, options, execution, nodes).solve(work, work, 2);

  std::vector<double> sum(components.count()), sum_z(components.count());
  for (std::size_t u = 0; u < n; ++u) {
    const NodeId c = components.of_node[u];
    if (!has_given[c]) continue;
    if (!is_given[u]) result.value[u] = work[2 * u];
    sum[c] += result.value[u];
    sum_z[c] += is_given[u] ? 0 : work[2 * u + 1];
  }
  for (std::size_t u = 0; u < n; ++u) {
    const NodeId c = components.of_node[u];
    if (has_given[c] && !is_given[u]) result.value[u] -= sum[c] / sum_z[c] * work[2 * u + 1];
  }
  return result;
}

}  // namespace copse
