// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// The same nodes in the same order with the same parents and weights.
inline void expect_equal(const SpanningForest& a, const SpanningForest& b) {
  ASSERT_EQ(a.num_nodes(), b.num_nodes());
  EXPECT_TRUE(std::equal(a.node.begin(), a.node.end(), b.node.begin()));
  EXPECT_TRUE(std::equal(a.parent.begin(), a.parent.end(), b.parent.begin()));
  EXPECT_TRUE(std::equal(a.weight.begin(), a.weight.end(), b.weight.begin(), b.weight.end()));
}

}  // namespace copse
