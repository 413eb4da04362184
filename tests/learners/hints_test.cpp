// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/hints.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "copse/graph/generate.hpp"
#include "learners/some_labels.hpp"
#include "oracle/graphs.hpp"
#include "oracle/linear_algebra.hpp"

namespace copse {
namespace {

const OptionValues kPlain = {{"shift", "none"}, {"tolerance", "1e-12"}};

/// (L + ground) f = ground p, labelled nodes having their label: Zhu, Ghahramani & Lafferty 2003, section 5.
/// Dense, one class at a time.
std::vector<double> harmonic_twin(const Graph& graph, const std::vector<Label>& labels,
                                  const std::vector<double>& ground, const std::vector<double>& shares,
                                  std::size_t num_classes) {
  const GraphView view = graph;
  const std::size_t n = view.num_nodes();
  std::vector<double> result(n * num_classes);
  for (std::size_t c = 0; c < num_classes; ++c) {
    oracle::DenseMatrix a(n, n);
    oracle::DenseMatrix b(n, 1);
    for (NodeId u = 0; u < n; ++u) {
      if (labels[u] != kNoLabel) {
        a(u, u) = 1;
        b(u, 0) = labels[u] == c ? 1 : 0;
        continue;
      }
      a(u, u) = ground[u];
      b(u, 0) = ground[u] * shares[u * num_classes + c];
      for (EdgeIndex arc = view.offsets[u]; arc < view.offsets[u + 1]; ++arc) {
        a(u, u) += view.weight(arc);
        a(u, view.neighbors[arc]) -= view.weight(arc);
      }
    }
    oracle::eliminate(a, b);
    for (std::size_t u = 0; u < n; ++u) result[u * num_classes + c] = b(u, 0);
  }
  return result;
}

double weighted_degree_of(const GraphView& graph, NodeId u) {
  double sum = 0;
  for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) sum += graph.weight(arc);
  return sum;
}

void expect_scores(const BatchResult& result, const std::vector<double>& expected, NodeId n, std::size_t k) {
  std::vector<double> row(k);
  for (NodeId u = 0; u < n; ++u) {
    result.predictor->scores(u, row);
    for (std::size_t c = 0; c < k; ++c) EXPECT_NEAR(row[c], expected[u * k + c], 1e-6) << u << " " << c;
  }
}

TEST(Hints, soft_labels_are_the_dense_harmonic_function_with_a_ground) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const NodeId n = 20;
    const Graph graph = oracle::random_connected_graph({.num_nodes = n, .num_edges = 40, .seed = seed});
    std::vector<Label> labels = some_labels(n, 3, 0.2, seed);
    labels[0] = 0;
    labels[1] = labels[2] = kNoLabel;
    const Hints hints{.labels = {{1, 1, 0.5}, {1, 2, 0.25}, {2, 2, 0.9}}, .prior = {}, .class_sizes = {}};
    std::vector<double> ground(n), shares(n * 3);
    ground[1] = 3 * weighted_degree_of(graph, 1);
    shares[3 + 1] = 2.0 / 3;
    shares[3 + 2] = 1.0 / 3;
    ground[2] = 9 * weighted_degree_of(graph, 2);
    shares[6 + 2] = 1;
    const BatchResult result =
        fit_with_hints(learner_row("label_propagation"), graph, labels, 3, hints, kPlain, {});
    expect_scores(result, harmonic_twin(graph, labels, ground, shares, 3), n, 3);
  }
}

TEST(Hints, a_prior_is_the_dense_harmonic_function_with_a_ground) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const NodeId n = 15;
    const Graph graph = oracle::random_connected_graph({.num_nodes = n, .num_edges = 30, .seed = seed});
    std::vector<Label> labels = some_labels(n, 2, 0.2, seed);
    labels[0] = 0;
    labels[1] = 1;
    Hints hints{.labels = {}, .prior = std::vector<double>(n * 2), .prior_weight = 0.5, .class_sizes = {}};
    std::vector<double> ground(n), shares(n * 2);
    for (NodeId u = 0; u < n;
         ++u) {  // sharp, of equal means and sums of their own: nothing is changed but these
      hints.prior[u * 2] = u % 2 == 0 ? 0.9 * (u + 1) : 0.1;
      hints.prior[u * 2 + 1] = u % 2 == 0 ? 0.1 * (u + 1) : 0.9;
    }
    hints.prior[(n - 1) * 2] = hints.prior[(n - 1) * 2 + 1] = 0;  // of this node it says nothing
    for (NodeId u = 0; u + 1 < n; ++u) {
      ground[u] = 0.5 * weighted_degree_of(graph, u);
      shares[u * 2] = u % 2 == 0 ? 0.9 : 0.1;
      shares[u * 2 + 1] = 1 - shares[u * 2];
    }
    const BatchResult result =
        fit_with_hints(learner_row("label_propagation"), graph, labels, 2, hints, kPlain, {});
    expect_scores(result, harmonic_twin(graph, labels, ground, shares, 2), n, 2);
  }
}

struct Blocks {
  Graph graph;
  std::vector<Label> truth, given;
  std::vector<double> prior;
};

/// Three blocks, few labels, and a prior that is right 60 times in 100 and never sure.
Blocks some_blocks(std::uint64_t seed) {
  GeneratedGraph made = generate_graph("block_model",
                                       {{"nodes", 900},
                                        {"classes", 3},
                                        {"degree_inside", 5},
                                        {"degree_outside", 4},
                                        {"weight_inside", 1},
                                        {"weight_outside", 1}},
                                       {.seed = seed});
  Blocks blocks{std::move(made.graph), made.labels.of_node, std::vector<Label>(900, kNoLabel),
                std::vector<double>(2700, 0.3)};
  std::mt19937_64 random(seed);
  for (NodeId u = 0; u < 900; ++u) {
    if (random() % 20 == 0) blocks.given[u] = blocks.truth[u];
    const std::size_t says = random() % 10 < 4 ? random() % 3 : blocks.truth[u];
    blocks.prior[u * 3 + says] = 0.4;
  }
  return blocks;
}

double error_of(const BatchResult& result, const Blocks& blocks) {
  double wrong = 0, count = 0;
  for (NodeId u = 0; u < 900; ++u) {
    if (blocks.given[u] != kNoLabel) continue;
    wrong += result.predictor->predict(u).label != blocks.truth[u] ? 1 : 0;
    ++count;
  }
  return wrong / count;
}

TEST(Hints, a_prior_helps_every_learner_that_takes_one) {
  for (const char* learner :
       {"auto", "label_propagation", "kernel_ridge", "wta", "tree_cut", "majority_vote"}) {
    SCOPED_TRACE(learner);
    double with = 0, without = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Blocks blocks = some_blocks(seed);
      Hints hints;
      hints.prior = blocks.prior;
      with += error_of(fit_with_hints(learner_row(learner), blocks.graph, blocks.given, 3, hints, {}, {}),
                       blocks);
      without +=
          error_of(fit_with_hints(learner_row(learner), blocks.graph, blocks.given, 3, {}, {}, {}), blocks);
    }
    EXPECT_LT(with, without);
  }
}

TEST(Hints, a_surer_soft_label_is_followed_and_an_unsure_one_is_not) {
  const Graph star = graph_from_pairs(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}});
  const std::vector<Label> labels = {kNoLabel, 0, 0, 0, 0};
  for (const LearnerRow& row : learner_rows()) {
    if (row.name != "label_propagation" && row.name != "majority_vote") continue;
    SCOPED_TRACE(row.name);
    for (const double weight : {0.2, 0.9}) {
      const Hints hints{.labels = {{0, 1, weight}}, .prior = {}, .class_sizes = {}};
      const BatchResult result = fit_with_hints(row, star, labels, 2, hints, {}, {});
      EXPECT_EQ(result.predictor->predict(0).label, weight > 0.5 ? 1 : 0);
      EXPECT_EQ(result.predictor->predict(1).label, 0);  // what is certain stays
    }
  }
}

TEST(Hints, answers_have_the_class_sizes_that_are_told) {
  const Blocks blocks = some_blocks(4);
  for (const char* learner : {"auto", "poisson", "kernel_ridge", "embedding"}) {
    SCOPED_TRACE(learner);
    Hints hints;
    hints.class_sizes = {3, 2, 1};
    const BatchResult result =
        fit_with_hints(learner_row(learner), blocks.graph, blocks.given, 3, hints, {}, {});
    std::vector<double> count(3), row(3);
    for (NodeId u = 0; u < 900; ++u) {
      const Prediction answer = result.predictor->predict(u);
      ++count[answer.label];
      result.predictor->scores(u, row);
      EXPECT_NEAR(row[0] + row[1] + row[2], 1, 1e-12);
      EXPECT_TRUE(blocks.given[u] == kNoLabel || answer.label == blocks.given[u]);
    }
    EXPECT_NEAR(count[0], 450, 25);
    EXPECT_NEAR(count[1], 300, 25);
    EXPECT_NEAR(count[2], 150, 25);
  }
}

TEST(Hints, class_sizes_are_those_of_all_nodes_not_of_the_answers) {
  Blocks blocks = some_blocks(6);
  for (NodeId u = 0; u < 900; ++u)
    if (blocks.truth[u] == 0) blocks.given[u] = 0;  // so that none is left to be found
  Hints hints;
  hints.class_sizes = {1, 1, 1};
  const BatchResult result =
      fit_with_hints(learner_row("label_propagation"), blocks.graph, blocks.given, 3, hints, {}, {});
  std::size_t num_found = 0;
  for (NodeId u = 0; u < 900; ++u)
    num_found += blocks.given[u] == kNoLabel && result.predictor->predict(u).label == 0 ? 1 : 0;
  EXPECT_LT(num_found, 20u);
}

TEST(Hints, soft_labels_of_several_classes_serve_a_pool_as_well) {
  Blocks blocks = some_blocks(7);
  Hints hints;
  for (NodeId u = 0; u < 900; ++u) {
    if (blocks.given[u] == kNoLabel && u % 5 != 0) continue;
    for (Label c = 0; c < 3; ++c) hints.labels.push_back({u, c, c == blocks.truth[u] ? 0.7 : 0.1});
    blocks.given[u] = kNoLabel;
  }
  EXPECT_LT(
      error_of(fit_with_hints(learner_row("auto"), blocks.graph, blocks.given, 3, hints, {}, {}), blocks),
      0.45);  // 0.67 is chance
}

TEST(Hints, leave_one_out_has_rows_of_certain_labels_only) {
  const Blocks blocks = some_blocks(5);
  Hints hints;
  hints.prior = blocks.prior;
  hints.class_sizes = {1, 1, 1};
  for (NodeId u = 0; u < 900 && hints.labels.empty(); ++u)
    if (blocks.given[u] == kNoLabel) hints.labels = {{u, 0, 0.5}};
  const BatchResult result =
      fit_with_hints(learner_row("auto"), blocks.graph, blocks.given, 3, hints, {}, {});
  const auto left_out = result.predictor->leave_one_out({});
  ASSERT_TRUE(left_out);
  EXPECT_GT(left_out->nodes.size(), 20u);
  EXPECT_EQ(left_out->raw_scores.size(), 3 * left_out->nodes.size());
  for (const NodeId node : left_out->nodes) {
    ASSERT_LT(node, 900u);
    EXPECT_NE(blocks.given[node], kNoLabel);
  }
}

TEST(Hints, one_class_ranks_nodes_by_walks_that_end) {
  const Graph path = graph_from_pairs(6, {{0, 1}, {1, 2}, {2, 3}, {4, 5}});
  const std::vector<Label> labels = {0, kNoLabel, kNoLabel, kNoLabel, kNoLabel, kNoLabel};
  std::vector<double> ground(6), shares(12);
  for (NodeId u = 0; u < 6; ++u) {
    ground[u] = Hints{}.prior_weight * weighted_degree_of(path, u);
    shares[2 * u + 1] = 1;
  }
  const std::vector<double> expected = harmonic_twin(path, labels, ground, shares, 2);
  for (const char* learner : {"auto", "label_propagation"}) {
    const BatchResult result = fit_with_hints(learner_row(learner), path, labels, 1, {}, {}, {});
    std::vector<double> row(1);
    for (NodeId u = 0; u < 6; ++u) {
      const Prediction answer = result.predictor->predict(u);
      EXPECT_EQ(answer.label, 0);
      EXPECT_EQ(answer.reached, u < 4);
      EXPECT_NEAR(answer.confidence, expected[2 * u], 1e-6);
      result.predictor->raw_scores(u, row);
      EXPECT_EQ(row[0], answer.confidence);
    }
    ASSERT_FALSE(result.notes.empty());
  }
}

TEST(Hints, what_makes_no_sense_is_refused) {
  const Graph path = graph_from_pairs(3, {{0, 1}, {1, 2}});
  const std::vector<Label> labels = {0, kNoLabel, kNoLabel};
  const auto expect_refused = [&](const char* learner, const Hints& hints, const char* what) {
    try {
      fit_with_hints(learner_row(learner), path, labels, 2, hints, {}, {});
      ADD_FAILURE() << what;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  const double nan = std::nan("");
  expect_refused("wta", {.labels = {{1, 0, 0.6}, {1, 1, 0.5}}}, "at most 1 in all");
  expect_refused("wta", {.labels = {{1, 0, nan}}}, "at most 1 in all");
  expect_refused("wta", {.labels = {{1, 0, 0}}}, "at most 1 in all");
  expect_refused("wta", {.labels = {{0, 1, 0.5}}}, "has a certain label");
  expect_refused("wta", {.labels = {{3, 1, 0.5}}}, "does not exist");
  expect_refused("wta", {.labels = {{1, 2, 0.5}}}, "does not exist");
  expect_refused("wta", {.prior = {1, 1}}, "2 shares");
  expect_refused("wta", {.prior = {1, 1, 1, 1, 1, -1}}, "no number >= 0");
  expect_refused("wta", {.prior = {1, 1, 1, 1, 1, nan}}, "no number >= 0");
  expect_refused("wta", {.prior = {1, 1, 1, 1, 1, 1}, .prior_weight = 0}, "no number above 0");
  expect_refused("wta", {.class_sizes = {1}}, "1 for 2 classes");
  expect_refused("wta", {.class_sizes = {0, 0}}, "not all 0");
  expect_refused("poisson", {.prior = {1, 1, 1, 1, 1, 1}}, "poisson cannot use it");
  expect_refused("graph_perceptron", {.class_sizes = {1, 1}}, "takes no hints");
  const Graph with_signs = graph_from_signed_edges(2, {{0, 1, -1}});
  EXPECT_THROW(fit_with_hints(learner_row("wta"), with_signs, std::vector<Label>{0, kNoLabel}, 2,
                              {.class_sizes = {1, 1}}, {}, {}),
               UsageError);
}

}  // namespace
}  // namespace copse
