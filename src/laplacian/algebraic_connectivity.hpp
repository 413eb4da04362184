// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/laplacian/laplacian_solver.hpp"

namespace copse {

/// The second smallest eigenvalue of the Laplacian of a connected graph (Fiedler 1973), from above, nearly
/// always to five digits: the inverse of the largest eigenvalue that Lanczos finds in L^+, a solve per step.
/// Infinite for fewer than two nodes. A pure function of graph and seed.
double algebraic_connectivity(const GraphView& graph, const SolveOptions& options,
                              const Execution& execution);

}  // namespace copse
