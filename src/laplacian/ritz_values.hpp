// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <vector>

#include "laplacian/tridiagonal.hpp"

namespace copse {

/// Eigenvalues of the Lanczos matrix that the first `steps` scalars of conjugate gradients define: what the
/// iteration has seen of the spectrum of the preconditioned matrix (Golub & Van Loan, Matrix Computations,
/// section 10.2). By bisection, to 2 %.
class RitzValues {
 public:
  RitzValues(const std::vector<double>& alpha, const std::vector<double>& beta, std::size_t steps) {
    for (std::size_t k = 0; k < steps; ++k) {
      const double passed = k == 0 ? 0 : beta[k - 1] / alpha[k - 1];
      lanczos_.add(1 / alpha[k] + passed, k == 0 ? 0 : std::sqrt(beta[k - 1]) / alpha[k - 1]);
    }
  }

  std::size_t count() const { return lanczos_.size(); }
  double largest() const { return smallest(count()); }
  /// The `rank`-th smallest, from 1.
  double smallest(std::size_t rank) const { return lanczos_.smallest(rank, 0.02); }

 private:
  Tridiagonal lanczos_;
};

}  // namespace copse
