// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/label_fold.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

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

TEST(LabelFold, the_adjudicator_decides_what_others_dispute) {
  LabelFold fold(Resolve::adjudicated);
  fold.apply(label(1, 1, 9, 3));
  EXPECT_EQ(fold.label(9), 3);
  fold.apply(label(2, 2, 9, 4));
  EXPECT_EQ(fold.label(9), kNoLabel);
  EXPECT_TRUE(fold.is_disputed(9));
  EXPECT_EQ(fold.num_labelled(), 0);
  fold.apply(label(3, LabelFold::kAdjudicator, 9, 5));
  EXPECT_EQ(fold.label(9), 5);
  EXPECT_FALSE(fold.is_disputed(9));
  fold.apply(retract(4, LabelFold::kAdjudicator, 9, 3));
  fold.apply(retract(5, 2, 9, 2));
  EXPECT_EQ(fold.label(9), 3);
}

// The slow way: one pass over the log for every question.
std::map<std::uint32_t, std::pair<std::uint64_t, Label>> latest_by_person(const std::vector<LabelEvent>& log,
                                                                          NodeId node) {
  std::map<std::uint64_t, LabelEvent> standing;
  for (const LabelEvent& one : log) {
    if (one.node != node) continue;
    if (one.kind == Kind::label) standing[one.seq] = one;
    if (one.kind == Kind::retract && one.target == 0) standing.clear();
    standing.erase(one.target);
  }
  std::map<std::uint32_t, std::pair<std::uint64_t, Label>> latest;
  for (const auto& [seq, one] : standing) latest[one.who] = {seq, one.label};
  return latest;
}

Label resolved(Resolve resolve, const std::map<std::uint32_t, std::pair<std::uint64_t, Label>>& latest) {
  std::map<Label, std::uint64_t> votes;
  for (const auto& [who, told] : latest) ++votes[told.second];
  if (resolve == Resolve::adjudicated && latest.contains(LabelFold::kAdjudicator))
    return latest.at(LabelFold::kAdjudicator).second;
  if (resolve == Resolve::adjudicated && votes.size() > 1) return kNoLabel;
  std::tuple<std::uint64_t, std::uint64_t, Label> best{0, 0, kNoLabel};
  for (const auto& [who, told] : latest)
    best = std::max(best, {resolve == Resolve::majority ? votes[told.second] : 0, told.first, told.second});
  return std::get<2>(best);
}

TEST(LabelFold, agrees_with_reading_the_whole_log_again_for_every_question) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (const Resolve resolve : {Resolve::latest, Resolve::majority, Resolve::adjudicated})
    for (int round = 0; round < 30; ++round) {
      LabelFold fold(resolve);
      std::vector<LabelEvent> log;
      for (std::uint64_t seq = 1; seq <= 60; ++seq) {
        LabelEvent event = label(seq, below(3), below(5), static_cast<Label>(below(3)));
        if (below(4) == 0) event = retract(seq, event.who, event.node, 0);
        if (const auto last = fold.last_of(event.who); last && below(4) == 0)
          event = retract(seq, event.who, last->node, last->seq);
        EXPECT_EQ(fold.label_after(event), fold.apply(event).after);
        log.push_back(event);
        std::map<Label, std::uint64_t> counts;
        for (NodeId node = 0; node < 5; ++node) {
          const auto latest = latest_by_person(log, node);
          EXPECT_EQ(fold.label(node), resolved(resolve, latest));
          EXPECT_EQ(fold.shared_nodes().contains(node), latest.size() > 1);
          ++counts[fold.label(node)];
        }
        for (Label label = 0; label < 3; ++label) EXPECT_EQ(fold.num_labelled(label), counts[label]);
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
