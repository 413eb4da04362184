// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/laplacian_system.hpp"
#include "kernels/preconditioner.hpp"

namespace copse {

/// Sparse Cholesky factorization of the whole system, one node of every singular component grounded. Null
/// when a pivot drowned in rounding (weights of too many orders of magnitude), when the factor would have
/// more than `max_entries`, or when the system is larger than the factorization can number.
std::unique_ptr<Preconditioner> exact_cholesky(const LaplacianSystem& system, std::uint64_t max_entries);

}  // namespace copse
