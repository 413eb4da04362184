// SPDX-License-Identifier: Apache-2.0
#include "learners/votes.hpp"

#include <gtest/gtest.h>

namespace copse {
namespace {

TEST(Tally, a_tie_goes_to_the_nearest_vote_then_to_the_frequent_class_then_to_the_first) {
  ClassPrior prior;
  for (const Label label : {0, 1, 2}) prior.add(label);
  Tally tally(3);
  for (const Label label : {1, 2, 1, 2, 0}) tally.add(label);
  EXPECT_EQ(tally.decide(2, prior).label, 2);
  EXPECT_EQ(tally.decide(1, prior).label, 1);
  EXPECT_EQ(tally.decide(0, prior).label, 1);  // the nearest is not one of those that tie
  EXPECT_EQ(tally.decide(kNoLabel, prior).label, 1);
  prior.add(2);
  EXPECT_EQ(tally.decide(kNoLabel, prior).label, 2);
  EXPECT_DOUBLE_EQ(tally.decide(kNoLabel, prior).confidence, 2.0 / 5);
}

TEST(Votes, counters_and_ballots_are_the_same_tally) {
  // Few classes are counted, few trees keep their ballots (votes.hpp): either way the same votes.
  for (const std::size_t num_classes : {2, 300}) {
    for (const std::uint32_t num_trees : {5, 1000}) {
      Votes votes(2, num_classes, num_trees, 1);
      for (std::uint32_t tree = 0; tree < 5; ++tree)
        votes.add(1, tree, vote_of(static_cast<float>(5 - tree), static_cast<Label>(tree % 2)));
      EXPECT_EQ(votes.tally(0).total(), 0u);
      EXPECT_EQ(votes.nearest(0), kNoLabel);
      EXPECT_EQ(votes.tally(1).count(0), 3u);
      EXPECT_EQ(votes.tally(1).count(1), 2u);
      EXPECT_EQ(votes.nearest(1), 0);  // of tree 4, at distance 1
    }
  }
}

}  // namespace
}  // namespace copse
