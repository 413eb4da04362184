// SPDX-License-Identifier: Apache-2.0
#include "laplacian/quadratic_forms.hpp"

#include <algorithm>
#include <array>

#include "copse/graph/components.hpp"
#include "copse/laplacian/tree_kernel.hpp"
#include "copse/support/parallel.hpp"
#include "copse/trees/sample.hpp"
#include "laplacian/merge_reports.hpp"

namespace copse {
namespace {

constexpr std::size_t kMostColumns = 8;
constexpr std::size_t kRowBlock = 1 << 14;
constexpr double kRounding = 1e-13;  // relative: sums of up to 10^9 terms of one sign, in blocks

using Columns = std::array<double, kMostColumns>;

Columns plus(Columns a, const Columns& b) {
  for (std::size_t c = 0; c < a.size(); ++c) a[c] += b[c];
  return a;
}

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
      const Columns energy = subtract_product(x.span(), residual.span(), k);
      tree_.multiply(residual.span(), product.span(), k);
      const Columns missing = dot(residual.span(), product.span(), k);
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
        [](double a, double b) { return a + b; }, kRowBlock);
    return up - sum / components_.sizes[component];
  }

  /// b -= L x by differences, which lose nothing where x is nearly constant; returns x' L x.
  Columns subtract_product(std::span<const double> x, std::span<double> b, std::size_t k) const {
    return deterministic_reduce(
        execution_, graph_.num_nodes(), Columns{},
        [&](std::size_t begin, std::size_t end) {
          Columns energy{};
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
        },
        plus, kRowBlock);
  }

  Columns dot(std::span<const double> a, std::span<const double> b, std::size_t k) const {
    return deterministic_reduce(
        execution_, graph_.num_nodes(), Columns{},
        [&](std::size_t begin, std::size_t end) {
          Columns sum{};
          for (std::size_t u = begin; u < end; ++u)
            for (std::size_t c = 0; c < k; ++c) sum[c] += a[u * k + c] * b[u * k + c];
          return sum;
        },
        plus, kRowBlock);
  }

  const GraphView& graph_;
  const Execution& execution_;
  Components components_;
  LaplacianSolver solver_;
  TreeKernel tree_;  // of shortest paths: its pseudoinverse is at least that of the graph
};

}  // namespace

Estimates quadratic_forms(const GraphView& graph, std::span<const UnitSource> sources, double tolerance,
                          const SolveOptions& options, const Execution& execution) {
  Estimates result{
      std::vector<double>(sources.size()), std::vector<double>(sources.size()), 1, {.converged = true}};
  if (sources.empty()) return result;
  Forms forms(graph, options, execution);
  for (std::size_t begin = 0; begin < sources.size(); begin += kMostColumns) {
    execution.throw_if_cancelled();
    execution.report("solves", begin, sources.size());
    const std::size_t count = std::min(kMostColumns, sources.size() - begin);
    result.report = merge(result.report, forms.solve(sources.subspan(begin, count), tolerance,
                                                     &result.value[begin], &result.error[begin]));
  }
  return result;
}

}  // namespace copse
