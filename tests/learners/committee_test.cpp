// SPDX-License-Identifier: Apache-2.0
#include "learners/committee.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "copse/graph/build.hpp"
#include "copse/learners/registry.hpp"

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
      Votes votes(2, num_classes, num_trees);
      for (std::uint32_t tree = 0; tree < 5; ++tree)
        votes.add(tree, std::vector<Vote>{{}, vote_of(5.0 - tree, static_cast<Label>(tree % 2))});
      EXPECT_EQ(votes.tally(0).total(), 0u);
      EXPECT_EQ(votes.nearest(0), kNoLabel);
      EXPECT_EQ(votes.tally(1).count(0), 3u);
      EXPECT_EQ(votes.tally(1).count(1), 2u);
      EXPECT_EQ(votes.nearest(1), 0);  // of tree 4, at distance 1
    }
  }
}

TEST(ExplainByVotes, gives_the_mean_resistance_over_the_trees_that_a_node_decided) {
  const std::vector<Label> labels{kNoLabel, 0, 1};
  const auto reasons = explain_by_votes(4, labels, [](auto&& body) {
    body(TreeVote{0, 1, 1.0});
    body(TreeVote{1, 2, 5.0});
    body(TreeVote{0, 1, 3.0});
  });
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].node, 1u);
  EXPECT_EQ(reasons[0].label, 0);
  EXPECT_DOUBLE_EQ(reasons[0].share, 0.5);
  EXPECT_DOUBLE_EQ(reasons[0].resistance, 2);
  EXPECT_DOUBLE_EQ(reasons[1].share, 0.25);
  EXPECT_DOUBLE_EQ(reasons[1].resistance, 5);
}

TEST(FitCommittee, says_when_weights_were_taken_as_larger_ones) {
  const std::vector<Label> labels{0, kNoLabel, 1};
  for (const Weight light : {0x1p-59F, 0x1p-61F}) {
    const Graph graph = graph_from_edges(3, {{0, 1, 1}, {1, 2, light}});
    for (const char* name : {"wta", "tree_cut"}) {
      const BatchResult result = learner_row(name).fit(graph, labels, 2, {}, {});
      const bool is_told = std::ranges::any_of(result.notes, [](const std::string& note) {
        return note.find("1 weights below 2^-60 of the largest") != std::string::npos;
      });
      EXPECT_EQ(is_told, light < 0x1p-60F) << name;
    }
  }
}

}  // namespace
}  // namespace copse
