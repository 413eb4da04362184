// SPDX-License-Identifier: Apache-2.0
#include "copse/evaluation/answer_metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "copse/support/error.hpp"

namespace copse {
namespace {

/// Scores of few distinct values, so that ranks tie.
Answers some_answers(std::size_t nodes, std::size_t classes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Answers answers;
  answers.num_classes = classes;
  for (std::size_t i = 0; i < nodes; ++i) {
    std::vector<double> row(classes);
    double sum = 0;
    for (double& score : row) sum += score = static_cast<double>(1 + random() % 4);
    for (double& score : row) {
      answers.raw_scores.push_back(score);
      answers.scores.push_back(score / sum);
    }
    answers.truth.push_back(static_cast<Label>(random() % classes));
    answers.predicted.push_back(static_cast<Label>(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  return answers;
}

double value(const char* name, const Answers& answers) { return metric_row(name).of(answers); }

TEST(AnswerMetrics, auroc_counts_pairs_and_halves_ties) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const Answers answers = some_answers(30, 3, seed);
    double sum = 0;
    for (Label c = 0; c < 3; ++c) {
      double right = 0, pairs = 0;
      for (std::size_t i = 0; i < 30; ++i)
        for (std::size_t j = 0; j < 30; ++j) {
          if (answers.truth[i] != c || answers.truth[j] == c) continue;
          const double a = answers.raw_scores[i * 3 + c], b = answers.raw_scores[j * 3 + c];
          right += a > b ? 1 : a == b ? 0.5 : 0;
          ++pairs;
        }
      sum += right / pairs;
    }
    EXPECT_NEAR(value("auroc", answers), sum / 3, 1e-12);
  }
}

TEST(AnswerMetrics, precision_at_10_is_that_of_any_order_of_ties_on_average) {
  std::mt19937_64 random(1);
  const Answers answers = some_answers(30, 3, 4);
  double sum = 0;
  constexpr int kOrders = 20000;
  for (Label c = 0; c < 3; ++c)
    for (int order = 0; order < kOrders; ++order) {
      std::vector<std::pair<double, std::uint64_t>> ranked;
      for (std::size_t i = 0; i < 30; ++i)
        ranked.emplace_back(-answers.raw_scores[i * 3 + c], (random() << 5) + i);
      std::ranges::sort(ranked);
      for (int place = 0; place < 10; ++place) sum += answers.truth[ranked[place].second & 31] == c ? 0.1 : 0;
    }
  EXPECT_NEAR(value("precision_at_10", answers), sum / 3 / kOrders, 0.003);  // five standard errors
  EXPECT_NEAR(value("precision_at_100", answers), 1. / 3, 1e-12);            // all that there are
}

TEST(AnswerMetrics, auprc_is_precision_at_every_node_of_the_class) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const Answers answers = some_answers(30, 3, seed);
    double sum = 0;
    for (Label c = 0; c < 3; ++c) {
      double precisions = 0, count = 0;
      for (std::size_t i = 0; i < 30; ++i) {
        if (answers.truth[i] != c) continue;
        double found = 0, above = 0;  // all that rank at least as high, ties among them
        for (std::size_t j = 0; j < 30; ++j) {
          if (answers.raw_scores[j * 3 + c] < answers.raw_scores[i * 3 + c]) continue;
          ++above;
          found += answers.truth[j] == c ? 1 : 0;
        }
        precisions += found / above;
        ++count;
      }
      sum += precisions / count;
    }
    EXPECT_NEAR(value("auprc", answers), sum / 3, 1e-12);
  }
}

TEST(AnswerMetrics, of_four_nodes_by_hand) {
  Answers answers;
  answers.num_classes = 2;
  answers.truth = {0, 0, 1, 1};
  answers.predicted = {0, 1, 1, kNoLabel};
  answers.scores = answers.raw_scores = {0.8, 0.2, 0.4, 0.6, 0.1, 0.9, 0.5, 0.5};
  EXPECT_DOUBLE_EQ(value("error", answers), 0.5);
  EXPECT_DOUBLE_EQ(value("accuracy", answers), 0.5);
  EXPECT_DOUBLE_EQ(value("balanced_accuracy", answers), 0.5);
  EXPECT_NEAR(value("log_loss", answers),
              -(std::log(0.8) + std::log(0.4) + std::log(0.9) + std::log(0.5)) / 4, 1e-12);
  EXPECT_NEAR(value("brier", answers), (0.08 + 0.72 + 0.02 + 0.5) / 4, 1e-12);
  // Confidences 0.8 (right), 0.6 (wrong), 0.9 (right), none (wrong), each in a bin of its own.
  EXPECT_NEAR(value("calibration_error", answers), (0.2 + 0.6 + 0.1 + 0) / 4, 1e-12);
}

TEST(AnswerMetrics, of_nothing_and_of_one_class_are_numbers) {
  Answers none;
  none.num_classes = 3;
  Answers one = some_answers(5, 2, 1);
  one.truth.assign(5, 0);
  for (const MetricRow& row : metric_rows()) {
    EXPECT_TRUE(std::isfinite(row.of(none))) << row.name;
    EXPECT_TRUE(std::isfinite(row.of(one))) << row.name;
  }
}

TEST(AnswerMetrics, an_unknown_name_lists_the_known_ones) {
  try {
    metric_row("f2");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("balanced_accuracy"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace copse
