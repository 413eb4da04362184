// SPDX-License-Identifier: Apache-2.0
#include "graph/block_product.hpp"

#ifdef COPSE_WITH_BLAS
#include <cblas.h>
// Only OpenBLAS has these; another BLAS is told by its own environment variables.
extern "C" {
__attribute__((weak)) void openblas_set_num_threads(int num_threads);
__attribute__((weak)) int openblas_get_num_threads(void);
}
#endif

namespace copse {

#ifdef COPSE_WITH_BLAS

void minus_two_products(const float* a, std::size_t num_a, const float* b, std::size_t num_b,
                        std::size_t stride, float* out, std::size_t out_stride) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(num_a), static_cast<int>(num_b),
              static_cast<int>(stride), -2.0F, a, static_cast<int>(stride), b, static_cast<int>(stride), 0.0F,
              out, static_cast<int>(out_stride));
}

OneBlasThread::OneBlasThread() {
  if (openblas_set_num_threads == nullptr || openblas_get_num_threads == nullptr) return;
  before_ = openblas_get_num_threads();
  openblas_set_num_threads(1);
}

OneBlasThread::~OneBlasThread() {
  if (before_ > 0) openblas_set_num_threads(before_);
}

#else

// Eight partial sums that the compiler keeps in a register: for builds without BLAS, many times slower.
void minus_two_products(const float* a, std::size_t num_a, const float* b, std::size_t num_b,
                        std::size_t stride, float* out, std::size_t out_stride) {
  constexpr std::size_t kLanes = 8;
  for (std::size_t i = 0; i < num_a; ++i) {
    for (std::size_t j = 0; j < num_b; ++j) {
      const float *x = a + i * stride, *y = b + j * stride;
      float sum[kLanes] = {};
      std::size_t t = 0;
      for (; t + kLanes <= stride; t += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) sum[lane] += x[t + lane] * y[t + lane];
      for (; t < stride; ++t) sum[0] += x[t] * y[t];
      float total = 0;
      for (const float part : sum) total += part;
      out[i * out_stride + j] = -2.0F * total;
    }
  }
}

OneBlasThread::OneBlasThread() = default;
OneBlasThread::~OneBlasThread() = default;

#endif

}  // namespace copse
