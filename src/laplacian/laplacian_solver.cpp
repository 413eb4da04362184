// SPDX-License-Identifier: Apache-2.0
#include "copse/laplacian/laplacian_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "copse/support/parallel.hpp"
#include "laplacian/approximate_cholesky.hpp"
#include "laplacian/conjugate_gradients.hpp"
#include "laplacian/exact_cholesky.hpp"
#include "laplacian/right_hand_sides.hpp"
#include "laplacian/solve_policy.hpp"

namespace copse {

namespace {

constexpr int kFirstLook = 20;  // iterations before the rate says anything; then at twice, four times, ...
constexpr int kGlance = 6;      // iterations that tell an expander
constexpr int kSteady = 80;     // from here on what the residual did says more than what it may do
constexpr double kUsualReduction = 1e6;   // of a residual, before it is known
constexpr std::size_t kWorthProbing = 8;  // columns: one of them goes ahead

/// Iterations to expect at most after `look` of them, `by_pace` if the residual keeps its pace. Ritz values
/// know the worst that can come: an eigenvalue that the right-hand side hardly has (the constant, where few
/// nodes are grounded) makes them expect more than ever happens. Who seems to arrive before the next look is
/// let go on; else the pace counts for a third early on, when a residual may fall fast before it stalls.
double most_iterations(double by_pace, int look) {
  if (by_pace <= look) return 0;
  return look < kSteady ? 3 * by_pace : by_pace;
}

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

}  // namespace

/// What is kept between calls, and the decisions made on the way.
struct LaplacianSolver::State {
  State(const GraphView& graph, const SolveOptions& wanted, const Execution& how,
        std::span<const NodeId> grounded)
      : options(wanted),
        execution(how),
        given(LaplacianSystem::of(graph, grounded, how)),
        is_local(has_local_order(graph)) {}

  const LaplacianSystem& system() const { return reordered ? reordered->system : given; }
  std::span<const NodeId> order() const {
    return reordered ? std::span<const NodeId>(reordered->order) : std::span<const NodeId>();
  }
  SolveCosts costs() const { return SolveCosts::of(given, is_local); }

  SolveReport solve_block(const RightHandSides& sides, std::size_t columns_left);
  void iterate(std::unique_ptr<ConjugateGradients>& iteration, std::size_t columns_left);
  void choose_at_start(std::size_t columns_left);
  void probe(const RightHandSides& first, std::size_t columns);
  double run_at_pace(ConjugateGradients& iteration, int before, int look) const;
  void find_out(std::unique_ptr<ConjugateGradients>& iteration, std::size_t columns_left);
  bool reordering_pays(const ConjugateGradients& iteration, std::size_t columns_left) const;
  bool factor_pays(const ConjugateGradients& iteration, std::size_t columns_left,
                   double most_iterations) const;
  void factor_by(SolveMethod method, std::size_t columns_left);
  bool exact_may_pay(std::size_t columns_left);
  bool factor_exactly(std::size_t columns_left);
  const LevelStructure& levels();
  double approximate_cost(double reduction, std::size_t columns_left) const;
  void try_to_reorder();
  void follow(std::unique_ptr<ConjugateGradients>& iteration) const;

  SolveOptions options;
  Execution execution;
  LaplacianSystem given;
  bool is_local, tried_to_reorder = false;
  std::optional<ReorderedSystem> reordered;
  std::optional<LevelStructure> known_levels;
  std::unique_ptr<Preconditioner> factor;
  SolveMethod method = SolveMethod::jacobi;  // of `factor`
  bool chosen = false;
  double spent_on_jacobi = 0, last_column = 0;  // in all, and on one column of the last call
};

/// Named methods, and the cases where there is nothing to find out.
void LaplacianSolver::State::choose_at_start(std::size_t columns_left) {
  if (options.method != SolveMethod::automatic) {
    if (!chosen) factor_by(options.method, columns_left);
    chosen = true;
    return;
  }
  if (factor || given.num_free == 0) return;
  if (is_tiny(given)) return factor_by(SolveMethod::exact, columns_left);
  const double columns = SolveCosts::columns(static_cast<double>(columns_left));
  const double by_factor = SolveCosts::factor_iterations(kUsualReduction) * costs().factor_iteration();
  const bool is_tree_like = static_cast<double>(given.num_arcs) < kTreeLikeDegree * given.num_free;
  const bool pays_now = (last_column - by_factor) * columns > costs().factor();
  // Across calls, as one who rents skis until that has cost as much as buying them.
  const bool rented_enough = spent_on_jacobi > costs().factor() && last_column > by_factor;
  const auto is_deep = [&] {
    return least_iterations(levels()) * costs().jacobi_iteration() * columns >
           kFactorMargin * approximate_cost(kUsualReduction, columns_left);
  };
  if (is_tree_like || pays_now || rented_enough || is_deep())
    factor_by(factor_for(given, columns_left), columns_left);
}

const LevelStructure& LaplacianSolver::State::levels() {
  if (!known_levels) known_levels = level_structure(given.graph, max_flat_fill(given), execution);
  return *known_levels;
}

/// Nanoseconds of a randomized factor and of the iterations with it that bring residuals down by `reduction`.
double LaplacianSolver::State::approximate_cost(double reduction, std::size_t columns_left) const {
  const double columns = SolveCosts::columns(static_cast<double>(columns_left));
  return costs().factor() + SolveCosts::factor_iterations(reduction) * costs().factor_iteration() * columns;
}

bool LaplacianSolver::State::exact_may_pay(std::size_t columns_left) {
  if (is_nearly_a_tree(given)) return true;
  return levels().is_whole && expected_exact(costs(), levels(), static_cast<double>(columns_left)) <
                                  approximate_cost(kUsualReduction, columns_left);
}

/// Finds out what an exact factor costs, and makes it if that is less than a randomized one promises. False
/// when there is none.
bool LaplacianSolver::State::factor_exactly(std::size_t columns_left) {
  execution.throw_if_cancelled();
  const std::optional<SymbolicCholesky> symbolic = SymbolicCholesky::of(system());
  if (!symbolic) return false;
  if (options.method == SolveMethod::automatic && !is_tiny(given)) {
    const double entries = static_cast<double>(symbolic->entries());
    const double cost =
        SolveCosts::exact(symbolic->operations(), entries, static_cast<double>(symbolic->num_supernodes())) +
        costs().exact_solve(entries, static_cast<double>(columns_left));
    if (cost > approximate_cost(kUsualReduction, columns_left)) return false;
    if (symbolic->bytes() > max_factor_bytes(given.num_nodes(), given.num_arcs)) return false;
  }
  factor = exact_cholesky(system(), *symbolic, execution);
  method = SolveMethod::exact;
  return factor != nullptr;
}

void LaplacianSolver::State::factor_by(SolveMethod wanted, std::size_t columns_left) {
  if (wanted == SolveMethod::jacobi) return;
  const bool may_choose = options.method == SolveMethod::automatic;
  if (wanted == SolveMethod::exact || (may_choose && exact_may_pay(columns_left))) {
    if (factor_exactly(columns_left)) return;
    if (wanted == SolveMethod::exact)
      wanted = SolveMethod::approximate_cholesky2;  // its weights never cancel
  }
  try_to_reorder();
  constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t most = may_choose ? max_factor_entries(given) : kAny;
  factor = approximate_cholesky(system(), wanted == SolveMethod::approximate_cholesky2, most, execution);
  method = wanted;
}

void LaplacianSolver::State::try_to_reorder() {
  if (is_local || tried_to_reorder) return;
  tried_to_reorder = true;
  std::vector<NodeId> order = breadth_first_order(given.graph, execution);
  if (!has_local_order(given.graph, order)) return;
  reordered = reorder(given, std::move(order));
  reordered->system.graph = reordered->graph.view();
  is_local = true;
}

/// Moves the iteration to the order the system has got meanwhile.
void LaplacianSolver::State::follow(std::unique_ptr<ConjugateGradients>& iteration) const {
  if (&iteration->system() != &system())
    iteration = std::make_unique<ConjugateGradients>(*iteration, system(), order());
}

bool LaplacianSolver::State::factor_pays(const ConjugateGradients& iteration, std::size_t columns_left,
                                         double most_iterations) const {
  const double columns = SolveCosts::columns(static_cast<double>(columns_left));
  const double left = std::min(iteration.predicted_remaining(), most_iterations);
  const double by_jacobi = left * costs().jacobi_iteration() * columns;
  return by_jacobi > kFactorMargin * approximate_cost(iteration.reduction_left(), columns_left);
}

void LaplacianSolver::State::iterate(std::unique_ptr<ConjugateGradients>& iteration,
                                     std::size_t columns_left) {
  choose_at_start(columns_left);
  follow(iteration);
  // Where that is not enough, conjugate gradients go on: they bear an inaccurate factor.
  if (factor && method == SolveMethod::exact && iteration->iterations() == 0)
    return iteration->refine(*factor);
  iteration->restart(factor.get());
  if (options.method == SolveMethod::automatic && !factor) find_out(iteration, columns_left);
  iteration->run(options.max_iterations);
}

/// With many columns, the first goes ahead alone: what it finds out is worth more than what it costs.
void LaplacianSolver::State::probe(const RightHandSides& first, std::size_t columns) {
  if (options.method != SolveMethod::automatic) return;
  choose_at_start(columns);
  if (factor || last_column > 0 || given.num_free == 0) return;
  ConjugateGradients iteration(system(), 1, options.tolerance, execution);
  first.load(system(), order(), iteration.residual());
  iteration.begin();
  iteration.restart(nullptr);
  // Where a few iterations do, even this would be a waste.
  if (run_at_pace(iteration, 0, kGlance) < kFirstLook) return;
  const double by_pace = run_at_pace(iteration, 0, kFirstLook);
  if (iteration.any_active() && factor_pays(iteration, columns, most_iterations(by_pace, kFirstLook)))
    factor_by(factor_for(given, columns), columns);
}

/// `look` iterations after the first `before`; how many more it takes if the residual goes on falling as it
/// did in the second half of these.
double LaplacianSolver::State::run_at_pace(ConjugateGradients& iteration, int before, int look) const {
  iteration.run(std::min(before + look / 2, options.max_iterations));
  const double then = iteration.reduction_left();
  const int begun = iteration.iterations();
  iteration.run(std::min(before + look, options.max_iterations));
  const double now = iteration.reduction_left();
  if (!(now < then)) return std::numeric_limits<double>::infinity();
  return std::log(now) / std::log(then / now) * (iteration.iterations() - begun);
}

/// Runs by the degrees, looks at the rate every now and then, and leaves once a factor has been made.
void LaplacianSolver::State::find_out(std::unique_ptr<ConjugateGradients>& iteration,
                                      std::size_t columns_left) {
  const int before = iteration->iterations();
  for (int look = kFirstLook; !factor; look = 2 * look) {
    const int begun = iteration->iterations();
    const double by_pace = run_at_pace(*iteration, before, look);
    spent_on_jacobi += costs().jacobi_iteration() * (iteration->iterations() - begun);
    last_column = costs().jacobi_iteration() * (iteration->iterations() - before);
    if (!iteration->any_active() || iteration->iterations() >= options.max_iterations) return;
    if (factor_pays(*iteration, columns_left, most_iterations(by_pace, look))) {
      factor_by(factor_for(given, columns_left), columns_left);
      follow(iteration);
      iteration->restart(factor.get());
    } else if (reordering_pays(*iteration, columns_left)) {
      try_to_reorder();
      follow(iteration);
    }
  }
}

bool LaplacianSolver::State::reordering_pays(const ConjugateGradients& iteration,
                                             std::size_t columns_left) const {
  if (is_local || tried_to_reorder) return false;
  const double saved = costs().jacobi_iteration() - SolveCosts::of(given, true).jacobi_iteration();
  return iteration.predicted_remaining() * saved * SolveCosts::columns(static_cast<double>(columns_left)) >
         costs().reorder();
}

SolveReport LaplacianSolver::State::solve_block(const RightHandSides& sides, std::size_t columns_left) {
  auto iteration =
      std::make_unique<ConjugateGradients>(system(), sides.width(), options.tolerance, execution);
  sides.load(system(), order(), iteration->residual());
  const ColumnValues b_norm = norms(iteration->residual(), given.num_nodes(), sides.width());
  iteration->begin();
  SolveReport report;
  double last = std::numeric_limits<double>::infinity();
  for (;;) {
    iterate(iteration, columns_left);
    // The recursion may have lost touch: what counts is b - L x. Where that is still too large, it is the
    // right-hand side of the next round (iterative refinement), as long as rounds help.
    iteration->center_solution();
    sides.load_residual(system(), order(), iteration->solution(), iteration->residual());
    iteration->measure();
    report.backward_error = iteration->backward_error();
    report.converged = report.backward_error <= options.tolerance;
    if (report.converged || iteration->iterations() >= options.max_iterations) break;
    if (!(report.backward_error < last / 2)) break;
    last = report.backward_error;
  }
  const ColumnValues r_norm = norms(iteration->residual(), given.num_nodes(), sides.width());
  for (int c = 0; c < sides.width(); ++c) {
    if (r_norm[c] > 0) report.relative_residual = std::max(report.relative_residual, r_norm[c] / b_norm[c]);
  }
  report.method = factor ? method : SolveMethod::jacobi;
  report.factor_entries = factor ? factor->entries() : 0;
  report.stagnated = !report.converged;
  report.iterations = iteration->iterations();
  sides.store(system(), order(), iteration->solution());
  return report;
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
  const std::size_t size = std::size_t{state_->given.num_nodes()} * columns;
  if (b.size() != size || x.size() != size)
    throw UsageError{"b, x",
                     "they hold " + with_commas(b.size()) + " and " + with_commas(x.size()) + " numbers",
                     "nodes times columns are " + with_commas(size)};
  check_values(b, state_->given.execution);
  SolveReport report{.method = SolveMethod::jacobi, .converged = true};
  if (columns >= kWorthProbing) state_->probe(RightHandSides(state_->given, b, x, columns, 0, 1), columns);
  for (std::size_t first = 0; first < columns; first += kMaxWidth) {
    const int width = static_cast<int>(std::min<std::size_t>(kMaxWidth, columns - first));
    const RightHandSides sides(state_->given, b, x, columns, first, width);
    const SolveReport part = state_->solve_block(sides, columns - first);
    report.method = part.method;
    report.factor_entries = part.factor_entries;
    report.iterations = std::max(report.iterations, part.iterations);
    report.backward_error = std::max(report.backward_error, part.backward_error);
    report.relative_residual = std::max(report.relative_residual, part.relative_residual);
    report.converged = report.converged && part.converged;
    report.stagnated = report.stagnated || part.stagnated;
  }
  return report;
}

std::uint64_t LaplacianSolver::bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, std::size_t columns,
                                     const SolveOptions& options) {
  const std::uint64_t width = std::min<std::size_t>(columns, kMaxWidth);
  const std::uint64_t system = num_nodes * 24, vector = num_nodes * width * 8;
  if (options.method == SolveMethod::jacobi) return system + 5 * vector;
  // The reordered graph, the lists being eliminated and the factor, each with what vectors reserve as they
  // grow; and the vectors twice while they change order. An exact factor may take twice as much. An estimate.
  return system + 8 * vector + max_factor_bytes(num_nodes, num_arcs);
}

}  // namespace copse
