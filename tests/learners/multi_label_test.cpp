// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/multi_label.hpp"

#include <gtest/gtest.h>

#include "copse/graph/generate.hpp"
#include "copse/learners/embedding.hpp"
#include "learners/ridge_regression.hpp"
#include "oracle/graphs.hpp"
#include "oracle/spectral.hpp"

namespace copse {
namespace {

/// Nodes of three blocks: class 0 is block 0, class 1 blocks 0 and 1, class 2 block 2; one node in `one_in`
/// is told.
struct MultiTask {
  Graph graph;
  std::vector<Label> block;
  MultiLabels labels;

  MultiTask(double inside, double outside, std::uint64_t seed) {
    GeneratedGraph made = generate_graph("block_model",
                                         {{"nodes", 900},
                                          {"classes", 3},
                                          {"degree_inside", inside},
                                          {"degree_outside", outside},
                                          {"weight_inside", 1},
                                          {"weight_outside", 1}},
                                         {.seed = seed});
    graph = std::move(made.graph);
    block = made.labels.of_node;
    labels.sets = {{0, 1}, {1}, {2}};
    labels.set_of_node.assign(900, kNoLabel);
    for (NodeId u = 0; u < 900; u += 8) labels.set_of_node[u] = block[u];
  }
};

double share_right(const MultiTask& task, const BatchResult& result) {
  double right = 0;
  std::vector<double> scores(3);
  for (NodeId u = 0; u < 900; ++u) {
    result.predictor->scores(u, scores);
    for (Label c = 0; c < 3; ++c)
      right += (scores[c] > 0.5) == std::ranges::binary_search(task.labels.sets[task.block[u]], c) ? 1 : 0;
  }
  return right / 2700;
}

TEST(MultiLabel, a_class_has_the_scores_of_the_sets_that_hold_it) {
  const MultiTask task(9, 3, 1);
  for (const char* name : {"wta", "label_propagation", "embedding"}) {
    SCOPED_TRACE(name);
    const LearnerRow& row = learner_row(name);
    const BatchResult by_sets = row.fit(task.graph, task.labels.set_of_node, 3, {}, {});
    const BatchResult result = fit_multi(row, task.graph, task.labels, 3, {}, {.threads = 2});
    std::vector<double> of_sets(3), of_classes(3);
    for (NodeId u = 0; u < 900; ++u) {
      by_sets.predictor->scores(u, of_sets);
      result.predictor->scores(u, of_classes);
      EXPECT_DOUBLE_EQ(of_classes[0], of_sets[0]);
      EXPECT_DOUBLE_EQ(of_classes[1], of_sets[0] + of_sets[1]);
      EXPECT_DOUBLE_EQ(of_classes[2], of_sets[2]);
    }
    EXPECT_EQ(result.predictor->leave_one_out({})->nodes, by_sets.predictor->leave_one_out({})->nodes);
  }
}

TEST(MultiLabel, auto_sees_classes_inside_and_across_blocks) {
  for (const auto& [inside, outside] : {std::pair(12., 3.), std::pair(1., 18.)}) {
    SCOPED_TRACE(inside);
    const MultiTask task(inside, outside, 2);
    const LearnerRow& pool = learner_row("auto");
    const BatchResult result = fit_multi(pool, task.graph, task.labels, 3, {}, {});
    EXPECT_GT(share_right(task, result), 0.93);
    // What left out labels are answered is what other nodes are answered, on average.
    const LeaveOneOut left_out = result.predictor->leave_one_out({}).value();
    double known = 0, expected = 0;
    for (const double score : left_out.raw_scores) expected += score;
    for (const NodeId u : left_out.nodes)
      known += static_cast<double>(task.labels.sets[task.labels.set_of_node[u]].size());
    EXPECT_NEAR(expected, known, 0.05 * known);
    std::vector<double> one(3), four(3);
    const BatchResult again = fit_multi(pool, task.graph, task.labels, 3, {}, {.threads = 4});
    for (NodeId u = 0; u < 900; ++u) {
      result.predictor->scores(u, one);
      again.predictor->scores(u, four);
      EXPECT_EQ(one, four);
      if (task.labels.set_of_node[u] == kNoLabel) continue;
      for (Label c = 0; c < 3; ++c)  // what is given is the answer
        EXPECT_EQ(one[c], std::ranges::binary_search(task.labels.sets[task.block[u]], c) ? 1 : 0);
    }
  }
}

TEST(MultiLabel, the_regression_of_classes_is_that_of_columns_with_several_ones) {
  const MultiTask task(9, 3, 3);
  const Embedding place(task.graph, {.spectral = {.dimension = 12}}, {});
  std::vector<RidgeExample> examples;
  std::vector<Eigen::Index> known;
  for (NodeId u = 0; u < 900; ++u)
    if (task.labels.set_of_node[u] != kNoLabel) {
      examples.push_back({u, task.labels.set_of_node[u]});
      known.push_back(u);
    }
  Eigen::MatrixXd x(900, 12), y = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(known.size()), 3);
  for (NodeId u = 0; u < 900; ++u)
    for (std::size_t c = 0; c < 12; ++c)
      x(u, static_cast<Eigen::Index>(c)) = static_cast<double>(place.embedding().row(u)[c]);
  for (Eigen::Index u = 0; u < 900; ++u) x.row(u).normalize();
  for (std::size_t i = 0; i < examples.size(); ++i)
    for (const Label c : task.labels.sets[examples[i].column]) y(static_cast<Eigen::Index>(i), c) = 1;
  const Eigen::MatrixXd expected = oracle::ridge(x, known, y, 0.5);
  const auto fit = RidgeRegression::best(place.embedding(), examples, 3, {0.5, 1, task.labels.sets}, {});
  std::vector<double> values(3);
  for (NodeId u = 0; u < 900; ++u) {
    fit.values(u, values);
    for (Eigen::Index c = 0; c < 3; ++c)
      EXPECT_NEAR(values[static_cast<std::size_t>(c)], expected(u, c), 1e-9);
  }
}

TEST(MultiLabel, nobody_is_told_anything_where_no_label_is_known) {
  MultiTask task(9, 3, 1);
  task.labels.sets.clear();
  task.labels.set_of_node.assign(900, kNoLabel);
  const BatchResult result = fit_multi(learner_row("auto"), task.graph, task.labels, 3, {}, {});
  EXPECT_EQ(result.predictor->predict(0).label, kNoLabel);
  EXPECT_FALSE(result.predictor->predict(0).reached);
}

}  // namespace
}  // namespace copse
