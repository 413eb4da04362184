// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "copse/laplacian/laplacian_solver.hpp"

namespace copse {

std::string SolveReport::note() const {
  if (converged) return "";
  char text[160];
  std::snprintf(text, sizeof text,
                "the solver stopped after %d iterations at a backward error of %.1e: answers may be inexact",
                iterations, backward_error);
  return text;
}

}  // namespace copse
