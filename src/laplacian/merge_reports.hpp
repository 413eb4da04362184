// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "copse/laplacian/laplacian_solver.hpp"

namespace copse {

/// What to report of several solves as of one: the worst of each figure.
inline SolveReport merge(const SolveReport& a, const SolveReport& b) {
  SolveReport both = b;
  both.iterations = std::max(a.iterations, b.iterations);
  both.backward_error = std::max(a.backward_error, b.backward_error);
  both.relative_residual = std::max(a.relative_residual, b.relative_residual);
  both.converged = a.converged && b.converged;
  both.stagnated = a.stagnated || b.stagnated;
  both.factor_entries = std::max(a.factor_entries, b.factor_entries);
  return both;
}

}  // namespace copse
