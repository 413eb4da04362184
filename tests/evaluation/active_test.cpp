// SPDX-License-Identifier: Apache-2.0
// The active protocol and the learning curve.

#include <gtest/gtest.h>

#include <set>

#include "copse/evaluation/learning_curve.hpp"
#include "copse/evaluation/protocols.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

// Columns of a grid: the left half is one class.
std::vector<Label> halves(NodeId rows, NodeId columns) {
  std::vector<Label> labels;
  for (NodeId u = 0; u < rows * columns; ++u) labels.push_back(u % columns < columns / 2 ? 0 : 1);
  return labels;
}

TEST(AskLabels, asks_only_about_labelled_nodes_and_no_more_than_the_budget) {
  const Graph graph = oracle::grid(6, 6);
  std::vector<Label> labels = halves(6, 6);
  for (NodeId u = 0; u < 36; u += 2) labels[u] = kNoLabel;
  for (const QueryRow& row : query_rows()) {
    SCOPED_TRACE(row.name);
    for (const std::uint64_t batch : {1, 4}) {
      const auto strategy = row.make(graph, {}, {});
      const auto asked = ask_labels(*strategy, labels, 7, batch);
      EXPECT_EQ(std::set<NodeId>(asked.begin(), asked.end()).size(), 7u);
      for (const NodeId u : asked) EXPECT_NE(labels[u], kNoLabel);
    }
    const auto strategy = row.make(graph, {}, {});
    EXPECT_EQ(ask_labels(*strategy, labels, 1000).size(), 18u);
  }
}

TEST(PlayActive, the_game_is_on_the_labels_that_were_not_asked_for) {
  const Graph graph = oracle::grid(6, 6);
  const std::vector<Label> labels = halves(6, 6);
  const std::vector<NodeId> asked{0, 5, 17};
  const auto learner = learner_row("wta").make(graph, {}, {});
  const OnlineGame game = play_active(*learner, labels, asked, 1, 0);
  EXPECT_EQ(game.mistake.size(), 33u);
  EXPECT_FALSE(game.mistake[0]);  // both classes are known in their halves: never without an answer
  const auto other = learner_row("wta").make(graph, {}, {});
  EXPECT_EQ(play_active(*other, labels, {}, 1, 0).mistake.size(), 36u);
}

TEST(LearningCurve, falls_with_the_labels_and_says_go_on_or_stop) {
  const Graph graph = oracle::grid(30, 30);
  Labels labels;
  labels.of_node = halves(30, 30);
  labels.classes.intern("left");
  labels.classes.intern("right");
  for (NodeId u = 0; u < 900; ++u)
    if (u % 9 != 0) labels.of_node[u] = kNoLabel;
  const LearningCurve curve = estimate_learning_curve(graph, labels, learner_row("wta"), {}, 50, {});
  ASSERT_EQ(curve.points.size(), 7u);
  for (std::size_t i = 1; i < 7; ++i) EXPECT_GT(curve.points[i].num_labels, curve.points[i - 1].num_labels);
  EXPECT_GE(curve.exponent, 0);
  EXPECT_GE(curve.points[4].error, curve.points[5].error);
  EXPECT_LT(curve.points[4].error, curve.points[0].error);
  EXPECT_FALSE(curve.hint.empty());

  const BatchResult all = learner_row("wta").fit(graph, labels.of_node, 2, {}, {});
  const LearningCurve again = estimate_learning_curve(graph, labels, learner_row("wta"), {}, 50, {},
                                                      all.predictor->leave_one_out({}));
  EXPECT_EQ(again.points[3].num_labels, curve.points[3].num_labels);
  EXPECT_EQ(again.points[3].error, curve.points[3].error);
  EXPECT_EQ(again.exponent, curve.exponent);
}

TEST(LearningCurve, an_answer_that_labels_cannot_better_says_stop) {
  const Graph graph = oracle::complete(40);
  Labels labels;
  labels.of_node.assign(40, 0);
  labels.classes.intern("all");
  const LearningCurve curve = estimate_learning_curve(graph, labels, learner_row("wta"), {}, 5, {});
  EXPECT_EQ(curve.hint.substr(0, 4), "stop");
}

TEST(LearningCurve, with_few_labels_there_is_none) {
  const Graph graph = oracle::path(20);
  Labels labels;
  labels.of_node.assign(20, kNoLabel);
  labels.of_node[3] = 0;
  EXPECT_THROW(estimate_learning_curve(graph, labels, learner_row("wta"), {}, 5, {}), UsageError);
}

}  // namespace
}  // namespace copse
