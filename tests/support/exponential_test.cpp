// SPDX-License-Identifier: Apache-2.0
#include "support/exponential.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace copse {
namespace {

TEST(Exponential, agrees_with_the_library_of_the_compiler) {
  for (double x = 700; x > -700; x -= 0.37) {
    const double expected = std::exp(x);
    EXPECT_NEAR(exponential_of(x), expected, 1e-15 * expected) << x;
  }
  EXPECT_EQ(exponential_of(0), 1);
  EXPECT_EQ(exponential_of(-1e300), 0);
}

TEST(Logarithm, agrees_with_the_library_of_the_compiler) {
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    const double expected = std::log(x);
    EXPECT_NEAR(logarithm_of(x), expected, 2e-15 * std::fabs(expected)) << x;
  }
  for (double x = 0.5; x < 2; x += 0.001)
    EXPECT_NEAR(logarithm_of(x), std::log(x), 3e-16 + 2e-15 * std::fabs(std::log(x)));
  EXPECT_EQ(logarithm_of(1), 0);
}

}  // namespace
}  // namespace copse
