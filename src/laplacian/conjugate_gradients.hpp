// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/laplacian/laplacian_solver.hpp"
#include "laplacian/laplacian_system.hpp"

namespace copse {

/// Conjugate gradients for up to kMaxWidth right-hand sides that share every pass over the graph but have
/// their own scalars. The number of columns beside it changes no bit of a column.
///
/// Norms are those of the system scaled by its degrees, D^-1/2 L D^-1/2, whose norm is at most 2:
/// |r| = sqrt(r . D^-1 r), |x| = sqrt(x . D x). A column is done when |r| <= tolerance (2 |x| + |b|), or
/// tolerance |b| where the relative residual is the measure.
///
/// On floats a pass waits for half the memory. They have the digits for tolerances of 1e-5 and above, by the
/// degrees alone; scalars and sums over the rows are doubles all the same.
template <class Real>
class ConjugateGradients {
 public:
  ConjugateGradients(const LaplacianSystem& system, int width, double tolerance, SolveMeasure measure);

  /// Fill this with b (0 at fixed nodes, summing to 0 in singular components), then begin().
  Real* residual() { return r_.data(); }
  Real* solution() { return x_.data(); }
  void begin();

  /// Fresh directions from the present residual, preconditioned by `preconditioner` (by the degrees if
  /// null) from now on. Columns whose residual is small enough are frozen, the others wake up.
  void restart(const Preconditioner* preconditioner);

  /// Iterates until every column is done or broken down, or until `limit` iterations in all.
  void run(int limit);

  /// x += M^-1 r, once: all there is to do where M is L. The residual is not brought up to date.
  void refine(const Preconditioner& preconditioner);

  /// The solution that another iteration for the same right-hand sides has reached; for measure() to go on.
  template <class Other>
  void take_over(ConjugateGradients<Other>& other) {
    std::copy_n(other.solution(), x_.size(), x_.data());
    iterations_ = other.iterations();
  }

  /// x = 0
  void start_over() { std::fill(x_.begin(), x_.end(), Real{}); }

  /// Norms that are not scaled may ask for more.
  void tighten(double factor) { tolerance_ *= factor; }

  /// With the true residual put into residual(): norms anew, from it.
  void measure();

  /// Takes the mean of every singular component off x.
  void center_solution();

  bool any_active() const;
  int iterations() const { return iterations_; }
  double backward_error() const;  // of the worst column, by the residual at hand

  /// |r| by what it has to be, of the column that is farthest from its goal.
  double reduction_left() const;

 private:
  void step();
  void update_residual(const ColumnValues& alpha);
  void precondition();
  ColumnValues apply(const Preconditioner& preconditioner);
  void next_direction(const ColumnValues& alpha, const ColumnValues& beta);
  void update_solution_norm();
  double target(int c) const {
    return tolerance_ * (measure_ == SolveMeasure::backward_error ? 2 * x_norm_[c] + b_norm_[c] : b_norm_[c]);
  }

  const LaplacianSystem& system_;
  const int width_;
  double tolerance_;
  const SolveMeasure measure_;
  const Preconditioner* preconditioner_ = nullptr;
  Buffer<Real> x_, r_, p_, q_;  // q is L p, then r on its way to M^-1 r
  ColumnValues rz_{}, r_norm_{}, x_norm_{}, b_norm_{};
  std::array<bool, kMaxWidth> active_{};
  int iterations_ = 0;
};

}  // namespace copse
