// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/label_fold.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace copse {
namespace {

using Kind = LabelEvent::Kind;

LabelEvent label(std::uint64_t seq, std::uint32_t who, NodeId node, Label label) {
  return {seq, Kind::label, who, node, label, false, 0};
}
LabelEvent retract(std::uint64_t seq, std::uint32_t who, NodeId node, std::uint64_t target) {
  return {seq, Kind::retract, who, node, kNoLabel, false, target};
}
LabelEvent skip(std::uint64_t seq, std::uint32_t who, NodeId node, bool for_everybody) {
  return {seq, Kind::skip, who, node, kNoLabel, for_everybody, 0};
}

TEST(LabelFold, taking_back_a_correction_restores_what_it_corrected) {
  LabelFold fold;
  fold.apply(label(1, 0, 7, 3));
  fold.apply(label(2, 0, 7, 4));
  EXPECT_EQ(fold.label(7), 4);
  ASSERT_EQ(fold.last_of(0)->seq, 2);
  const LabelFold::Change change = fold.apply(retract(3, 0, 7, 2));
  EXPECT_EQ(change.before, 4);
  EXPECT_EQ(change.after, 3);
  EXPECT_EQ(fold.last_of(0)->seq, 1);
  fold.apply(retract(4, 0, 7, 1));
  EXPECT_EQ(fold.label(7), kNoLabel);
  EXPECT_FALSE(fold.last_of(0));
  EXPECT_EQ(fold.num_labelled(), 0);
  EXPECT_EQ(fold.version(7), 4);
}

TEST(LabelFold, a_retract_without_target_takes_back_everybodys_label) {
  LabelFold fold;
  fold.apply(label(1, 0, 7, 3));
  fold.apply(label(2, 1, 7, 4));
  fold.apply(retract(3, 2, 7, 0));
  EXPECT_EQ(fold.label(7), kNoLabel);
  EXPECT_FALSE(fold.last_of(0));
  EXPECT_FALSE(fold.last_of(1));
}

TEST(LabelFold, a_skip_is_of_one_person_unless_nobody_can_tell) {
  LabelFold fold;
  fold.apply(skip(1, 0, 5, false));
  EXPECT_TRUE(fold.is_skipped(5, 0));
  EXPECT_FALSE(fold.is_skipped(5, 1));
  fold.apply(skip(2, 1, 6, true));
  EXPECT_TRUE(fold.is_skipped(6, 0));
  EXPECT_TRUE(fold.is_excluded(6));
  fold.apply(retract(3, 1, 6, 2));
  EXPECT_FALSE(fold.is_skipped(6, 0));
  EXPECT_FALSE(fold.is_skipped(6, 1));
  EXPECT_FALSE(fold.is_excluded(6));
}

TEST(LabelFold, the_majority_counts_one_label_per_person_and_the_latest_of_equals) {
  LabelFold fold(Resolve::majority);
  fold.apply(label(1, 0, 9, 1));
  fold.apply(label(2, 0, 9, 1));
  fold.apply(label(3, 1, 9, 2));
  EXPECT_EQ(fold.label(9), 2);  // one against one: the latest
  fold.apply(label(4, 2, 9, 1));
  EXPECT_EQ(fold.label(9), 1);
}

TEST(LabelFold, agrees_with_reading_the_whole_log_again_for_every_question) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 50; ++round) {
    LabelFold fold;
    std::vector<LabelEvent> log;
    for (std::uint64_t seq = 1; seq <= 60; ++seq) {
      LabelEvent event = label(seq, below(3), below(5), static_cast<Label>(below(3)));
      if (below(4) == 0) event = retract(seq, event.who, event.node, 0);
      if (const auto last = fold.last_of(event.who); last && below(4) == 0)
        event = retract(seq, event.who, last->node, last->seq);
      EXPECT_EQ(fold.label_after(event), fold.apply(event).after);
      log.push_back(event);
      for (NodeId node = 0; node < 5; ++node) {
        std::map<std::uint64_t, Label> standing;  // the slow way: one pass over the log
        for (const LabelEvent& one : log) {
          if (one.node != node) continue;
          if (one.kind == Kind::label) standing[one.seq] = one.label;
          if (one.kind == Kind::retract && one.target == 0) standing.clear();
          standing.erase(one.target);
        }
        EXPECT_EQ(fold.label(node), standing.empty() ? kNoLabel : standing.rbegin()->second);
      }
    }
  }
}

TEST(LabelFold, kappa_of_two_raters_by_hand) {
  LabelFold fold;
  EXPECT_FALSE(agreement(fold));
  std::uint64_t seq = 0;
  for (const auto& [a, b] : {std::pair{0, 0}, {0, 0}, {1, 1}, {0, 1}}) {
    fold.apply(label(seq + 1, 0, static_cast<NodeId>(seq), static_cast<Label>(a)));
    fold.apply(label(seq + 2, 1, static_cast<NodeId>(seq), static_cast<Label>(b)));
    seq += 2;
  }
  // 3 of 4 agree; 5 of 8 labels are 0: by chance (25 + 9) / 64.
  const double chance = 34.0 / 64;
  EXPECT_NEAR(*agreement(fold), (0.75 - chance) / (1 - chance), 1e-12);
}

}  // namespace
}  // namespace copse
