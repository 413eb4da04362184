// SPDX-License-Identifier: Apache-2.0
#include "copse/evaluation/left_out.hpp"

#include <gtest/gtest.h>

#include <cmath>
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

TEST(CoverageThreshold, counts_labels_that_no_other_reaches_by_the_shares_of_the_others) {
  const LeaveOneOut left_out{{0, 1}, {0.9, 0.1, 0.2, 0.8}, false};
  const std::vector<Label> labels = {0, 1, 0, kNoLabel, 0};  // 2 and 4: two of three others are of class 0
  EXPECT_DOUBLE_EQ(coverage_threshold(left_out, labels, 2, 0.6), 2 / 3.);
  EXPECT_DOUBLE_EQ(coverage_threshold(left_out, labels, 2, 0.4), 0.8);
}

/// Answers for labelled nodes without their own labels, and for nothing else.
class LeftOutOnly final : public Predictor {
 public:
  LeftOutOnly(LeaveOneOut left_out, std::size_t num_classes)
      : left_out_(std::move(left_out)), num_classes_(num_classes) {}
  Prediction predict(NodeId) const override { return {}; }
  void scores(NodeId, std::span<double>) const override {}
  std::optional<LeaveOneOut> leave_one_out(const Execution&) const override { return left_out_; }
  std::size_t num_classes() const override { return num_classes_; }

 private:
  LeaveOneOut left_out_;
  std::size_t num_classes_;
};

double f1_above(double threshold, const std::vector<double>& scores, const std::vector<bool>& truth) {
  double right = 0, answered = 0, positives = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    answered += scores[i] > threshold;
    positives += truth[i];
    right += scores[i] > threshold && truth[i];
  }
  return 2 * right / (answered + positives);
}

TEST(ClassThresholds, no_other_has_a_larger_f1) {
  std::mt19937_64 random(2);
  std::uniform_int_distribution<int> small(0, 9);  // small numbers: many ties
  for (int trial = 0; trial < 50; ++trial) {
    SCOPED_TRACE(trial);
    MultiLabels labels;
    for (const char* name : {"a", "b"}) labels.classes.intern(name);
    labels.sets = {{0}, {1}, {0, 1}};
    LeaveOneOut left_out;
    std::vector<double> scores;  // of class b
    std::vector<bool> truth;
    for (NodeId u = 0; u < 30; ++u) {
      labels.set_of_node.push_back(static_cast<Label>(small(random) % 3));
      left_out.nodes.push_back(u);
      const double row[] = {0.05 + 0.1 * small(random), 0.05 + 0.1 * small(random)};
      left_out.raw_scores.insert(left_out.raw_scores.end(), row, row + 2);
      scores.push_back(row[1]);
      truth.push_back(labels.set_of_node[u] != 0);
    }
    const LeftOutOnly predictor(left_out, 2);
    const auto chosen = class_thresholds(predictor, labels, Thresholds::f1, {.threads = 2});
    const double best = f1_above(chosen[1], scores, truth);
    for (int step = -1; step <= 1000; ++step) EXPECT_GE(best + 1e-12, f1_above(step / 1000., scores, truth));
    EXPECT_EQ(class_thresholds(predictor, labels, Thresholds::half, {}),
              std::vector<double>(2, kJustAboveHalf));
  }
}

TEST(ClassThresholds, do_not_part_scores_that_differ_by_rounding) {
  MultiLabels labels;
  labels.classes.intern("a");
  labels.sets = {{0}, {}};
  labels.set_of_node = {0, 0, 0, 1, 1};
  const double third = 1 / 3.;
  const LeftOutOnly predictor({{0, 1, 2, 3, 4}, {0.9, 0.9, third, std::nextafter(third, 0), 0.1}, false}, 1);
  EXPECT_NEAR(class_thresholds(predictor, labels, Thresholds::f1, {})[0], (third + 0.1) / 2, 1e-12);
}

TEST(ClassThresholds, of_a_class_with_two_labels_is_one_half) {
  MultiLabels labels;
  labels.classes.intern("a");
  labels.sets = {{0}, {}};
  labels.set_of_node = {0, 0, 1, 1};
  const LeftOutOnly predictor({{0, 1, 2, 3}, {0.2, 0.3, 0.1, 0}, false}, 1);
  EXPECT_EQ(class_thresholds(predictor, labels, Thresholds::f1, {})[0], kJustAboveHalf);
  labels.set_of_node[2] = 0;  // three will do: half way between 0.1 and 0
  EXPECT_DOUBLE_EQ(class_thresholds(predictor, labels, Thresholds::f1, {})[0], 0.05);
}

TEST(ClassesAbove, are_those_above_their_thresholds_or_else_the_best) {
  const std::vector<double> scores = {0.3, 0.6, 0.5};
  const auto above = [&](std::vector<double> thresholds) { return classes_above(scores, thresholds); };
  EXPECT_EQ(above({0.2, 0.7, 0.4}).classes, (std::vector<Label>{0, 2}));
  EXPECT_EQ(above({0.2, 0.7, 0.4}).confidence, 0.3);
  EXPECT_EQ(above({0.9, 0.9, 0.9}).classes, (std::vector<Label>{1}));
  EXPECT_EQ(above({0.9, 0.9, 0.9}).confidence, 0.6);
  EXPECT_TRUE(classes_above(std::vector<double>{0, 0}, std::vector<double>{0.5, 0.5}).classes.empty());
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
