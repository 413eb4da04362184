// SPDX-License-Identifier: Apache-2.0
// Ridge regression on the embedding beside dense matrices, and beside fitting again.

#include "copse/learners/embedding.hpp"

#include <gtest/gtest.h>

#include <random>

#include "copse/graph/generate.hpp"
#include "copse/learners/registry.hpp"
#include "learners/ridge_regression.hpp"
#include "oracle/graphs.hpp"
#include "oracle/solved.hpp"
#include "oracle/spectral.hpp"
#include "some_labels.hpp"

namespace copse {
namespace {

std::vector<double> raw(const Predictor& predictor, NodeId node) {
  std::vector<double> scores(predictor.num_classes());
  predictor.raw_scores(node, scores);
  return scores;
}

std::unique_ptr<Embedding> told(const Graph& graph, const std::vector<Label>& labels,
                                const EmbeddingOptions& options, NodeId without = kNoNode) {
  auto learner = std::make_unique<Embedding>(graph, options, Execution{});
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    if (labels[u] != kNoLabel && u != without) learner->reveal(u, labels[u]);
  return learner;
}

/// All that the regression sees: rows, labelled nodes, targets.
struct Dense {
  Eigen::MatrixXd x, y;
  std::vector<Eigen::Index> known;
};
Dense dense(const SpectralEmbedding& embedding, const std::vector<Label>& labels, Eigen::Index num_classes) {
  Dense result{Eigen::MatrixXd(embedding.num_nodes, static_cast<Eigen::Index>(embedding.dimension)), {}, {}};
  for (NodeId u = 0; u < embedding.num_nodes; ++u) {
    for (std::size_t c = 0; c < embedding.dimension; ++c)
      result.x(u, static_cast<Eigen::Index>(c)) = static_cast<double>(embedding.row(u)[c]);
    result.x.row(u).normalize();  // to more digits than floats have
    if (labels[u] != kNoLabel) result.known.push_back(u);
  }
  result.y = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(result.known.size()), num_classes);
  for (std::size_t i = 0; i < result.known.size(); ++i)
    result.y(static_cast<Eigen::Index>(i), labels[static_cast<std::size_t>(result.known[i])]) = 1;
  return result;
}

TEST(Embedding, is_ridge_regression_with_an_intercept) {
  for (const double ridge : {0.01, 1.0, 30.0}) {
    const Graph graph = oracle::random_connected_graph({.num_nodes = 90, .num_edges = 300, .seed = 3});
    const auto labels = some_labels(90, 3, 0.4, 5);
    const auto learner = told(graph, labels, {.spectral = {.dimension = 20}, .ridge = ridge, .exponent = 1});
    const Dense given = dense(learner->embedding(), labels, 3);
    const Eigen::MatrixXd expected = oracle::ridge(given.x, given.known, given.y, ridge);
    for (NodeId u = 0; u < 90; ++u) {
      const std::vector<double> scores = raw(*learner, u);
      for (Eigen::Index c = 0; c < 3; ++c)
        EXPECT_NEAR(scores[static_cast<std::size_t>(c)], expected(u, c), 1e-9);
      if (labels[u] != kNoLabel) continue;
      Eigen::Index best = 0;
      expected.row(u).maxCoeff(&best);
      EXPECT_EQ(learner->predict(u).label, best);
      const double sum = (4 * expected.row(u).array()).exp().sum();
      EXPECT_NEAR(learner->predict(u).confidence, std::exp(4 * expected(u, best)) / sum, 1e-9);
    }
  }
}

TEST(Embedding, left_out_labels_are_answered_as_if_they_had_never_been_told) {
  // Many components, some of them small, one class with a single label.
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph({.num_nodes = 80, .num_edges = 40 + 20 * seed, .seed = seed});
    auto labels = some_labels(80, 2, 0.5, seed);
    labels[seed] = 2;
    const EmbeddingOptions options{.spectral = {.dimension = 10}, .ridge = 0.3, .exponent = 2};
    const auto learner = told(graph, labels, options);
    const LeaveOneOut left_out = *learner->leave_one_out({.threads = 2});
    EXPECT_FALSE(left_out.is_sampled);
    std::size_t i = 0;
    for (NodeId u = 0; u < 80; ++u) {
      if (labels[u] == kNoLabel) continue;
      const auto without = told(graph, labels, options, u);
      const bool is_reached = without->predict(u).reached;
      ASSERT_EQ(i < left_out.nodes.size() && left_out.nodes[i] == u, is_reached) << u;
      if (!is_reached) continue;
      std::vector<double> expected = raw(*without, u);
      expected.resize(3);
      for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(left_out.raw_scores[i * 3 + c], expected[c], 1e-9) << u;
      ++i;
    }
    EXPECT_EQ(i, left_out.nodes.size());
  }
}

TEST(Embedding, chooses_the_ridge_that_errs_least_when_each_label_is_left_out) {
  const Graph graph = generate_graph("block_model", {{"nodes", 300}, {"classes", 3}}, {.seed = 2}).graph;
  const auto labels = some_labels(300, 3, 0.3, 1);  // noise: a large ridge is best
  const SpectralEmbedding embedding = spectral_embedding(graph, {.dimension = 30}, {});
  std::vector<RidgeExample> examples;
  for (NodeId u = 0; u < 300; ++u)
    if (labels[u] != kNoLabel) examples.push_back({u, labels[u]});
  const auto error = [&](double lambda) {
    const auto fit = RidgeRegression::best(embedding, examples, 3, {lambda, 1}, {});
    Eigen::MatrixXd left_out = fit.left_out(0, examples.size());
    for (std::size_t i = 0; i < examples.size(); ++i)
      left_out(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(examples[i].column)) -= 1;
    return left_out.squaredNorm();
  };
  const double chosen = RidgeRegression::best(embedding, examples, 3, {0, 1}, {}).lambda();
  EXPECT_GT(chosen, 1);
  for (const double factor : {1e-3, 1e-2, 1e-1}) EXPECT_LE(error(chosen), error(chosen * factor) + 1e-9);
}

TEST(Embedding, the_influences_of_the_labels_add_up_to_the_values) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = 50, .num_edges = 150, .seed = 1});
  const SpectralEmbedding embedding = spectral_embedding(graph, {.dimension = 12}, {});
  std::vector<RidgeExample> examples;
  for (NodeId u = 0; u < 50; u += 3) examples.push_back({u, static_cast<Label>(u % 2)});
  const auto fit = RidgeRegression::best(embedding, examples, 2, {0.5, 2}, {});
  for (NodeId u = 0; u < 50; ++u) {
    std::vector<double> values(2), sums(2);
    fit.values(u, values);
    const std::vector<double> influence = fit.influence(u);
    for (std::size_t i = 0; i < examples.size(); ++i) sums[examples[i].column] += influence[i];
    for (std::size_t c = 0; c < 2; ++c) EXPECT_NEAR(sums[c], values[c], 1e-9);
  }
}

TEST(Embedding, finds_the_blocks_of_a_block_model_also_where_edges_lead_outwards) {
  for (const bool outwards : {false, true}) {
    const GeneratedGraph made = generate_graph("block_model",
                                               {{"nodes", 2000},
                                                {"classes", 2},
                                                {"degree_inside", outwards ? 4 : 16},
                                                {"degree_outside", outwards ? 16 : 4}},
                                               {.seed = 3});
    std::vector<Label> given(2000, kNoLabel);
    for (NodeId u = 0; u < 2000; u += 50) given[u] = made.labels.of_node[u];
    const BatchResult result = Embedding::fit(made.graph, given, 2, {}, {.threads = 2});
    double right = 0;
    for (NodeId u = 0; u < 2000; ++u) right += result.predictor->predict(u).label == made.labels.of_node[u];
    EXPECT_GT(right / 2000, 0.97) << outwards;
    EXPECT_TRUE(result.notes.empty());
  }
}

TEST(Embedding, answers_small_components_with_the_harmonic_function_and_says_so) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph(
        {.num_nodes = 9, .num_edges = 5 + seed % 12, .seed = seed, .weighted = seed % 2 == 0});
    auto labels = some_labels(9, 3, 0.4, seed);
    labels[0] = 2;
    const BatchResult result = Embedding::fit(graph, labels, 3, {}, {});
    ASSERT_EQ(result.notes.size(), 1u);
    EXPECT_NE(result.notes[0].find("9 of 9 nodes have no place"), std::string::npos);
    const oracle::DenseScores expected = oracle::harmonic(graph, labels, 3);
    for (NodeId u = 0; u < 9; ++u) {
      EXPECT_EQ(result.predictor->predict(u).reached, expected.reached[u]);
      if (labels[u] != kNoLabel || !expected.reached[u]) continue;
      std::vector<double> scores(3);
      result.predictor->scores(u, scores);
      for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(scores[c], expected.scores(u, c), 1e-9);
    }
  }
}

TEST(Embedding, leaves_labels_out_in_small_components_too) {
  const Graph graph = graph_from_pairs(7, {{0, 1}, {1, 2}, {2, 3}, {4, 5}});
  const auto result =
      Embedding::fit(graph, std::vector<Label>{0, 0, 1, kNoLabel, 1, kNoLabel, kNoLabel}, 2, {}, {});
  const LeaveOneOut left_out = *result.predictor->leave_one_out({});
  EXPECT_EQ(left_out.nodes, (std::vector<NodeId>{0, 1, 2}));
  EXPECT_EQ(left_out.raw_scores, (std::vector<double>{1, 0, 0.5, 0.5, 1, 0}));
}

TEST(Embedding, lives_with_one_label_one_class_and_weights_of_all_sizes) {
  for (const float weight : {1e-40F, 1.0F, 1e30F}) {
    std::vector<Edge> edges;
    for (NodeId u = 0; u + 1 < 30; ++u) edges.push_back({u, u + 1, u % 3 == 0 ? weight : 1.0F});
    const Graph graph = graph_from_edges(30, edges);
    Embedding learner(graph, {}, {});
    EXPECT_TRUE(learner.leave_one_out({})->nodes.empty());
    learner.reveal(7, 1);
    for (NodeId u = 0; u < 30; ++u) {
      EXPECT_EQ(learner.predict(u).label, 1);
      EXPECT_EQ(learner.predict(u).confidence, 1);
    }
    EXPECT_TRUE(learner.leave_one_out({})->nodes.empty());
    learner.reveal(8, 1);
    learner.reveal(20, 1);
    EXPECT_EQ(learner.predict(0).label, 1);
    EXPECT_EQ(learner.leave_one_out({})->nodes.size(), 3u);
    learner.reveal(28, 0);
    for (NodeId u = 0; u < 30; ++u) {
      EXPECT_TRUE(std::isfinite(learner.predict(u).confidence));
      EXPECT_FALSE(learner.explain(u).empty());
    }
    const LeaveOneOut left_out = *learner.leave_one_out({});
    for (const double score : left_out.raw_scores) EXPECT_TRUE(std::isfinite(score));
  }
}

TEST(Embedding, refuses_signed_graphs) {
  const Graph graph = graph_from_signed_edges(3, {{0, 1, 1}, {1, 2, -1}});
  EXPECT_THROW(Embedding(graph, {}, {}), UsageError);
  EXPECT_THROW(learner_row("embedding").make(graph, {}, {}), UsageError);
}

}  // namespace
}  // namespace copse
