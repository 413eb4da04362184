// SPDX-License-Identifier: Apache-2.0
#include "points/block_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace copse {
namespace {

// Sizes around those of the blocks that it works in, and columns of `out` beyond them that are not its own.
TEST(BlockProduct, agrees_with_sums_in_double) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  constexpr float kUntouched = 77;
  for (const std::size_t stride : {8, 24, 256, 264, 520})
    for (const std::size_t num_a : {1, 2, 5, 6, 7, 13})
      for (const std::size_t num_b : {1, 15, 16, 17, 40}) {
        std::vector<float> a(num_a * stride), b(num_b * stride);
        for (float& value : a) value = normal(random);
        for (float& value : b) value = normal(random);
        const std::size_t out_stride = num_b + 3;
        std::vector<float> out(num_a * out_stride, kUntouched);
        minus_two_products(a.data(), num_a, b.data(), num_b, stride, out.data(), out_stride);
        for (std::size_t i = 0; i < num_a; ++i) {
          for (std::size_t j = 0; j < num_b; ++j) {
            double sum = 0, size = 0;
            for (std::size_t t = 0; t < stride; ++t) {
              const double term = -2.0 * a[i * stride + t] * b[j * stride + t];
              sum += term;
              size += std::abs(term);
            }
            // Higham 2002: whatever the order, n terms err by n units of the sum of their sizes at the most.
            ASSERT_NEAR(out[i * out_stride + j], sum, static_cast<double>(stride) * 0x1p-24 * size)
                << stride << " " << num_a << " " << num_b;
          }
          for (std::size_t j = num_b; j < out_stride; ++j) ASSERT_EQ(out[i * out_stride + j], kUntouched);
        }
      }
}

}  // namespace
}  // namespace copse
