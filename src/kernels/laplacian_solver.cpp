// SPDX-License-Identifier: Apache-2.0
#include "copse/kernels/laplacian_solver.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "copse/support/parallel.hpp"
#include "kernels/approximate_cholesky.hpp"
#include "kernels/conjugate_gradients.hpp"
#include "kernels/exact_cholesky.hpp"
#include "kernels/laplacian_operator.hpp"
#include "kernels/laplacian_system.hpp"

namespace copse {

namespace {

void check_options(const SolveOptions& options) {
  if (!(options.tolerance > 0 && options.tolerance < 1))
    throw UsageError{"tolerance", "it is not between 0 and 1", "1e-8 suits most uses"};
  if (options.max_iterations < 1)
    throw UsageError{"max_iterations", "it is below 1", "leave it at its default, 10000"};
}

void check_values(std::span<const double> b, int threads) {
  const char is_finite = deterministic_reduce(
      threads, b.size(), char{1},
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          if (!std::isfinite(b[i])) return char{0};
        }
        return char{1};
      },
      [](char a, char c) { return static_cast<char>(a & c); });
  if (!is_finite)
    throw UsageError{"b", "a right-hand side holds a value that is not finite", "give finite numbers only"};
}

ColumnValues norms(const double* values, std::size_t rows, int width) {
  ColumnValues squares{};
  const auto w = static_cast<std::size_t>(width);
  for (std::size_t i = 0; i < rows * w; ++i) squares[i % w] += values[i] * values[i];
  for (double& value : squares) value = std::sqrt(value);
  return squares;
}

}  // namespace

struct LaplacianSolver::State {
  State(const GraphView& graph, const SolveOptions& wanted, const Execution& how,
        std::span<const NodeId> grounded)
      : options(wanted),
        execution(how),
        given(LaplacianSystem::of(graph, grounded, std::max(1, how.threads))) {}

  /// Columns [first, first + width) of b, as `system()` orders its nodes: scaled to at most 1 in size, 0
  /// where x is fixed, means of singular components taken off.
  void load(std::span<const double> b, std::size_t columns, std::size_t first, int width,
            const ColumnValues& scale, double* r) const;
  ColumnValues scales(std::span<const double> b, std::size_t columns, std::size_t first, int width) const;
  void store(const double* solved, std::span<double> x, std::size_t columns, std::size_t first, int width,
             const ColumnValues& scale) const;
  SolveReport solve_block(std::span<const double> b, std::span<double> x, std::size_t columns,
                          std::size_t first, int width);
  void iterate(ConjugateGradients& iteration, std::size_t columns_left);

  const LaplacianSystem& system() const { return reordered ? reordered->system : given; }
  NodeId old_number(std::size_t i) const { return reordered ? reordered->order[i] : static_cast<NodeId>(i); }

  SolveOptions options;
  Execution execution;
  LaplacianSystem given;
  std::optional<ReorderedSystem> reordered;
  std::unique_ptr<Preconditioner> factor;
  SolveMethod factor_method = SolveMethod::jacobi;
};

ColumnValues LaplacianSolver::State::scales(std::span<const double> b, std::size_t columns, std::size_t first,
                                            int width) const {
  const ColumnValues largest = deterministic_reduce(
      given.threads, given.num_nodes(), ColumnValues{},
      [&](std::size_t begin, std::size_t end) {
        ColumnValues most{};
        for (std::size_t u = begin; u < end; ++u) {
          if (given.is_fixed(static_cast<NodeId>(u))) continue;
          for (int c = 0; c < width; ++c)
            most[c] = std::max(most[c], std::fabs(b[u * columns + first + static_cast<std::size_t>(c)]));
        }
        return most;
      },
      [](ColumnValues a, const ColumnValues& other) {
        for (int c = 0; c < kMaxWidth; ++c) a[c] = std::max(a[c], other[c]);
        return a;
      },
      kBlockRows);
  ColumnValues scale{};
  // Powers of two: no digit changes, and no square overflows.
  for (int c = 0; c < width; ++c) scale[c] = largest[c] > 0 ? std::ldexp(1.0, -std::ilogb(largest[c])) : 1;
  return scale;
}

void LaplacianSolver::State::load(std::span<const double> b, std::size_t columns, std::size_t first,
                                  int width, const ColumnValues& scale, double* r) const {
  const auto w = static_cast<std::size_t>(width);
  parallel_blocks(given.threads, given.num_nodes(), kBlockRows,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t i = begin; i < end; ++i) {
                      const bool is_fixed = system().is_fixed(static_cast<NodeId>(i));
                      const double* from = &b[std::size_t{old_number(i)} * columns + first];
                      for (std::size_t c = 0; c < w; ++c) r[i * w + c] = is_fixed ? 0 : from[c] * scale[c];
                    }
                  });
  subtract_component_means(system(), r, width);
}

void LaplacianSolver::State::store(const double* solved, std::span<double> x, std::size_t columns,
                                   std::size_t first, int width, const ColumnValues& scale) const {
  const auto w = static_cast<std::size_t>(width);
  parallel_blocks(given.threads, given.num_nodes(), kBlockRows,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t i = begin; i < end; ++i) {
                      double* to = &x[std::size_t{old_number(i)} * columns + first];
                      for (std::size_t c = 0; c < w; ++c) to[c] = solved[i * w + c] / scale[c];
                    }
                  });
}

void LaplacianSolver::State::iterate(ConjugateGradients& iteration, std::size_t) {
  if (options.method == SolveMethod::exact && !factor) {
    factor = exact_cholesky(system());
    if (factor) factor_method = SolveMethod::exact;
  }
  if ((options.method == SolveMethod::approximate_cholesky ||
       options.method == SolveMethod::approximate_cholesky2) &&
      !factor) {
    factor = approximate_cholesky(system(), options.method == SolveMethod::approximate_cholesky2,
                                  std::uint64_t(-1), execution);
    factor_method = options.method;
  }
  iteration.restart(factor.get());
  iteration.run(options.max_iterations);
}

SolveReport LaplacianSolver::State::solve_block(std::span<const double> b, std::span<double> x,
                                                std::size_t columns, std::size_t first, int width) {
  SolveReport report;
  const ColumnValues scale = scales(b, columns, first, width);
  ConjugateGradients iteration(system(), width, options.tolerance, execution);
  load(b, columns, first, width, scale, iteration.residual());
  const ColumnValues b_norm = norms(iteration.residual(), system().num_nodes(), width);
  iteration.begin();
  Buffer<double> product(std::size_t{given.num_nodes()} * static_cast<std::size_t>(width));
  double last = std::numeric_limits<double>::infinity();
  for (;;) {
    iterate(iteration, columns - first);
    // The recursion may have lost touch: what counts is b - L x. Where that is still too large, it is the
    // right-hand side of the next round (iterative refinement), as long as rounds help.
    iteration.center_solution();
    load(b, columns, first, width, scale, iteration.residual());
    apply_laplacian(system(), iteration.solution(), product.data(), width);
    for (std::size_t i = 0; i < product.size(); ++i) iteration.residual()[i] -= product[i];
    subtract_component_means(system(), iteration.residual(), width);
    iteration.measure();
    report.backward_error = iteration.backward_error();
    report.converged = report.backward_error <= options.tolerance;
    if (report.converged || iteration.iterations() >= options.max_iterations) break;
    if (!(report.backward_error < last / 2)) break;
    last = report.backward_error;
  }
  const ColumnValues r_norm = norms(iteration.residual(), system().num_nodes(), width);
  for (int c = 0; c < width; ++c) {
    if (r_norm[c] > 0) report.relative_residual = std::max(report.relative_residual, r_norm[c] / b_norm[c]);
  }
  report.method = factor_method;
  report.factor_entries = factor ? factor->entries() : 0;
  report.stagnated = !report.converged;
  report.iterations = iteration.iterations();
  store(iteration.solution(), x, columns, first, width, scale);
  return report;
}

LaplacianSolver::LaplacianSolver(const GraphView& graph, const SolveOptions& options,
                                 const Execution& execution, std::span<const NodeId> grounded) {
  check_options(options);
  state_ = std::make_unique<State>(graph, options, execution, grounded);
}
LaplacianSolver::~LaplacianSolver() = default;
LaplacianSolver::LaplacianSolver(LaplacianSolver&&) noexcept = default;

SolveReport LaplacianSolver::solve(std::span<const double> b, std::span<double> x, std::size_t columns) {
  const std::size_t size = std::size_t{state_->given.num_nodes()} * columns;
  if (b.size() != size || x.size() != size)
    throw UsageError{"b, x",
                     "they hold " + with_commas(b.size()) + " and " + with_commas(x.size()) + " numbers",
                     "nodes times columns are " + with_commas(size)};
  check_values(b, state_->given.threads);
  SolveReport report{.method = SolveMethod::jacobi, .converged = true};
  for (std::size_t first = 0; first < columns; first += kMaxWidth) {
    const int width = static_cast<int>(std::min<std::size_t>(kMaxWidth, columns - first));
    const SolveReport part = state_->solve_block(b, x, columns, first, width);
    report.iterations = std::max(report.iterations, part.iterations);
    report.backward_error = std::max(report.backward_error, part.backward_error);
    report.relative_residual = std::max(report.relative_residual, part.relative_residual);
    report.converged = report.converged && part.converged;
    report.stagnated = report.stagnated || part.stagnated;
    report.method = part.method;
    report.factor_entries = part.factor_entries;
  }
  return report;
}

std::uint64_t LaplacianSolver::bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, std::size_t columns,
                                     const SolveOptions& options) {
  const std::uint64_t width = std::min<std::size_t>(columns, kMaxWidth);
  const std::uint64_t vectors = num_nodes * width * 8 * 5, system = num_nodes * 24;
  if (options.method == SolveMethod::jacobi) return vectors + system;
  return vectors + system + num_nodes * 48 + num_arcs * 48;
}

}  // namespace copse
