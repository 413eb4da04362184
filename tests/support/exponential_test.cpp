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

}  // namespace
}  // namespace copse
