// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "copse/graph/components.hpp"
#include "copse/laplacian/resistance.hpp"
#include "trees/minimum.hpp"
#include "trees/shortest_path.hpp"

namespace copse {
namespace {

ResistanceDiameter exactly(const GraphView& graph, const Components& components) {
  const std::size_t n = graph.num_nodes();
  const std::vector<double> dense = dense_pseudoinverse(graph);
  ResistanceDiameter result;
  result.report = {.method = SolveMethod::exact, .converged = true};
  for (NodeId u = 0; u < n; ++u)
    for (NodeId v = 0; v < u; ++v) {
      if (components.of_node[u] != components.of_node[v]) continue;
      const double r = dense[u * n + u] + dense[v * n + v] - 2 * dense[u * n + v];
      if (r > result.lower) result.lower = r, result.u = v, result.v = u;
    }
  result.upper = result.lower;
  return result;
}

/// Sweeps from farthest node to farthest node in all components at once: the columns of one node a component
/// fit into one right-hand side.
class DoubleSweep {
 public:
  DoubleSweep(const GraphView& graph, const Components& components, const SolveOptions& options,
              const Execution& execution)
      : graph_(graph),
        components_(components),
        options_(options),
        execution_(execution),
        nodes_(components.count()),
        best_(components.count()),
        pair_(components.count()) {
    for (NodeId u = graph.num_nodes(); u-- > 0;) nodes_[components.of_node[u]] = u;
  }

  void run(int sweeps) {
    LaplacianSolver solver(graph_, options_.expecting(static_cast<std::size_t>(sweeps)), execution_);
    std::vector<double> last_diagonal(nodes_.size());
    std::vector<NodeId> last(nodes_.size(), kNoNode);
    std::vector<double> column(graph_.num_nodes());
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      execution_.throw_if_cancelled();
      execution_.report("sweeps", static_cast<std::uint64_t>(sweep), static_cast<std::uint64_t>(sweeps));
      std::fill(column.begin(), column.end(), 0.0);
      for (const NodeId node : nodes_) column[node] = 1;
      report_ = merge(report_, solver.solve(column, column));
      visited_.push_back(nodes_);
      for (std::size_t c = 0; c < nodes_.size(); ++c) {
        if (last[c] == kNoNode) continue;
        const double r = last_diagonal[c] + column[nodes_[c]] - 2 * column[last[c]];
        if (r > best_[c]) best_[c] = r, pair_[c] = {last[c], nodes_[c]};
      }
      last = nodes_;
      for (std::size_t c = 0; c < nodes_.size(); ++c) last_diagonal[c] = column[nodes_[c]];
      for (NodeId u = 0; u < graph_.num_nodes(); ++u) {
        NodeId& farthest = nodes_[components_.of_node[u]];
        if (column[u] < column[farthest]) farthest = u;
      }
    }
  }

  /// The pair found that is farthest apart; a node and itself where no component has two nodes.
  NodePair best() const {
    const auto at = std::max_element(best_.begin(), best_.end()) - best_.begin();
    return best_.empty() ? NodePair{} : pair_[static_cast<std::size_t>(at)];
  }
  const std::vector<std::vector<NodeId>>& visited() const { return visited_; }
  const SolveReport& report() const { return report_; }

 private:
  const GraphView& graph_;
  const Components& components_;
  const SolveOptions& options_;
  const Execution& execution_;
  std::vector<NodeId> nodes_;  // by component: where the sweep stands
  std::vector<double> best_;
  std::vector<NodePair> pair_;
  std::vector<std::vector<NodeId>> visited_;
  SolveReport report_{.converged = true};
};

void take_smaller(std::vector<double>& upper, const std::vector<double>& other) {
  for (std::size_t c = 0; c < upper.size(); ++c) upper[c] = std::min(upper[c], other[c]);
}

/// By component: (sqrt a + sqrt b)^2 for the two largest values.
std::vector<double> from_diagonal(const Components& components, std::span<const double> diagonal) {
  std::vector<double> first(components.count()), second(components.count());
  for (std::size_t u = 0; u < diagonal.size(); ++u) {
    const NodeId c = components.of_node[u];
    const double value = std::max(0.0, diagonal[u]);
    second[c] = std::max(second[c], std::min(first[c], value));
    first[c] = std::max(first[c], value);
  }
  for (std::size_t c = 0; c < first.size(); ++c) {
    const double sum = std::sqrt(first[c]) + std::sqrt(second[c]);
    first[c] = sum * sum;
  }
  return first;
}

}  // namespace

ResistanceDiameter resistance_diameter(const GraphView& graph, const SolveOptions& options,
                                       const Execution& execution, NodeId exact_nodes,
                                       std::span<const double> diagonal_at_most) {
  const Components components = connected_components(graph, execution);
  if (graph.num_nodes() <= std::min(exact_nodes, kMaxDenseNodes)) return exactly(graph, components);
  constexpr int kSweeps = 4, kRoots = 4;
  DoubleSweep sweep(graph, components, options, execution);
  sweep.run(kSweeps);

  ResistanceDiameter result;
  const NodePair pair = sweep.best();
  const Estimates certain = exact_resistances(graph, {&pair, 1}, 1e-6, options, execution);
  result.lower = certain.value[0];
  result.u = pair.u;
  result.v = pair.v;
  result.report = merge(sweep.report(), certain.report);

  std::vector<double> upper =
      tree_diameters(best_shortest_path_forest(graph, components, 0, kRoots, execution));
  take_smaller(upper, tree_diameters(minimum_forest(graph, sweep.visited()[0], 0, execution)));
  for (const auto& roots : sweep.visited())
    take_smaller(upper, tree_diameters(shortest_path_forest(graph, roots)));
  if (!diagonal_at_most.empty()) take_smaller(upper, from_diagonal(components, diagonal_at_most));
  result.upper = *std::max_element(upper.begin(), upper.end());
  return result;
}

}  // namespace copse
