// SPDX-License-Identifier: Apache-2.0
#include "copse/laplacian/laplacian_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "copse/support/random.hpp"
#include "laplacian/approximate_cholesky.hpp"
#include "laplacian/conjugate_gradients.hpp"
#include "laplacian/exact_cholesky.hpp"
#include "laplacian/solve_policy.hpp"

namespace copse {

namespace {

void check_options(const SolveOptions& options) {
  if (!(options.tolerance > 0 && options.tolerance < 1))
    throw UsageError{"tolerance", "it is not between 0 and 1", "1e-8 suits most uses"};
  if (options.max_iterations < 1)
    throw UsageError{"max_iterations", "it is below 1", "leave it at its default, 10000"};
}

void check_values(std::span<const double> b, const Execution& execution) {
  const char is_finite = deterministic_reduce(
      execution, b.size(), char{1},
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
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t c = 0; c < w; ++c) squares[c] += values[i * w + c] * values[i * w + c];
  for (double& value : squares) value = std::sqrt(value);
  return squares;
}

/// ||r|| / ||b||, of the worst column.
double relative_residual(ConjugateGradients<double>& iteration, int width, std::size_t rows,
                         const ColumnValues& b_norm) {
  const ColumnValues r_norm = norms(iteration.residual(), rows, width);
  double worst = 0;
  for (int c = 0; c < width; ++c) {
    if (!std::isfinite(r_norm[c])) return std::numeric_limits<double>::infinity();
    if (r_norm[c] > 0) worst = std::max(worst, r_norm[c] / b_norm[c]);
  }
  return worst;
}

/// Columns [first, first + width) of the caller's arrays, b[node * columns + column], on their way into the
/// iterations and out again. `order[i]` is the caller's number of node i; empty for the same order.
class RightHandSides {
 public:
  RightHandSides(const LaplacianSystem& system, std::span<const NodeId> order, std::span<const double> b,
                 std::span<double> x, std::size_t columns, std::size_t first)
      : system_(system),
        order_(order),
        b_(b),
        x_(x),
        columns_(columns),
        first_(first),
        width_(std::min<std::size_t>(kMaxWidth, columns - first)) {
    const ColumnValues largest = largest_values();
    for (std::size_t c = 0; c < width_; ++c) {
      // Between 2^-1000 and 2^1000, so that both the scale and its inverse are numbers.
      const int exponent = largest[c] > 0 ? std::clamp(std::ilogb(largest[c]), -1000, 1000) : 0;
      scale_[c] = std::ldexp(1.0, -exponent);
    }
  }

  int width() const { return static_cast<int>(width_); }

  /// r = b: 0 where x is fixed, at most 2 in size, the means of singular components taken off.
  template <class Real>
  void load(Real* r) const {
    std::fill_n(r, std::size_t{system_.num_nodes()} * width_, Real{});
    load_less(r);
  }

  /// r = b - L x, from scratch.
  void load_residual(const double* x, double* r) const {
    apply_laplacian(system_, x, r, width());
    load_less(r);
  }

  /// x, in the caller's order and size.
  void store(const double* solved) const {
    for_each_row([&](std::size_t i, std::size_t at) {
      for (std::size_t c = 0; c < width_; ++c) x_[at + c] = solved[i * width_ + c] / scale_[c];
    });
  }

 private:
  /// r = b - r
  template <class Real>
  void load_less(Real* r) const {
    for_each_row([&](std::size_t i, std::size_t at) {
      const bool is_fixed = system_.inverse_degree[i] == 0;
      for (std::size_t c = 0; c < width_; ++c)
        r[i * width_ + c] =
            is_fixed ? 0 : static_cast<Real>(b_[at + c] * scale_[c] - double{r[i * width_ + c]});
    });
    subtract_component_means(system_, r, width());
  }
  std::size_t place(std::size_t i) const { return (order_.empty() ? i : order_[i]) * columns_ + first_; }

  /// body(node, place of its first value in the caller's arrays)
  template <class Body>
  void for_each_row(Body&& body) const {
    parallel_blocks(system_.execution, system_.num_nodes(), kBlockRows,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      for (std::size_t i = begin; i < end; ++i) body(i, place(i));
                    });
  }

  ColumnValues largest_values() const {
    return deterministic_reduce(
        system_.execution, system_.num_nodes(), ColumnValues{},
        [&](std::size_t begin, std::size_t end) {
          ColumnValues most{};
          for (std::size_t i = begin; i < end; ++i) {
            if (system_.inverse_degree[i] == 0) continue;
            for (std::size_t c = 0; c < width_; ++c) most[c] = std::max(most[c], std::fabs(b_[place(i) + c]));
          }
          return most;
        },
        [](ColumnValues a, const ColumnValues& other) {
          for (int c = 0; c < kMaxWidth; ++c) a[c] = std::max(a[c], other[c]);
          return a;
        },
        kBlockRows);
  }

  const LaplacianSystem& system_;
  std::span<const NodeId> order_;
  std::span<const double> b_;
  std::span<double> x_;
  std::size_t columns_, first_, width_;
  ColumnValues scale_{};  // powers of two: no digit changes, and no square overflows
};

}  // namespace

/// What is kept between calls: nothing that would make an answer depend on earlier ones.
struct LaplacianSolver::State {
  State(const GraphView& graph, const SolveOptions& wanted, const Execution& execution,
        std::span<const NodeId> grounded)
      : options(wanted), system(LaplacianSystem::of(graph, grounded, execution)) {
    if (options.method != SolveMethod::jacobi) improve_order(execution);
  }

  void improve_order(const Execution& execution);
  const LevelStructure& levels();
  bool factors_at_once();
  bool finds_out_once() const { return options.expected_solves >= kManySolves; }
  bool probe_wants_factor();
  void use_factor();
  bool make_exact_factor();
  void make_randomized_factor();

  SolveReport solve_block(const RightHandSides& sides, std::size_t columns_left);
  template <class Real>
  void iterate(ConjugateGradients<Real>& iteration, std::size_t columns_left);
  template <class Real>
  void find_out(ConjugateGradients<Real>& iteration, std::size_t columns_left);

  SolveOptions options;
  LaplacianSystem system;
  std::vector<NodeId> order;  // order[i]: the caller's number of node i; empty if that is i
  Graph reordered;            // what `system` looks at then
  std::optional<LevelStructure> known_levels;
  std::optional<bool> wants_factor;             // whatever the right-hand side
  std::unique_ptr<Preconditioner> factor;       // made when it is first wanted
  SolveMethod method = SolveMethod::automatic;  // of `factor`
  const Preconditioner* in_use = nullptr;       // by the call at hand: the factor, or null for the degrees
};

/// Neighbours far apart make every pass wait for the memory: some eight times as long on 10^6 nodes, and a
/// new order costs as much as eight passes.
void LaplacianSolver::State::improve_order(const Execution& execution) {
  if (has_local_order(system.graph)) return;
  std::vector<NodeId> better = breadth_first_order(system.graph, execution, system.graph.num_nodes() / 4);
  if (better.empty() || !has_local_order(system.graph, better)) return;
  ReorderedSystem moved = reorder(system, better);
  order = std::move(better);
  reordered = std::move(moved.graph);
  system = std::move(moved.system);
  system.graph = reordered.view();
}

const LevelStructure& LaplacianSolver::State::levels() {
  if (!known_levels)
    known_levels = level_structure(system.graph, policy::max_flat_fill(system), system.execution);
  return *known_levels;
}

/// Named methods, the cases where there is nothing to find out, and what a probe has found out.
bool LaplacianSolver::State::factors_at_once() {
  if (options.method == SolveMethod::jacobi || system.num_free == 0) return false;
  if (!wants_factor)
    wants_factor = options.method != SolveMethod::automatic || policy::is_tiny(system) ||
                   policy::has_few_cycles(system) ||
                   policy::factor_pays(policy::least_iterations(levels()), policy::kUsualReduction,
                                       options.expected_solves) ||
                   (finds_out_once() && probe_wants_factor());
  return *wants_factor;
}

/// Solves for a random column, which is no more than one solve of many.
bool LaplacianSolver::State::probe_wants_factor() {
  Stream stream(system.execution.seed, Purpose::laplacian_factor, 2);
  std::vector<double> probe(system.num_nodes());
  for (double& value : probe) value = stream.uniform() - 0.5;
  ConjugateGradients<double> iteration(system, 1, options.tolerance, options.measure);
  RightHandSides(system, order, probe, probe, 1, 0).load(iteration.residual());
  iteration.begin();
  iteration.restart(nullptr);
  find_out(iteration, 1);
  return in_use != nullptr;
}

void LaplacianSolver::State::use_factor() {
  const bool may_be_exact = options.method == SolveMethod::automatic || options.method == SolveMethod::exact;
  if (!factor && !(may_be_exact && make_exact_factor())) make_randomized_factor();
  in_use = factor.get();
}

/// False when there is none, or a randomized one promises to be cheaper.
bool LaplacianSolver::State::make_exact_factor() {
  ExactLimits limits;
  if (options.method == SolveMethod::automatic && !policy::is_tiny(system)) {
    if (policy::is_forest(system) || !levels().is_whole) return false;
    limits = policy::exact_limits(system, options.expected_solves);
    const bool is_promising = policy::expected_operations(system, levels()) <= limits.operations;
    if (!is_promising && !policy::has_few_cycles(system)) return false;
  }
  method = SolveMethod::exact;
  factor = exact_cholesky(system, limits);
  return factor != nullptr;
}

void LaplacianSolver::State::make_randomized_factor() {
  const bool is_limited = options.method == SolveMethod::automatic;
  // Where the exact factor has failed, the one whose weights never cancel.
  const bool is_doubled =
      options.method == SolveMethod::approximate_cholesky2 || options.method == SolveMethod::exact;
  method = is_doubled ? SolveMethod::approximate_cholesky2 : SolveMethod::approximate_cholesky;
  factor = approximate_cholesky(
      system, is_doubled,
      is_limited ? policy::max_factor_entries(system) : std::numeric_limits<std::uint64_t>::max(),
      system.execution);
}

/// Floats leave when a factor is in use: that is for doubles.
template <class Real>
void LaplacianSolver::State::iterate(ConjugateGradients<Real>& iteration, std::size_t columns_left) {
  // Where one solve is not enough, conjugate gradients go on: they bear an inaccurate factor.
  if (in_use != nullptr && method == SolveMethod::exact && iteration.iterations() == 0)
    return iteration.refine(*in_use);
  iteration.restart(in_use);
  const bool is_open = options.method == SolveMethod::automatic && !finds_out_once();
  if (is_open && in_use == nullptr) {
    find_out(iteration, columns_left);
    if (in_use != nullptr && std::is_same_v<Real, float>) return;
    if (in_use != nullptr) iteration.restart(in_use);
  }
  iteration.run(options.max_iterations);
}

/// Runs by the degrees, looks at the pace every now and then, and leaves once a factor is in use.
template <class Real>
void LaplacianSolver::State::find_out(ConjugateGradients<Real>& iteration, std::size_t columns_left) {
  const int before = iteration.iterations();
  for (int look = policy::kFirstLook; in_use == nullptr; look = 2 * look) {
    iteration.run(std::min(before + look / 2, options.max_iterations));
    const double then = iteration.reduction_left();
    iteration.run(std::min(before + look, options.max_iterations));
    const double now = iteration.reduction_left();
    if (!iteration.any_active() || iteration.iterations() >= options.max_iterations) break;
    const double left = now < then ? std::log(now) / std::log(then / now) * (look - look / 2)
                                   : std::numeric_limits<double>::infinity();
    if (!policy::factor_pays(left, now, std::max(columns_left, options.expected_solves))) continue;
    use_factor();
  }
}

SolveReport LaplacianSolver::State::solve_block(const RightHandSides& sides, std::size_t columns_left) {
  ConjugateGradients<double> iteration(system, sides.width(), options.tolerance, options.measure);
  sides.load(iteration.residual());
  const ColumnValues b_norm = norms(iteration.residual(), system.num_nodes(), sides.width());
  iteration.begin();
  SolveReport report;
  double last = std::numeric_limits<double>::infinity();
  for (bool is_rough = in_use == nullptr && policy::floats_suffice(options, system);; is_rough = false) {
    if (is_rough) {
      ConjugateGradients<float> rough(system, sides.width(), 0.9 * options.tolerance, options.measure);
      sides.load(rough.residual());
      rough.begin();
      iterate(rough, columns_left);
      iteration.take_over(rough);
    } else {
      iterate(iteration, columns_left);
    }
    // The recursion may have lost touch: what counts is b - L x. Where that is still too large, it is the
    // right-hand side of the next round (iterative refinement), as long as rounds help.
    iteration.center_solution();
    sides.load_residual(iteration.solution(), iteration.residual());
    iteration.measure();
    report.backward_error = iteration.backward_error();
    double reached = report.backward_error;
    if (options.measure == SolveMeasure::relative_residual) {
      reached = relative_residual(iteration, sides.width(), system.num_nodes(), b_norm);
      iteration.tighten(std::clamp(0.5 * options.tolerance / reached, 1e-3, 1.0));
    }
    report.converged = reached <= options.tolerance;
    if (is_rough && !(report.backward_error < 0.5)) {  // a light bridge may make x too large for floats
      iteration.start_over();
      sides.load(iteration.residual());
      iteration.measure();
    }
    if (report.converged || iteration.iterations() >= options.max_iterations) break;
    if (!is_rough && !(reached < last / 2)) break;
    last = reached;
  }
  report.relative_residual = relative_residual(iteration, sides.width(), system.num_nodes(), b_norm);
  report.method = in_use != nullptr ? method : SolveMethod::jacobi;
  report.factor_entries = in_use != nullptr ? in_use->entries() : 0;
  report.stagnated = !report.converged;
  report.iterations = iteration.iterations();
  sides.store(iteration.solution());
  return report;
}

SolveReport merge(const SolveReport& a, const SolveReport& b) {
  SolveReport both = b;
  both.iterations = std::max(a.iterations, b.iterations);
  both.backward_error = std::max(a.backward_error, b.backward_error);
  both.relative_residual = std::max(a.relative_residual, b.relative_residual);
  both.converged = a.converged && b.converged;
  both.stagnated = a.stagnated || b.stagnated;
  both.factor_entries = std::max(a.factor_entries, b.factor_entries);
  return both;
}

std::string SolveReport::note() const {
  if (converged) return "";
  char text[160];
  std::snprintf(text, sizeof text,
                "the solver stopped after %d iterations at a backward error of %.1e: answers may be inexact",
                iterations, backward_error);
  return text;
}

LaplacianSolver::LaplacianSolver(const GraphView& graph, const SolveOptions& options,
                                 const Execution& execution, std::span<const NodeId> grounded) {
  check_options(options);
  if (graph.is_signed())
    throw UsageError{"graph", "has negative edges, and this Laplacian knows none",
                     "solve on double_cover(graph), or on graph.magnitudes() if signs are not meant"};
  state_ = std::make_unique<State>(graph, options, execution, grounded);
}
LaplacianSolver::~LaplacianSolver() = default;
LaplacianSolver::LaplacianSolver(LaplacianSolver&&) noexcept = default;

SolveReport LaplacianSolver::solve(std::span<const double> b, std::span<double> x, std::size_t columns) {
  State& state = *state_;
  const std::size_t size = std::size_t{state.system.num_nodes()} * columns;
  if (b.size() != size || x.size() != size)
    throw UsageError{"b, x",
                     "they hold " + with_commas(b.size()) + " and " + with_commas(x.size()) + " numbers",
                     "nodes times columns are " + with_commas(size)};
  check_values(b, state.system.execution);
  state.in_use = nullptr;
  if (columns > 0 && state.factors_at_once()) state.use_factor();
  SolveReport report{.method = SolveMethod::jacobi, .converged = true};
  for (std::size_t first = 0; first < columns; first += kMaxWidth) {
    const RightHandSides sides(state.system, state.order, b, x, columns, first);
    report = merge(report, state.solve_block(sides, columns - first));
  }
  return report;
}

std::uint64_t LaplacianSolver::bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, std::size_t columns,
                                     const SolveOptions& options) {
  const std::uint64_t width = std::min<std::size_t>(columns, kMaxWidth);
  const std::uint64_t system = num_nodes * 24, vector = num_nodes * width * 8;
  if (options.method == SolveMethod::jacobi) return system + 5 * vector;
  // The reordered graph, the lists being eliminated and the factor, each with what vectors reserve as they
  // grow. An exact factor may take twice as much. An estimate.
  return system + 8 * vector + policy::max_factor_bytes(num_nodes, num_arcs);
}

}  // namespace copse
