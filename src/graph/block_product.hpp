// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace copse {

/// out[i * out_stride + j] = -2 * (row i of a) . (row j of b), rows `stride` floats apart and as long, in
/// single precision, `stride` a multiple of 8: BLAS where copse is built with one. Each call runs on the
/// thread that makes it.
void minus_two_products(const float* a, std::size_t num_a, const float* b, std::size_t num_b,
                        std::size_t stride, float* out, std::size_t out_stride);

/// While one of these lives, BLAS starts no threads of its own: copse's loops are parallel around it, and a
/// product's rounding must not depend on how many there are. Puts the old setting back.
class OneBlasThread {
 public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  int before_ = 0;
};

}  // namespace copse
