// SPDX-License-Identifier: Apache-2.0
#include "papers/report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace copse {
namespace {

TEST(Difference, of_paired_runs_forgets_what_both_have_in_common) {
  const std::vector<double> a{10, 20, 30}, b{11, 22, 33};  // differences -1, -2, -3
  const Difference paired = difference(a, b, Runs::paired);
  EXPECT_DOUBLE_EQ(paired.mean, -2);
  EXPECT_DOUBLE_EQ(paired.error, 1 / std::sqrt(3.0));
  EXPECT_TRUE(paired.is_below());
  EXPECT_FALSE(paired.is_above());
  const Difference independent = difference(a, b, Runs::independent);
  EXPECT_DOUBLE_EQ(independent.mean, -2);
  EXPECT_DOUBLE_EQ(independent.error, std::sqrt(100 / 3.0 + 121 / 3.0));
  EXPECT_FALSE(independent.is_below());
}

TEST(Difference, of_nothing_is_neither_below_nor_above) {
  const Difference none = difference({}, std::vector<double>{1, 2}, Runs::paired);
  EXPECT_FALSE(none.is_below() || none.is_above());
  EXPECT_EQ(none.num_runs, 0u);
}

TEST(Difference, without_spread_any_distance_counts_and_equality_does_not) {
  const std::vector<double> one{1, 1}, two{2, 2};
  EXPECT_TRUE(difference(one, two, Runs::paired).is_below());
  EXPECT_FALSE(difference(one, one, Runs::paired).is_below());
}

TEST(Tally, confirms_at_three_quarters_and_contradicts_at_half) {
  EXPECT_EQ((Tally{3, 0, 1}.verdict()), Verdict::confirmed);
  EXPECT_EQ((Tally{2, 1, 1}.verdict()), Verdict::mixed);
  EXPECT_EQ((Tally{2, 0, 2}.verdict()), Verdict::contradicted);
  EXPECT_EQ((Tally{0, 4, 0}.verdict()), Verdict::mixed);
  EXPECT_EQ(Tally{}.verdict(), Verdict::mixed);
}

TEST(Tally, counts_more_as_ahead_where_more_is_better) {
  const Difference more{2, 0.5, 10};
  Tally errors, accuracies;
  errors.add(more);
  accuracies.add(more, false);
  EXPECT_EQ(errors.behind, 1u);
  EXPECT_EQ(accuracies.ahead, 1u);
  errors.add(Difference{});  // no run: no comparison
  EXPECT_EQ(errors.total(), 1u);
}

TEST(Figures, are_written_with_a_dash_where_there_is_none) {
  EXPECT_EQ(fixed(1.25, 1), "1.2");
  EXPECT_EQ(fixed(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(percent(0.1234), "12.3");
  EXPECT_EQ(plus_minus(std::vector<double>{0.1, 0.3}, 1, 100), "20.0 ± 14.1");
  EXPECT_EQ(plus_minus({}), "-");
}

TEST(Figures, fill_the_gaps_of_a_sentence_in_turn) {
  EXPECT_EQ(filled("{} of {}, {}%", {"3", "{}", ""}), "3 of {}, %");
  EXPECT_EQ(filled("nothing", {}), "nothing");
  EXPECT_EQ(listed({"a", "a", "b"}), "a, a, b");
  EXPECT_EQ(listed({}, "; "), "");
}

TEST(Figures, the_error_of_a_mean_shrinks_with_the_root_of_the_runs) {
  EXPECT_DOUBLE_EQ(standard_error(std::vector<double>{1, 3, 1, 3}), std::sqrt(4.0 / 3) / 2);
  EXPECT_EQ(standard_error(std::vector<double>{7}), 0);
}

}  // namespace
}  // namespace copse
