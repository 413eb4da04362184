// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "copse/evaluation/protocols.hpp"
#include "copse/support/error.hpp"

namespace copse {
namespace {

// Answers with the label revealed last, and writes down what it was asked and told.
class LastLabel final : public Learner {
 public:
  Prediction predict(NodeId node) const override {
    talk.push_back("ask " + std::to_string(node));
    return {last_, 1, true};
  }
  void scores(NodeId, std::span<double>) const override {}
  std::size_t num_classes() const override { return 3; }
  void reveal(NodeId node, Label label) override {
    talk.push_back("tell " + std::to_string(node) + " " + std::to_string(label));
    last_ = label;
  }
  void retract(NodeId) override {}
  std::vector<Reason> explain(NodeId) const override { return {}; }

  mutable std::vector<std::string> talk;

 private:
  Label last_ = kNoLabel;
};

TEST(PlayOnline, predicts_then_reveals_and_counts_a_missing_answer_as_a_mistake) {
  LastLabel learner;
  const std::vector<Label> labels{0, 1, kNoLabel, 1, 0};
  const OnlineGame game = play_online(learner, labels, std::vector<NodeId>{1, 3, 0, 4});
  EXPECT_EQ(learner.talk, (std::vector<std::string>{"ask 1", "tell 1 1", "ask 3", "tell 3 1", "ask 0",
                                                    "tell 0 0", "ask 4", "tell 4 0"}));
  EXPECT_EQ(game.mistake, (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(game.mistakes(), 2U);
  EXPECT_GE(game.seconds, 0);
}

TEST(PlayOnline, wants_labelled_nodes) {
  LastLabel learner;
  const std::vector<Label> labels{0, kNoLabel};
  EXPECT_THROW(play_online(learner, labels, std::vector<NodeId>{0, 1}), UsageError);
  EXPECT_THROW(play_online(learner, labels, std::vector<NodeId>{2}), UsageError);
  EXPECT_TRUE(learner.talk.empty());  // refused before the first trial
}

class StopAtOnce final : public Progress {
 public:
  void report(std::string_view, std::uint64_t, std::uint64_t) override {}
  bool cancelled() const override { return true; }
};

TEST(PlayOnline, can_be_cancelled) {
  LastLabel learner;
  StopAtOnce progress;
  const std::vector<Label> labels(10, 0);
  EXPECT_THROW(play_online(learner, labels, std::vector<NodeId>{0, 1, 2}, {.progress = &progress}),
               Cancelled);
}

TEST(OnlineGame, errors_agree_with_counting_each_prefix_and_suffix_anew) {
  std::mt19937_64 random(4);
  for (const std::size_t trials : {0U, 1U, 2U, 37U}) {
    OnlineGame game;
    for (std::size_t t = 0; t < trials; ++t) game.mistake.push_back(random() % 3 == 0);
    const auto past = game.past_error(), future = game.future_error();
    ASSERT_EQ(past.size(), trials);
    ASSERT_EQ(future.size(), trials);
    for (std::size_t t = 0; t < trials; ++t) {
      double before = 0, after = 0;
      for (std::size_t s = 0; s <= t; ++s) before += game.mistake[s] ? 1 : 0;
      for (std::size_t s = t; s < trials; ++s) after += game.mistake[s] ? 1 : 0;
      EXPECT_DOUBLE_EQ(past[t], before / static_cast<double>(t + 1));
      EXPECT_DOUBLE_EQ(future[t], after / static_cast<double>(trials - t));
    }
    if (trials > 0) {
      EXPECT_DOUBLE_EQ(past.back(), future.front());
    }
  }
}

}  // namespace
}  // namespace copse
