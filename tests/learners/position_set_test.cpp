// SPDX-License-Identifier: Apache-2.0
#include "learners/position_set.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace copse {
namespace {

TEST(PositionSet, finds_the_neighbours_that_a_std_set_finds) {
  for (const std::uint64_t size : {1ull, 2ull, 63ull, 64ull, 65ull, 4096ull, 4097ull, 300000ull}) {
    SCOPED_TRACE(size);
    std::mt19937_64 random(size);
    PositionSet fast(size);
    std::set<std::uint64_t> slow;
    for (int step = 0; step < 6000; ++step) {
      const std::uint64_t at = random() % size;
      // Phases of growing and shrinking, so that words become empty again.
      if (random() % 4 < (step / 1000 % 2 == 0 ? 3u : 1u)) {
        fast.insert(at);
        slow.insert(at);
      } else {
        fast.erase(at);
        slow.erase(at);
      }
      const std::uint64_t ask = random() % size;
      ASSERT_EQ(fast.contains(static_cast<NodeId>(ask)), slow.count(ask) == 1);
      const auto after = slow.lower_bound(ask);
      ASSERT_EQ(fast.at_or_after(ask),
                after == slow.end() ? std::nullopt : std::optional<NodeId>(static_cast<NodeId>(*after)));
      auto before = slow.upper_bound(ask);
      ASSERT_EQ(fast.at_or_before(ask), before == slow.begin()
                                            ? std::nullopt
                                            : std::optional<NodeId>(static_cast<NodeId>(*--before)));
    }
    ASSERT_EQ(fast.at_or_after(size), std::nullopt);
  }
}

TEST(PositionMap, keeps_the_values_that_a_std_map_keeps) {
  for (const NodeId size : {1u, 64u, 65u, 1000u}) {
    std::mt19937_64 random(size);
    PositionMap<std::vector<int>> fast(size);
    std::map<NodeId, std::vector<int>> slow;
    for (int step = 0; step < 4000; ++step) {
      const auto at = static_cast<NodeId>(random() % size);
      if (slow.contains(at)) {
        ASSERT_EQ(fast[at], slow[at]);
        fast.erase(at);
        slow.erase(at);
      } else {
        fast.insert(at, {step});
        slow[at] = {step};
      }
    }
    for (auto& [at, value] : slow) {
      fast[at].push_back(1);
      value.push_back(1);
    }
    for (const auto& [at, value] : slow) EXPECT_EQ(fast[at], value);
  }
}

}  // namespace
}  // namespace copse
