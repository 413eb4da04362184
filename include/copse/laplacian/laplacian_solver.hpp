// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "copse/graph/graph.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// How a Laplacian system is solved.
enum class SolveMethod {
  automatic,              // whichever is predicted to be cheapest; Jacobi first where that cannot be told
  jacobi,                 // conjugate gradients, preconditioned by the degrees
  approximate_cholesky,   // conjugate gradients, preconditioned by randomized elimination (AC)
  approximate_cholesky2,  // the same with every edge split in two (AC-s2): dearer, more robust
  exact,                  // sparse Cholesky factorization; for graphs that are flat, long and thin, or small
};

/// What a tolerance is of: both are told in SolveReport.
enum class SolveMeasure { backward_error, relative_residual };

struct SolveOptions {
  SolveMethod method = SolveMethod::automatic;
  double tolerance = 1e-8;  // each column by itself
  SolveMeasure measure = SolveMeasure::backward_error;
  int max_iterations = 10000;
  /// Right-hand sides that the solver will be given in all, about: a factor that pays over so many is made.
  std::size_t expected_solves = 1;

  SolveOptions expecting(std::size_t solves) const {
    SolveOptions options = *this;
    options.expected_solves = solves;
    return options;
  }
};

/// For who keeps a solver and asks again and again: online learners, query strategies, Lanczos.
inline constexpr std::size_t kManySolves = 32;

/// How a solve went: the accuracy reached is reported, never assumed.
///
/// The backward error is ||r|| / (||L|| ||x|| + ||b||) of the system scaled by its degrees D, D^-1/2 L
/// D^-1/2, the norm of which is at most 2: sqrt(r . D^-1 r) / (2 sqrt(x . D x) + sqrt(b . D^-1 b)). Scaling
/// makes every row count alike. Without it, hubs and heavy edges would set the measure, and a leaf on a light
/// edge could be quite wrong unnoticed. On regular graphs both are the same. ||r|| / ||b|| is a goal only for
/// who asks for it (SolveMeasure): where x is large (a light bridge, a long path) double precision cannot
/// bring it down to 1e-8, and elsewhere it takes more iterations for digits that x does not have.
struct SolveReport {
  SolveMethod method = SolveMethod::automatic;  // the one that gave the answer
  int iterations = 0;                           // of the column that needed most
  double backward_error = 0;                    // of the worst column, from its true residual
  double relative_residual = 0;                 // ||r|| / ||b||, of the worst column
  bool converged = false;
  bool stagnated = false;  // stopped short of it: at the limit of double precision, or of max_iterations
  std::uint64_t factor_entries = 0;  // of the preconditioner, 0 for Jacobi

  /// One line for a user, when there is something to say; empty otherwise.
  std::string note() const;
};

/// What to report of several solves as of one: the worst of each figure.
SolveReport merge(const SolveReport& a, const SolveReport& b);

/// Solves L x = b for the Laplacian L = D - A of a graph of any number of components, for as many
/// right-hand sides as one likes: what can be shared (degrees, components, the factor) is kept between calls.
/// An answer is a function of the system, the options, the seed and the columns it was asked with, never of
/// earlier calls. Keeps a view: the graph must outlive it.
///
/// With grounded nodes the system is L_UU x_U = b_U over the others U, and x is 0 at the grounded ones: the
/// harmonic problem. In a component without a grounded node (all of them, when none is grounded) L is
/// singular: there the answer is the pseudoinverse's, x = L^+ b: the component's mean is taken off b, and x
/// sums to 0.
///
/// Deterministic: the same bits for any number of threads.
class LaplacianSolver {
 public:
  LaplacianSolver(const GraphView& graph, const SolveOptions& options, const Execution& execution,
                  std::span<const NodeId> grounded = {});
  ~LaplacianSolver();
  LaplacianSolver(LaplacianSolver&&) noexcept;

  /// `columns` right-hand sides at once, node by node: b[node * columns + column]; x likewise. They may be
  /// the same array. Throws Cancelled when asked to stop.
  SolveReport solve(std::span<const double> b, std::span<double> x, std::size_t columns = 1);

  /// Bytes a solver and one call take at most, the graph itself not counted. A randomized factor that is
  /// forced on an expander may take up to three times as much; the automatic choice makes none there.
  static std::uint64_t bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, std::size_t columns,
                             const SolveOptions& options);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace copse
