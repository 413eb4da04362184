// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <limits>
#include <string>

#include "copse/graph/components.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/laplacian/tree_kernel.hpp"
#include "copse/support/error.hpp"
#include "copse/trees/sample.hpp"
#include "laplacian/laplacian_system.hpp"

namespace copse {
namespace {

constexpr double kRounding = 1e-13;  // relative: sums of up to 10^9 terms of one sign, in blocks

/// A right-hand side: 1 at `plus`, and -1 at `minus` or, if that is kNoNode, spread evenly over the
/// component. Both are of one component.
struct UnitSource {
  NodeId plus, minus;
};

/// b' L^+ b for a few b at a time: see exact_resistances.
class Forms {
 public:
  Forms(const GraphView& graph, const SolveOptions& options, const Execution& execution)
      : graph_(graph),
        execution_(execution),
        components_(connected_components(graph, execution)),
        solver_(graph, options, execution),
        tree_(TreeSampler(graph, TreeKind::spt, execution).tree(0)) {}

  /// Fills value and error of a few sources.
  SolveReport solve(std::span<const UnitSource> sources, double tolerance, double* value, double* error) {
    const std::size_t n = graph_.num_nodes(), k = sources.size();
    Buffer<double> x(n * k), residual(n * k), product(n * k);
    load(sources, residual.span());
    SolveReport report = solver_.solve(residual.span(), x.span(), k);
    constexpr int kRefinements = 3;
    for (int round = 0;; ++round) {
      load(sources, residual.span());
      const ColumnValues energy = subtract_product(x.span(), residual.span(), k);
      tree_.multiply(residual.span(), product.span(), k);
      const ColumnValues missing = dot(residual.span(), product.span(), k);
      bool enough = true;
      for (std::size_t c = 0; c < k; ++c) {
        value[c] = 2 * pairing(sources[c], x.span(), k, c) - energy[c];
        error[c] = std::max(0.0, missing[c]) + kRounding * value[c];
        enough = enough && missing[c] <= tolerance * value[c];
      }
      if (enough || round == kRefinements) return report;
      report = merge(report, solver_.solve(residual.span(), product.span(), k));
      for (std::size_t i = 0; i < n * k; ++i) x[i] += product[i];
    }
  }

 private:
  void load(std::span<const UnitSource> sources, std::span<double> b) const {
    const std::size_t k = sources.size();
    std::fill(b.begin(), b.end(), 0.0);
    for (std::size_t c = 0; c < k; ++c) {
      b[std::size_t{sources[c].plus} * k + c] += 1;
      if (sources[c].minus != kNoNode) {
        b[std::size_t{sources[c].minus} * k + c] -= 1;
        continue;
      }
      const NodeId component = components_.of_node[sources[c].plus];
      const double share = 1.0 / components_.sizes[component];
      for (std::size_t u = 0; u < graph_.num_nodes(); ++u)
        if (components_.of_node[u] == component) b[u * k + c] -= share;
    }
  }

  /// b' x for one column.
  double pairing(const UnitSource& source, std::span<const double> x, std::size_t k, std::size_t c) const {
    const double up = x[std::size_t{source.plus} * k + c];
    if (source.minus != kNoNode) return up - x[std::size_t{source.minus} * k + c];
    const NodeId component = components_.of_node[source.plus];
    const double sum = deterministic_reduce(
        execution_, graph_.num_nodes(), 0.0,
        [&](std::size_t begin, std::size_t end) {
          double part = 0;
          for (std::size_t u = begin; u < end; ++u)
            if (components_.of_node[u] == component) part += x[u * k + c];
          return part;
        },
        std::plus<>(), kBlockRows);
    return up - sum / components_.sizes[component];
  }

  /// b -= L x by differences, which lose nothing where x is nearly constant; returns x' L x.
  ColumnValues subtract_product(std::span<const double> x, std::span<double> b, std::size_t k) const {
    return sum_rows(execution_, graph_.num_nodes(), [&](std::size_t begin, std::size_t end) {
      ColumnValues energy{};
      for (std::size_t u = begin; u < end; ++u) {
        for (EdgeIndex arc = graph_.offsets[u]; arc < graph_.offsets[u + 1]; ++arc) {
          const double weight = graph_.weight(arc);
          const double* other = &x[std::size_t{graph_.neighbors[arc]} * k];
          for (std::size_t c = 0; c < k; ++c) {
            const double drop = x[u * k + c] - other[c];
            b[u * k + c] -= weight * drop;
            energy[c] += weight * drop * drop / 2;  // every edge is seen from both ends
          }
        }
      }
      return energy;
    });
  }

  ColumnValues dot(std::span<const double> a, std::span<const double> b, std::size_t k) const {
    return sum_rows(execution_, graph_.num_nodes(), [&](std::size_t begin, std::size_t end) {
      ColumnValues sum{};
      for (std::size_t u = begin; u < end; ++u)
        for (std::size_t c = 0; c < k; ++c) sum[c] += a[u * k + c] * b[u * k + c];
      return sum;
    });
  }

  const GraphView& graph_;
  const Execution& execution_;
  Components components_;
  LaplacianSolver solver_;
  TreeKernel tree_;  // of shortest paths: its pseudoinverse is at least that of the graph
};

/// b' L^+ b for each b, from below, with a certain bound on what is missing.
Estimates quadratic_forms(const GraphView& graph, std::span<const UnitSource> sources, double tolerance,
                          const SolveOptions& options, const Execution& execution) {
  Estimates result{
      std::vector<double>(sources.size()), std::vector<double>(sources.size()), 1, {.converged = true}};
  if (sources.empty()) return result;
  Forms forms(graph, options.expecting(sources.size()), execution);
  for (std::size_t begin = 0; begin < sources.size(); begin += std::size_t{kMaxWidth}) {
    execution.throw_if_cancelled();
    execution.report("solves", begin, sources.size());
    const std::size_t count = std::min(std::size_t{kMaxWidth}, sources.size() - begin);
    result.report = merge(result.report, forms.solve(sources.subspan(begin, count), tolerance,
                                                     &result.value[begin], &result.error[begin]));
  }
  return result;
}

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
