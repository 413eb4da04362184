// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/auto.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "copse/graph/generate.hpp"
#include "copse/learners/registry.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

struct Task {
  Graph graph;
  std::vector<Label> truth, given;
};

/// Blocks whose edges lead inside (`inside` > `outside`) or outside, one node in `one_in` labelled.
Task blocks(double inside, double outside, std::uint64_t seed, NodeId num_nodes = 900,
            std::uint64_t one_in = 10) {
  GeneratedGraph made = generate_graph("block_model",
                                       {{"nodes", num_nodes},
                                        {"classes", 3},
                                        {"degree_inside", inside},
                                        {"degree_outside", outside},
                                        {"weight_inside", 1},
                                        {"weight_outside", 1}},
                                       {.seed = seed});
  Task task{std::move(made.graph), made.labels.of_node, std::vector<Label>(num_nodes, kNoLabel)};
  std::mt19937_64 random(seed);
  for (NodeId u = 0; u < num_nodes; ++u)
    if (random() % one_in == 0) task.given[u] = task.truth[u];
  return task;
}

struct Outcome {
  double error = 0, confidence = 0;
};
Outcome outcome(const char* learner, const Task& task) {
  const BatchResult fitted = learner_row(learner).fit(task.graph, task.given, 3, {}, {});
  Outcome sum;
  double count = 0;
  for (NodeId u = 0; u < task.truth.size(); ++u) {
    if (task.given[u] != kNoLabel) continue;
    const Prediction answer = fitted.predictor->predict(u);
    sum.error += answer.label != task.truth[u] ? 1 : 0;
    sum.confidence += answer.confidence;
    ++count;
  }
  return {sum.error / count, sum.confidence / count};
}

TEST(Auto, is_about_as_good_as_its_best_member_and_knows_how_good) {
  for (const auto& [inside, outside] : {std::pair(9., 4.), std::pair(1., 14.)}) {
    SCOPED_TRACE(inside);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Task task = blocks(inside, outside, seed);
      double best = 1;
      for (const char* member : {"label_propagation", "embedding", "wta"})
        best = std::min(best, outcome(member, task).error);
      const Outcome pool = outcome("auto", task);
      EXPECT_LT(pool.error, best + 0.03);
      EXPECT_NEAR(pool.confidence, 1 - pool.error, 0.08);
    }
  }
}

// One label propagation cannot leave out by itself: it is fitted again without a third of them.
TEST(Auto, weighs_its_members_where_labels_are_far_apart) {
  const Task task = blocks(1, 14, 4, 6000, 60);
  const BatchResult members[] = {learner_row("label_propagation").fit(task.graph, task.given, 3, {}, {}),
                                 Auto::fit(task.graph, task.given, 3, {}, {})};
  ASSERT_FALSE(members[0].predictor->leave_one_out({}).has_value());
  EXPECT_NE(members[1].notes[0].find("label_propagation 0.00, embedding "), std::string::npos)
      << members[1].notes[0];
  const Outcome pool = outcome("auto", task);
  EXPECT_LT(pool.error, outcome("embedding", task).error + 0.03);
  EXPECT_NEAR(pool.confidence, 1 - pool.error, 0.08);
}

TEST(Auto, a_component_of_one_class_is_answered_with_it) {
  const Graph graph = graph_from_pairs(9, {{0, 1}, {1, 2}, {3, 4}, {4, 5}, {6, 7}, {7, 8}});
  std::vector<Label> labels(9, kNoLabel);
  labels[0] = 0;
  labels[3] = 1;
  labels[6] = 2;
  const BatchResult fitted = Auto::fit(graph, labels, 3, {}, {});
  for (NodeId u = 0; u < 9; ++u) EXPECT_EQ(fitted.predictor->predict(u).label, u / 3) << u;
}

TEST(Auto, a_class_whose_only_label_is_on_an_island_is_elsewhere_as_well) {
  std::vector<Edge> edges;
  for (NodeId u = 0; u < 98; ++u) edges.push_back({u, u + 1});
  edges.push_back({99, 100});
  std::vector<Label> labels(101, kNoLabel);
  labels[0] = 0;
  labels[99] = 1;
  const BatchResult fitted = Auto::fit(graph_from_pairs(101, edges), labels, 2, {}, {});
  EXPECT_EQ(fitted.predictor->predict(1).label, 0);
  EXPECT_EQ(fitted.predictor->predict(98).label, 1);
  EXPECT_EQ(fitted.predictor->predict(100).label, 1);
}

TEST(Auto, nodes_that_no_label_reaches_are_like_the_labelled_ones_that_no_other_reaches) {
  // A path, mostly of class 0, and 40 isolated nodes, mostly of class 1.
  std::vector<Edge> edges;
  for (NodeId u = 0; u < 59; ++u) edges.push_back({u, u + 1});
  std::vector<Label> labels(100, kNoLabel);
  for (NodeId u = 0; u < 30; ++u) labels[2 * u] = u < 25 ? 0 : 1;
  for (NodeId u = 60; u < 68; ++u) labels[u] = u < 67 ? 1 : 0;
  const BatchResult fitted = Auto::fit(graph_from_pairs(100, edges), labels, 2, {}, {});
  const Prediction answer = fitted.predictor->predict(80);
  EXPECT_FALSE(answer.reached);
  EXPECT_EQ(answer.label, 1);
  EXPECT_NEAR(answer.confidence, (7 + 2 * 12 / 38.) / (8 + 2), 1e-12);
}

TEST(Auto, says_how_it_weighs_its_members) {
  const Task task = blocks(1, 14, 1);  // neighbours differ: only the embedding sees that
  const BatchResult fitted = Auto::fit(task.graph, task.given, 3, {}, {});
  ASSERT_FALSE(fitted.notes.empty());
  EXPECT_NE(fitted.notes[0].find("label_propagation 0.00, embedding "), std::string::npos) << fitted.notes[0];
  EXPECT_NE(fitted.notes[0].find("labels left out"), std::string::npos) << fitted.notes[0];
}

TEST(Auto, left_out_answers_are_probabilities_that_can_be_believed) {
  const Task task = blocks(9, 4, 2);
  const auto left_out = Auto::fit(task.graph, task.given, 3, {}, {}).predictor->leave_one_out({}).value();
  ASSERT_GT(left_out.nodes.size(), 60u);
  double of_truth = 0, expected = 0;
  for (std::size_t i = 0; i < left_out.nodes.size(); ++i) {
    double sum = 0, best = 0;
    std::size_t label = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double p = left_out.raw_scores[3 * i + c];
      sum += p;
      if (p > best) best = p, label = c;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    expected += best;
    of_truth += task.truth[left_out.nodes[i]] == label ? 1 : 0;
  }
  EXPECT_NEAR(of_truth, expected, 0.1 * static_cast<double>(left_out.nodes.size()));
}

TEST(Auto, takes_the_kernel_alone_where_there_is_hardly_a_label_per_class) {
  Task task = blocks(9, 4, 3);
  std::fill(task.given.begin(), task.given.end(), kNoLabel);
  // One label of each class, two of the last: not chosen class by class, or neighbours would be mixed in.
  for (NodeId u = 0, found = 0; found < 4; ++u)
    if (task.truth[u] == std::min<NodeId>(found, 2))
      task.given[u] = static_cast<Label>(task.truth[u]), ++found;
  const BatchResult fitted = Auto::fit(task.graph, task.given, 3, {}, {});
  EXPECT_NE(fitted.notes[0].find("kernel_ridge 1.69"), std::string::npos) << fitted.notes[0];
  EXPECT_NE(fitted.notes[0].find("too few labels"), std::string::npos) << fitted.notes[0];
  const auto ridge = learner_row("kernel_ridge").fit(task.graph, task.given, 3, {}, {});
  for (NodeId u = 0; u < 900; ++u)
    EXPECT_EQ(fitted.predictor->predict(u).label, ridge.predictor->predict(u).label) << u;
}

TEST(Auto, asks_the_neighbors_too_where_labels_were_chosen_class_by_class) {
  double error[2] = {0, 0};
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Task task = blocks(6, 3, seed);
    std::ranges::fill(task.given, kNoLabel);
    std::vector<int> count(3);
    for (NodeId u = 0; u < task.truth.size(); ++u)
      if (count[task.truth[u]]++ < 6) task.given[u] = task.truth[u];
    error[0] += outcome("auto", task).error;
    const auto first = std::ranges::find_if(task.given, [](Label label) { return label == 0; });
    *first = kNoLabel;  // no longer as many of each class
    const auto other = std::ranges::find_if(task.given, [](Label label) { return label == 1; });
    *other = kNoLabel;
    error[1] += outcome("auto", task).error;
  }
  EXPECT_LT(error[0], error[1]);
}

TEST(Auto, is_less_sure_by_the_share_of_labels_that_are_alone_in_their_class) {
  Task task = blocks(9, 1, 5);
  double num_labels = 0;
  for (const Label label : task.given) num_labels += label == kNoLabel ? 0 : 1;
  const auto first = std::ranges::find(task.given, Label{0});
  *first = 3;  // the only one of its class
  const auto least_score = [&] {
    const BatchResult fitted = Auto::fit(task.graph, task.given, 4, {}, {});
    double least = 1;
    std::vector<double> scores(4);
    for (NodeId u = 0; u < 900; ++u) {
      if (task.given[u] != kNoLabel) continue;
      fitted.predictor->scores(u, scores);
      least = std::min(least, *std::ranges::min_element(scores));
    }
    return least;
  };
  EXPECT_GE(least_score(), 1 / num_labels / 4 - 1e-12);
  *std::find(first, task.given.end(), Label{0}) = 3;
  EXPECT_LT(least_score(), 1 / num_labels / 4);
}

TEST(Auto, keeps_some_probability_for_classes_that_its_component_has_not_seen) {
  // Two components; the labels of either are of one class.
  std::vector<Edge> edges;
  for (NodeId u = 0; u < 39; ++u)
    if (u != 19) edges.push_back({u, u + 1, 1});
  const Graph graph = graph_from_edges(40, edges);
  std::vector<Label> labels(40, kNoLabel);
  for (const NodeId u : {1, 5, 9, 13}) labels[u] = 0;
  for (const NodeId u : {22, 26, 30, 34}) labels[u] = 1;
  const auto fitted = Auto::fit(graph, labels, 2, {}, {});
  EXPECT_EQ(fitted.predictor->predict(3).label, 0);
  EXPECT_LT(fitted.predictor->predict(3).confidence, 1);
}

}  // namespace
}  // namespace copse
