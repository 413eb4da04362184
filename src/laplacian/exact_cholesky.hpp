// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "copse/support/execution.hpp"
#include "laplacian/laplacian_system.hpp"
#include "laplacian/preconditioner.hpp"
#include "laplacian/symbolic_cholesky.hpp"

namespace copse {

/// Sparse Cholesky factorization of the whole system, one node of every singular component grounded:
/// multifrontal (Duff & Reid 1983), over the supernodes of `symbolic`, which must be of this system. Null
/// when a pivot drowned in rounding: weights of too many orders of magnitude. Throws Cancelled when asked to
/// stop.
std::unique_ptr<Preconditioner> exact_cholesky(const LaplacianSystem& system,
                                               const SymbolicCholesky& symbolic, const Execution& execution);

}  // namespace copse
