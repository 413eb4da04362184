// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "laplacian/column_block.hpp"
#include "laplacian/laplacian_system.hpp"

namespace copse {

/// q = L p for `width` columns, 0 at fixed nodes; returns p . q of every column. p must be 0 at grounded
/// nodes. Rows are sums of w (p_u - p_v), not degree * p_u - sum w p_v: a large constant in p then costs no
/// digits.
ColumnValues apply_laplacian(const LaplacianSystem& system, const double* p, double* q, int width);

}  // namespace copse
