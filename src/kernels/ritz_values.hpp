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

/// Smallest and largest eigenvalue of the Lanczos matrix that the scalars of conjugate gradients define:
/// what the iteration has seen so far of the spectrum of the preconditioned matrix (Golub & Van Loan,
/// Matrix Computations, section 10.2). By bisection, to 2 %.
inline std::pair<double, double> extreme_ritz_values(const std::vector<double>& alpha,
                                                     const std::vector<double>& beta) {
  const std::size_t steps = alpha.size();
  std::vector<double> diagonal(steps), squares(steps);
  double top = 0;
  for (std::size_t k = 0; k < steps; ++k) {
    diagonal[k] = 1 / alpha[k] + (k == 0 ? 0 : beta[k - 1] / alpha[k - 1]);
    squares[k] = beta[k] / (alpha[k] * alpha[k]);
    top = std::fmax(top, diagonal[k] + std::sqrt(squares[k]) + (k == 0 ? 0 : std::sqrt(squares[k - 1])));
  }
  const auto bisect = [&](std::size_t count) {  // the smallest shift with `count` eigenvalues below it
    double low = top * 1e-15, high = top * 1.01;
    while (high > low * 1.02) {
      const double middle = std::sqrt(low) * std::sqrt(high);
      (detail::eigenvalues_below(diagonal, squares, middle) >= count ? high : low) = middle;
    }
    return high;
  };
  return {bisect(1), bisect(steps)};
}

}  // namespace copse
