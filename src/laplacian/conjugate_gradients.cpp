// SPDX-License-Identifier: Apache-2.0
#include "laplacian/conjugate_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace copse {

namespace {

ColumnValues square_roots(ColumnValues values) {
  for (double& value : values) value = std::sqrt(value);
  return values;
}

/// sqrt(v . D^-1 v), or with D instead of its inverse.
template <class Real>
ColumnValues scaled_norm(const LaplacianSystem& system, const Real* v, int width, bool by_degree) {
  ColumnValues squares{};
  with_width(width, [&](auto w) {
    squares = sum_rows(system.execution, system.num_nodes(), [&](std::size_t begin, std::size_t end) {
      ColumnValues sum{};
      for (std::size_t u = begin; u < end; ++u) {
        const double inverse = system.inverse_degree[u];
        if (inverse == 0) continue;
        const double scale = by_degree ? 1 / inverse : inverse;
        for (int c = 0; c < w(); ++c) sum[c] += scale * double{v[u * w() + c]} * double{v[u * w() + c]};
      }
      return sum;
    });
  });
  return square_roots(squares);
}

}  // namespace

template <class Real>
ConjugateGradients<Real>::ConjugateGradients(const LaplacianSystem& system, int width, double tolerance,
                                             SolveMeasure measure)
    : system_(system), width_(width), tolerance_(tolerance), measure_(measure) {
  const std::size_t size = std::size_t{system.num_nodes()} * static_cast<std::size_t>(width);
  x_ = Buffer<Real>(size);
  r_ = Buffer<Real>(size);
  p_ = Buffer<Real>(size);
  q_ = Buffer<Real>(size + static_cast<std::size_t>(width));
}

template <class Real>
void ConjugateGradients<Real>::begin() {
  b_norm_ = r_norm_ = scaled_norm(system_, r_.data(), width_, false);
  x_norm_ = {};
}

template <class Real>
void ConjugateGradients<Real>::measure() {
  r_norm_ = scaled_norm(system_, r_.data(), width_, false);
  x_norm_ = scaled_norm(system_, x_.data(), width_, true);
}

template <class Real>
void ConjugateGradients<Real>::center_solution() {
  subtract_component_means(system_, x_.data(), width_);
}

template <class Real>
bool ConjugateGradients<Real>::any_active() const {
  return std::any_of(active_.begin(), active_.begin() + width_, [](bool active) { return active; });
}

template <class Real>
double ConjugateGradients<Real>::backward_error() const {
  double worst = 0;
  for (int c = 0; c < width_; ++c) {
    const double scale = 2 * x_norm_[c] + b_norm_[c];
    if (r_norm_[c] > 0) worst = std::max(worst, r_norm_[c] / scale);
    if (!std::isfinite(r_norm_[c])) return std::numeric_limits<double>::infinity();
  }
  return worst;
}

template <class Real>
void ConjugateGradients<Real>::restart(const Preconditioner* preconditioner) {
  preconditioner_ = preconditioner;
  for (int c = 0; c < width_; ++c) active_[c] = r_norm_[c] > target(c) && std::isfinite(r_norm_[c]);
  if (preconditioner_ != nullptr) std::copy(r_.begin(), r_.end(), q_.begin());
  precondition();
  next_direction({}, {});
}

template <class Real>
void ConjugateGradients<Real>::refine(const Preconditioner& preconditioner) {
  system_.execution.throw_if_cancelled();
  std::copy(r_.begin(), r_.end(), q_.begin());
  apply(preconditioner);
  for (std::size_t i = 0; i < x_.size(); ++i) x_[i] += q_[i];
  ++iterations_;
}

/// q = M^-1 q, and r . q.
template <class Real>
ColumnValues ConjugateGradients<Real>::apply(const Preconditioner& preconditioner) {
  if constexpr (std::is_same_v<Real, double>) return preconditioner.apply(q_.data(), width_);
  throw std::logic_error("floats are for the degrees alone");
}

template <class Real>
void ConjugateGradients<Real>::run(int limit) {
  while (iterations_ < limit && any_active()) {
    system_.execution.throw_if_cancelled();
    step();
  }
}

// Three passes over the vectors, and those of the preconditioner: the vectors are what an iteration waits
// for.
template <class Real>
void ConjugateGradients<Real>::step() {
  ColumnValues alpha{}, beta{};
  const ColumnValues pq = apply_laplacian(system_, p_.data(), q_.data(), width_);
  for (int c = 0; c < width_; ++c) {
    if (!active_[c]) continue;
    // Not positive: the directions have drowned in rounding. What was reached is checked by the caller.
    active_[c] = pq[c] > 0 && std::isfinite(rz_[c] / pq[c]);
    if (active_[c]) alpha[c] = rz_[c] / pq[c];
  }
  ++iterations_;
  update_residual(alpha);
  for (int c = 0; c < width_; ++c) active_[c] = active_[c] && r_norm_[c] > target(c);
  const ColumnValues before = rz_;
  if (any_active()) precondition();
  for (int c = 0; c < width_; ++c) {
    active_[c] = active_[c] && rz_[c] > 0 && std::isfinite(rz_[c]);
    if (active_[c]) beta[c] = rz_[c] / before[c];
  }
  next_direction(alpha, beta);
  // |x| only grows (Steihaug 1983), so an old one makes the test stricter, never laxer.
  if (iterations_ % (preconditioner_ != nullptr ? 4 : 8) == 0) update_solution_norm();
}

/// Constants in x are free; taken off, they do not pass for size.
template <class Real>
void ConjugateGradients<Real>::update_solution_norm() {
  if (preconditioner_ != nullptr) center_solution();  // with the degrees, x . D 1 stays 0 by itself
  x_norm_ = scaled_norm(system_, x_.data(), width_, true);
}

/// r -= alpha q and |r|. With a preconditioner, q becomes a copy of r for it to work on.
template <class Real>
void ConjugateGradients<Real>::update_residual(const ColumnValues& alpha) {
  ColumnValues squares{};
  with_width(width_, [&](auto w) {
    const bool copied = preconditioner_ != nullptr;
    squares = sum_rows(system_.execution, system_.num_nodes(), [&](std::size_t begin, std::size_t end) {
      ColumnValues sum{};
      Real *r = r_.data(), *q = q_.data();
      for (std::size_t u = begin; u < end; ++u) {
        const double inverse = system_.inverse_degree[u];
        for (int c = 0; c < w(); ++c) {
          const std::size_t i = u * w() + c;
          const Real value = r[i] - static_cast<Real>(alpha[c]) * q[i];
          r[i] = value;
          if (copied) q[i] = value;
          sum[c] += inverse * double{value} * double{value};
        }
      }
      return sum;
    });
  });
  r_norm_ = square_roots(squares);
}

/// q = M^-1 q and rz = r . q. By the degrees there is nothing to store.
template <class Real>
void ConjugateGradients<Real>::precondition() {
  if (preconditioner_ != nullptr) {
    rz_ = apply(*preconditioner_);
    return;
  }
  for (int c = 0; c < width_; ++c) rz_[c] = r_norm_[c] * r_norm_[c];
}

/// x += alpha p with the old direction, then p = M^-1 r + beta p.
template <class Real>
void ConjugateGradients<Real>::next_direction(const ColumnValues& alpha, const ColumnValues& beta) {
  with_width(width_, [&](auto w) {
    const bool stored = preconditioner_ != nullptr;
    parallel_blocks(system_.execution, system_.num_nodes(), kBlockRows,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      Real *x = x_.data(), *p = p_.data();
                      const Real *r = r_.data(), *q = q_.data();
                      for (std::size_t u = begin; u < end; ++u) {
                        const auto inverse = static_cast<Real>(system_.inverse_degree[u]);
                        for (int c = 0; c < w(); ++c) {
                          const std::size_t i = u * w() + c;
                          x[i] += static_cast<Real>(alpha[c]) * p[i];
                          p[i] = (stored ? q[i] : inverse * r[i]) + static_cast<Real>(beta[c]) * p[i];
                        }
                      }
                    });
  });
}

template <class Real>
double ConjugateGradients<Real>::reduction_left() const {
  double most = 1;
  for (int c = 0; c < width_; ++c) {
    if (active_[c]) most = std::max(most, r_norm_[c] / target(c));
  }
  return most;
}

template class ConjugateGradients<double>;
template class ConjugateGradients<float>;

}  // namespace copse
