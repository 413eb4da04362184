// SPDX-License-Identifier: Apache-2.0
#include "copse/evaluation/metrics.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>
#include <vector>

namespace copse {
namespace {

using Answers = std::vector<std::pair<Label, Label>>;  // truth, predicted

Confusion table_of(const Answers& answers, std::size_t num_classes) {
  Confusion table(num_classes);
  for (const auto& [truth, predicted] : answers) table.add(truth, predicted);
  return table;
}

// The twin: F1 of one class as the harmonic mean of precision and recall, from the list of answers.
double slow_f1(const Answers& answers, Label c) {
  double answered = 0, wanted = 0, both = 0;
  for (const auto& [truth, predicted] : answers) {
    answered += predicted == c;
    wanted += truth == c;
    both += truth == c && predicted == c;
  }
  if (both == 0) return 0;
  const double precision = both / answered, recall = both / wanted;
  return 2 * precision * recall / (precision + recall);
}

TEST(Confusion, counts_by_hand) {
  // Truth 0: right twice, once taken for 1. Truth 1: once right, once unanswered. Class 3 never occurs.
  const Confusion table = table_of({{0, 0}, {0, 0}, {0, 1}, {1, 1}, {1, kNoLabel}, {2, 0}}, 4);
  EXPECT_EQ(table.total(), 6U);
  EXPECT_EQ(table.count(0, 1), 1U);
  EXPECT_EQ(table.count(1, kNoLabel), 1U);
  EXPECT_DOUBLE_EQ(table.error(), 0.5);
  const double f0 = 4.0 / 6, f1 = 2.0 / 4;
  EXPECT_EQ(table.f1().size(), 4U);
  EXPECT_DOUBLE_EQ(table.f1()[0], f0);
  EXPECT_DOUBLE_EQ(table.f1()[1], f1);
  EXPECT_EQ(table.f1()[2], 0);
  EXPECT_DOUBLE_EQ(table.macro_f1(), (f0 + f1 + 0) / 3);  // class 3 does not count
  EXPECT_DOUBLE_EQ(table.micro_f1(), 6.0 / (6 + 2 + 3));
}

TEST(Confusion, of_nothing_is_without_error) {
  const Confusion table(3);
  EXPECT_EQ(table.total(), 0U);
  EXPECT_EQ(table.error(), 0);
  EXPECT_EQ(table.macro_f1(), 0);
  EXPECT_EQ(table.micro_f1(), 0);
}

TEST(Confusion, agrees_with_precision_and_recall_from_the_list_of_answers) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    Answers answers;
    std::set<Label> occurring;
    const bool all_answered = round % 2 == 0;
    for (int i = 0; i < 40; ++i) {
      const auto truth = static_cast<Label>(random() % 5);
      auto predicted = static_cast<Label>(random() % 6);
      if (predicted == 5) predicted = all_answered ? Label{0} : kNoLabel;
      answers.push_back({truth, predicted});
      occurring.insert(truth);
      if (predicted != kNoLabel) occurring.insert(predicted);
    }
    const Confusion table = table_of(answers, 7);
    double macro = 0, wrong = 0;
    for (const Label c : occurring) macro += slow_f1(answers, c) / static_cast<double>(occurring.size());
    for (const auto& [truth, predicted] : answers) wrong += truth != predicted;
    EXPECT_NEAR(table.macro_f1(), macro, 1e-12);
    EXPECT_DOUBLE_EQ(table.error(), wrong / 40);
    if (all_answered) {
      EXPECT_NEAR(table.micro_f1(), 1 - table.error(), 1e-12);
    } else {
      EXPECT_GE(table.micro_f1(), 1 - table.error());
    }
  }
}

TEST(Confusion, counts_without_overflow_of_small_types) {
  Confusion table(2);
  for (int i = 0; i < 70'000; ++i) table.add(1, 1);
  EXPECT_EQ(table.count(1, 1), 70'000U);
}

TEST(OneVersusRest, averages_over_classes) {
  OneVersusRest counts;
  counts.by_class = {{.true_positive = 3, .false_positive = 1, .false_negative = 0, .true_negative = 6},
                     {.true_positive = 0, .false_positive = 0, .false_negative = 2, .true_negative = 8},
                     {.true_positive = 0, .false_positive = 0, .false_negative = 0, .true_negative = 10}};
  EXPECT_DOUBLE_EQ(counts.by_class[0].error(), 0.1);
  EXPECT_DOUBLE_EQ(counts.by_class[0].f1(), 6.0 / 7);
  EXPECT_DOUBLE_EQ(counts.error(), (0.1 + 0.2 + 0) / 3);
  EXPECT_DOUBLE_EQ(counts.macro_f1(), (6.0 / 7 + 0) / 2);  // the third class never occurs
  EXPECT_DOUBLE_EQ(counts.micro_f1(), 6.0 / 9);
  EXPECT_EQ(OneVersusRest{}.error(), 0);
  EXPECT_EQ(OneVersusRest{}.macro_f1(), 0);
  EXPECT_EQ(BinaryCounts{}.error(), 0);
  EXPECT_EQ(BinaryCounts{}.f1(), 0);
}

}  // namespace
}  // namespace copse
