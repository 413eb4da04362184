// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace copse {

/// out[i * out_stride + j] = -2 * (row i of a) . (row j of b), rows `stride` floats apart and as long, in
/// single precision and in no promised order of rounding: for choosing candidates, not for answers.
void minus_two_products(const float* a, std::size_t num_a, const float* b, std::size_t num_b,
                        std::size_t stride, float* out, std::size_t out_stride);

}  // namespace copse
