// SPDX-License-Identifier: Apache-2.0
#include "copse/evaluation/left_out.hpp"

#include <gtest/gtest.h>

#include <random>

namespace copse {
namespace {

TEST(DoubtedLabels, are_those_that_another_class_outscores_worst_first) {
  const std::vector<Label> labels = {0, 1, kNoLabel, 0, 1};
  const LeaveOneOut left_out{{0, 1, 3, 4}, {0.9, 0.1, 3, 1, 0.4, 0.6, -1, 5}, false};
  const auto doubted = doubted_labels(left_out, labels, 2);
  ASSERT_EQ(doubted.size(), 2);
  EXPECT_EQ(doubted[0].node, 1);
  EXPECT_EQ(doubted[0].given, 1);
  EXPECT_EQ(doubted[0].suggested, 0);
  EXPECT_DOUBLE_EQ(doubted[0].given_score, 0.25);
  EXPECT_DOUBLE_EQ(doubted[0].suggested_score, 0.75);
  EXPECT_EQ(doubted[1].node, 3);
}

/// Shares of the truth that are uniform: the set holds the truth where the share is above the threshold.
TEST(CoverageThreshold, holds_the_truth_as_often_as_asked) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform;
  for (const double coverage : {0.5, 0.8, 0.95}) {
    double held = 0;
    constexpr int kTrials = 4000;
    for (int trial = 0; trial < kTrials; ++trial) {
      LeaveOneOut left_out;
      std::vector<Label> labels;
      for (NodeId u = 0; u < 40; ++u) {
        const double share = uniform(random);
        left_out.nodes.push_back(u);
        left_out.raw_scores.insert(left_out.raw_scores.end(), {share, 1 - share});
        labels.push_back(0);
      }
      held += uniform(random) >= coverage_threshold(left_out, labels, 2, coverage) ? 1 : 0;
    }
    // At least what is asked, at most 1/41 more; three standard errors of the trials.
    EXPECT_GT(held / kTrials, coverage - 0.024);
    EXPECT_LT(held / kTrials, coverage + 1 / 41. + 0.024);
  }
}

TEST(CoverageThreshold, is_zero_where_labels_are_too_few_to_promise_anything) {
  const LeaveOneOut left_out{{0, 1}, {0.9, 0.1, 0.2, 0.8}, false};
  const std::vector<Label> labels = {0, 1};
  EXPECT_EQ(coverage_threshold(left_out, labels, 2, 0.9), 0);
  EXPECT_EQ(coverage_threshold({}, labels, 2, 0.9), 0);
  EXPECT_DOUBLE_EQ(coverage_threshold(left_out, labels, 2, 0.6), 0.8);
}

TEST(NormaliseScores, clips_and_knows_rows_of_nothing) {
  std::vector<double> scores = {-1, 1, 3};
  normalise_scores(scores);
  EXPECT_EQ(scores, (std::vector<double>{0, 0.25, 0.75}));
  scores = {-1, 0};
  normalise_scores(scores);
  EXPECT_EQ(scores, (std::vector<double>{0.5, 0.5}));
}

}  // namespace
}  // namespace copse
