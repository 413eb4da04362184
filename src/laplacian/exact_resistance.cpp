// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <string>

#include "copse/graph/components.hpp"
#include "copse/support/error.hpp"
#include "laplacian/quadratic_forms.hpp"

namespace copse {
namespace {

void check_tolerance(double tolerance) {
  if (!(tolerance > 0 && tolerance < 1))
    throw UsageError("tolerance", "it is not between 0 and 1", "1e-6 gives six digits");
}

}  // namespace

Estimates exact_resistances(const GraphView& graph, std::span<const NodePair> pairs, double tolerance,
                            const SolveOptions& options, const Execution& execution) {
  check_tolerance(tolerance);
  const Components components = connected_components(graph, execution);
  std::vector<UnitSource> sources;
  std::vector<std::size_t> place;
  Estimates result{
      std::vector<double>(pairs.size()), std::vector<double>(pairs.size()), 1, {.converged = true}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto [u, v] = pairs[i];
    if (u >= graph.num_nodes() || v >= graph.num_nodes())
      throw UsageError("pairs", "there is no node " + std::to_string(std::max(u, v)),
                       "nodes count from 0 to the number of nodes less 1");
    if (components.of_node[u] != components.of_node[v]) {
      result.value[i] = std::numeric_limits<double>::infinity();
    } else if (u != v) {
      sources.push_back({u, v});
      place.push_back(i);
    }
  }
  const Estimates solved = quadratic_forms(graph, sources, tolerance, options, execution);
  for (std::size_t k = 0; k < place.size(); ++k) {
    // No current leaves a node but by its edges. Below that only where weights are too far apart for a solve.
    const auto [u, v] = pairs[place[k]];
    const double least = 1 / std::min(weighted_degree(graph, u), weighted_degree(graph, v));
    result.value[place[k]] = std::max(solved.value[k], least);
    result.error[place[k]] = solved.error[k];
  }
  result.report = solved.report;
  return result;
}

Estimates exact_diagonal(const GraphView& graph, double tolerance, const SolveOptions& options,
                         const Execution& execution, NodeId dense_nodes) {
  check_tolerance(tolerance);
  const std::size_t n = graph.num_nodes();
  if (n > dense_nodes) {
    std::vector<UnitSource> sources(n);
    for (NodeId u = 0; u < n; ++u) sources[u] = {u, kNoNode};
    return quadratic_forms(graph, sources, tolerance, options, execution);
  }
  const std::vector<double> dense = dense_pseudoinverse(graph, dense_nodes);
  Estimates result{
      std::vector<double>(n), std::vector<double>(n), 1, {.method = SolveMethod::exact, .converged = true}};
  for (std::size_t u = 0; u < n; ++u) result.value[u] = dense[u * n + u];
  return result;
}

}  // namespace copse
