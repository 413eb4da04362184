// SPDX-License-Identifier: Apache-2.0
#include "points/products.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "support/simd.hpp"

namespace copse {
namespace {

// On registers of so many bytes, or on the widest that the processor has.
class Products : public testing::TestWithParam<std::size_t> {
  const NarrowRegisters narrow_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Registers, Products, testing::Values(16, 32, 64));

// Sizes around those of the blocks that it works in, and columns of `out` beyond them that are not its own.
TEST_P(Products, are_sums_in_the_order_of_the_columns_to_the_last_bit) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  constexpr float kUntouched = 77;
  for (const std::size_t stride : {8, 24, 256, 264, 520})
    for (const std::size_t num_a : {1, 2, 5, 6, 7, 13})
      for (const std::size_t num_b : {1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 70}) {
        std::vector<float> a(num_a * stride), b(num_b * stride);
        for (float& value : a) value = normal(random);
        for (float& value : b) value = normal(random);
        const std::size_t out_stride = num_b + 3;
        std::vector<float> out(num_a * out_stride, kUntouched);
        minus_two_products(a.data(), num_a, b.data(), num_b, stride, out.data(), out_stride);
        for (std::size_t i = 0; i < num_a; ++i) {
          for (std::size_t j = 0; j < num_b; ++j) {
            float sum = 0;
            double exact = 0, size = 0;
            for (std::size_t t = 0; t < stride; ++t) {
              const float x = a[i * stride + t], y = b[j * stride + t];
              sum += x * y;
              exact += -2.0 * x * y;
              size += std::abs(-2.0 * x * y);
            }
            ASSERT_EQ(out[i * out_stride + j], -2 * sum) << stride << " " << num_a << " " << num_b;
            // Higham 2002: whatever the order, n terms err by n units of the sum of their sizes at the most.
            ASSERT_NEAR(out[i * out_stride + j], exact, static_cast<double>(stride) * 0x1p-24 * size);
          }
          for (std::size_t j = num_b; j < out_stride; ++j) ASSERT_EQ(out[i * out_stride + j], kUntouched);
        }
      }
}

TEST_P(Products, of_a_few_rows_are_sixteen_sums_each_to_the_last_bit) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const std::size_t stride : {16, 32, 784})
    for (const std::size_t count : {1, 2, 3, 4, 5, 9, 33})
      for (const std::size_t num_rows : {std::size_t{1}, (count + 1) / 2, count}) {
        const std::size_t room = (count + kBlockOfRows - 1) / kBlockOfRows * kBlockOfRows;
        std::vector<float> rows(room * stride), out(room * room);
        for (float& value : rows) value = normal(random);
        row_products(rows.data(), num_rows, count, stride, out.data(), room);
        for (std::size_t i = 0; i < num_rows; ++i)
          for (std::size_t j = i + 1; j < count; ++j) {
            float sums[kSumsOfRows] = {};
            for (std::size_t t = 0; t < stride; ++t)
              sums[t % kSumsOfRows] += rows[i * stride + t] * rows[j * stride + t];
            for (std::size_t s = 0; s < 4; ++s)
              sums[s] = (sums[s] + sums[s + 4]) + (sums[s + 8] + sums[s + 12]);
            ASSERT_EQ(out[i * room + j], -2 * ((sums[0] + sums[1]) + (sums[2] + sums[3])));
          }
      }
}

TEST_P(Products, scanned_are_those_below_one_of_two_thresholds) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (std::size_t count = 0; count < 100; ++count)
    for (const float threshold : {0.0F, 0.05F, 0.5F}) {
      std::vector<float> products(count), norms(count), thresholds(count);
      for (float& value : products) value = uniform(random);
      for (float& value : norms) value = uniform(random);
      for (float& value : thresholds) value = threshold * uniform(random) * 2;
      const KeyRow row{products.data(), norms.data(), 0.25F, threshold, thresholds.data()};
      std::vector<std::uint32_t> hits(count), expected;
      hits.resize(scan_keys(row, count, hits.data()));
      for (std::uint32_t c = 0; c < count; ++c) {
        const float key = products[c] + (0.25F + norms[c]);
        if (key < threshold || key < thresholds[c]) expected.push_back(c);
      }
      EXPECT_EQ(hits, expected);
    }
}

}  // namespace
}  // namespace copse
