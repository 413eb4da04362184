// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "laplacian/laplacian_system.hpp"

namespace copse {

/// What an exact factorization may cost.
struct ExactLimits {
  double operations = std::numeric_limits<double>::infinity();  // multiplications, each with its subtraction
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
};

/// Cholesky factorization of the whole system, one node of every singular component grounded: multifrontal,
/// in the order of approximate minimum degree. Null when it would pass the limits, which is known before it
/// is made, or when a pivot drowned in rounding: weights of too many orders of magnitude. Throws Cancelled
/// when asked to stop.
std::unique_ptr<Preconditioner> exact_cholesky(const LaplacianSystem& system, const ExactLimits& limits = {});

}  // namespace copse
