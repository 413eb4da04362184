// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace copse {

namespace detail {

/// Eigenvalues below `shift` of the symmetric tridiagonal matrix (Sturm's count).
inline std::size_t eigenvalues_below(const std::vector<double>& diagonal, const std::vector<double>& squares,
                                     double shift) {
  std::size_t below = 0;
  double pivot = 1;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    pivot = diagonal[k] - shift - (k == 0 ? 0 : squares[k - 1] / pivot);
    if (pivot == 0) pivot = -1e-300;
    below += pivot < 0;
  }
  return below;
}

}  // namespace detail

/// Eigenvalues of the Lanczos matrix that the first `steps` scalars of conjugate gradients define: what the
/// iteration has seen of the spectrum of the preconditioned matrix (Golub & Van Loan, Matrix Computations,
/// section 10.2). By bisection, to 2 %.
class RitzValues {
 public:
  RitzValues(const std::vector<double>& alpha, const std::vector<double>& beta, std::size_t steps)
      : diagonal_(steps), squares_(steps) {
    for (std::size_t k = 0; k < steps; ++k) {
      diagonal_[k] = 1 / alpha[k] + (k == 0 ? 0 : beta[k - 1] / alpha[k - 1]);
      squares_[k] = beta[k] / (alpha[k] * alpha[k]);
      top_ =
          std::fmax(top_, diagonal_[k] + std::sqrt(squares_[k]) + (k == 0 ? 0 : std::sqrt(squares_[k - 1])));
    }
  }

  std::size_t count() const { return diagonal_.size(); }
  double largest() const { return smallest(count()); }

  /// The `rank`-th smallest, from 1.
  double smallest(std::size_t rank) const {
    double low = top_ * 1e-15, high = top_ * 1.01;
    while (high > low * 1.02) {
      const double middle = std::sqrt(low) * std::sqrt(high);
      (detail::eigenvalues_below(diagonal_, squares_, middle) >= rank ? high : low) = middle;
    }
    return high;
  }

 private:
  std::vector<double> diagonal_, squares_;
  double top_ = 0;
};

}  // namespace copse
