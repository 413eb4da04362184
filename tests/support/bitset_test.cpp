// SPDX-License-Identifier: Apache-2.0
#include "support/bitset.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace copse {
namespace {

TEST(Bitset, visits_what_was_set_in_order) {
  for (const std::size_t size : {0u, 1u, 63u, 64u, 65u, 1000u}) {
    Bitset bits(size);
    std::vector<std::size_t> expected, visited;
    for (std::size_t i = 0; i < size; ++i) {
      if (i % 64 != 0 && i % 64 != 63 && i % 7 != 3) continue;
      bits.set(i);
      expected.push_back(i);
    }
    for (std::size_t i = 0, at = 0; i < size; ++i) {
      const bool is_set = at < expected.size() && expected[at] == i;
      EXPECT_EQ(bits.test(i), is_set);
      at += is_set;
    }
    bits.for_each([&](std::size_t i) { visited.push_back(i); });
    EXPECT_EQ(visited, expected);
  }
}

}  // namespace
}  // namespace copse
