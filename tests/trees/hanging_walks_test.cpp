// SPDX-License-Identifier: Apache-2.0
#include "trees/hanging_walks.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "copse/support/random.hpp"

namespace copse {
namespace {

TEST(WalkPath, gives_back_what_it_was_given_like_a_vector) {
  Stream stream(1, Purpose::test, 0);
  WalkPath::Pieces pieces;
  constexpr std::size_t kPaths = 5;
  std::vector<WalkPath> paths(kPaths);
  std::vector<std::vector<NodeId>> twins(kPaths);
  for (int step = 0; step < 200'000; ++step) {
    const auto k = static_cast<std::size_t>(stream.below(kPaths));
    WalkPath& path = paths[k];
    std::vector<NodeId>& twin = twins[k];
    // Phases of growing and of shrinking, so that paths of many pieces and none are met.
    if (stream.below(100) < (step / 5'000 % 2 == 0 ? 70u : 30u)) {
      const auto node = static_cast<NodeId>(stream.below(1000));
      path.push_back(node, pieces);
      twin.push_back(node);
    } else if (!twin.empty()) {
      ASSERT_EQ(path.pop_back(pieces), twin.back());
      twin.pop_back();
    }
    ASSERT_EQ(path.empty(), twin.empty());
    if (twin.empty()) continue;
    ASSERT_EQ(path.back(), twin.back());
    for (const std::uint32_t steps : {0u, 1u, 8u})
      ASSERT_EQ(path.before_back(steps), steps < twin.size() ? twin[twin.size() - 1 - steps] : kNoNode);
  }
}

TEST(HangingWalks, go_on_when_their_node_is_lost_or_joins_the_tree) {
  HangingWalks walks(4);
  EXPECT_TRUE(walks.all_ended());
  const std::uint32_t a = walks.begin(10), b = walks.begin(20), c = walks.begin(30), d = walks.begin(40);
  EXPECT_FALSE(walks.can_begin());
  EXPECT_FALSE(walks.all_ended());
  walks.hang(b, a);
  walks.hang(c, a);
  walks.hang(d, b);
  EXPECT_EQ(walks.root_of(d), a);
  EXPECT_EQ(walks.hangs_on(d), b);

  walks.wake_those_cut_off(a, [](NodeId node) { return node != 30; });  // only c stands at what was lost
  ASSERT_TRUE(walks.has_woken());
  EXPECT_EQ(walks.take_woken(), c);
  EXPECT_FALSE(walks.has_woken());
  EXPECT_EQ(walks.root_of(c), c);
  EXPECT_EQ(walks.root_of(d), a);

  walks.end(a);
  ASSERT_TRUE(walks.has_woken());
  EXPECT_EQ(walks.take_woken(), b);
  EXPECT_FALSE(walks.has_woken()) << "d hangs on b, which goes on";
  EXPECT_EQ(walks.root_of(d), b);
  EXPECT_TRUE(walks.can_begin());
  EXPECT_EQ(walks.begin(50), a);
  EXPECT_EQ(walks.here(a), 50u);
  for (const std::uint32_t walk : {a, b, c}) walks.end(walk);
  EXPECT_EQ(walks.take_woken(), d);
  walks.end(d);
  EXPECT_TRUE(walks.all_ended());
}

}  // namespace
}  // namespace copse
