// SPDX-License-Identifier: Apache-2.0
#include "papers/tree_cut.hpp"

#include <gtest/gtest.h>

#include "copse/evaluation/protocols.hpp"
#include "copse/support/error.hpp"
#include "oracle/graphs.hpp"
#include "oracle/linear_algebra.hpp"
#include "papers/bounds.hpp"

namespace copse {
namespace {

std::vector<Label> two_halves(NodeId num_nodes) {
  std::vector<Label> labels(num_nodes);
  for (NodeId u = num_nodes / 2; u < num_nodes; ++u) labels[u] = 1;
  return labels;
}

double by_the_dense_matrix(const GraphView& graph, const std::vector<Label>& labels) {
  const auto k = oracle::pseudoinverse(oracle::laplacian(graph));
  double sum = 0;
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      const NodeId v = graph.neighbors[arc];
      if (u < v && labels[u] != kNoLabel && labels[v] != kNoLabel && labels[u] != labels[v])
        sum += graph.weight(arc) * (k(u, u) + k(v, v) - 2 * k(u, v));
    }
  return sum;
}

TEST(ExpectedTreeCut, of_small_graphs_is_the_sum_of_weight_times_resistance) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_connected_graph({.num_nodes = 20, .num_edges = 45, .seed = seed});
    std::vector<Label> labels = two_halves(20);
    labels[3] = labels[15] = kNoLabel;  // their edges are not judged
    const ExpectedTreeCut cut = expected_tree_cut(graph, labels, 31, {});
    EXPECT_NEAR(cut.value, by_the_dense_matrix(graph, labels), 1e-5);
    EXPECT_EQ(cut.num_trees, 0U);
    EXPECT_EQ(cut.error, 0);
  }
}

TEST(ExpectedTreeCut, of_a_forest_is_its_cut) {
  const ExpectedTreeCut cut = expected_tree_cut(oracle::path(5000), two_halves(5000), 31, {});
  EXPECT_EQ(cut.value, 1);
  EXPECT_EQ(cut.num_trees, 0U);
  EXPECT_EQ(expected_tree_cut(
                oracle::two_components_and_an_isolated_node(),
                std::vector<Label>(oracle::two_components_and_an_isolated_node().view().num_nodes()), 1, {})
                .value,
            0);
}

TEST(ExpectedTreeCut, of_large_graphs_with_few_cut_edges_is_solved_for) {
  const NodeId n = 3000;  // an edge of a ring is left out of one tree in n, whatever the unit of weights
  for (const Weight weight : {1.0F, 4.0F}) {
    std::vector<Edge> ring;
    for (NodeId u = 0; u < n; ++u) ring.push_back({u, (u + 1) % n, weight});
    const ExpectedTreeCut cut = expected_tree_cut(graph_from_edges(n, ring), two_halves(n), 31, {});
    EXPECT_NEAR(cut.value, 2.0 * (n - 1) / n, 1e-5);
    EXPECT_EQ(cut.num_trees, 0U);
    EXPECT_LE(std::abs(cut.value - 2.0 * (n - 1) / n), cut.error + 1e-12);
  }
}

TEST(ExpectedTreeCut, is_sampled_where_solves_are_too_dear) {
  const NodeId n = 60;
  const Graph graph = oracle::grid(n, n);
  std::vector<Label> labels(std::size_t{n} * n);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<Label>((i / n + i % n) % 2);
  const ExpectedTreeCut all = expected_tree_cut(graph, labels, 5, {.seed = 3, .threads = 2});
  EXPECT_EQ(all.num_trees, 5U);
  EXPECT_EQ(all.value, n * n - 1) << "every edge of a chessboard is cut";
  EXPECT_EQ(all.error, 0);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<Label>(i / n % 2);  // stripes
  const ExpectedTreeCut stripes = expected_tree_cut(graph, labels, 400, {.seed = 3, .threads = 2});
  // Half of the edges are cut, and by symmetry they are half of a tree.
  EXPECT_NEAR(stripes.value, (n * n - 1) / 2.0, 5 * stripes.error);
  EXPECT_GT(stripes.error, 0);
  const ExpectedTreeCut fewer = expected_tree_cut(graph, labels, 100, {.seed = 3, .threads = 2});
  EXPECT_NEAR(fewer.error / stripes.error, 2, 0.3) << "four times the trees, half the error";
  const ExpectedTreeCut again = expected_tree_cut(graph, labels, 400, {.seed = 3, .threads = 1});
  EXPECT_EQ(again.value, stripes.value);
  EXPECT_EQ(again.error, stripes.error);
}

TEST(ExpectedTreeCut, of_a_bridge_is_one_however_light_it_is) {
  for (const Weight light : {1e-3F, 1e-12F, 1e-30F}) {
    SCOPED_TRACE(light);
    std::vector<Edge> edges;
    for (NodeId side = 0; side < 2; ++side)
      for (NodeId u = 0; u < 5; ++u)
        for (NodeId v = u + 1; v < 5; ++v) edges.push_back({side * 5 + u, side * 5 + v, 1});
    edges.push_back({4, 5, light});
    const Graph graph = graph_from_edges(10, edges);
    EXPECT_NEAR(expected_tree_cut(graph, two_halves(10), 7, {}).value, 1, 1e-5);
    EXPECT_NEAR(mistake_bounds(graph, two_halves(10), {}, {}).facts.expected_cut, 1, 1e-5);
  }
}

TEST(ExpectedTreeCut, is_what_the_bounds_are_made_of) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = 30, .num_edges = 70, .seed = 4});
  EXPECT_NEAR(expected_tree_cut(graph, two_halves(30), 31, {}).value,
              mistake_bounds(graph, two_halves(30), {}, {}).facts.expected_cut, 1e-12);
}

TEST(ExpectedTreeCut, refuses_what_makes_no_sense) {
  EXPECT_THROW(expected_tree_cut(oracle::path(5), std::vector<Label>(4), 31, {}), UsageError);
  EXPECT_THROW(expected_tree_cut(oracle::path(5), std::vector<Label>(5), 0, {}), UsageError);
  EXPECT_EQ(expected_tree_cut(GraphView{}, {}, 31, {}).value, 0);
}

// --- the adversary

TEST(Adversary, a_random_tree_is_cut_at_fewer_edges_than_there_are_coins) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const NodeId n = 20;
    const Graph graph = oracle::random_connected_graph(
        {.num_nodes = n, .num_edges = 19 + seed, .seed = seed, .weighted = seed % 2 == 1});
    for (const std::uint64_t budget : {1u, 5u, 13u, 20u}) {
      const Adversary adversary = adversarial_labelling(graph, budget, {.seed = seed});
      EXPECT_EQ(adversary.budget.size(), budget);
      const oracle::DenseMatrix k = oracle::pseudoinverse(oracle::laplacian(graph));
      const GraphView view = graph;
      double expected = 0;
      for (NodeId u = 0; u < n; ++u)
        for (EdgeIndex arc = view.offsets[u]; arc < view.offsets[u + 1]; ++arc)
          if (u < view.neighbors[arc] &&
              adversary.labels.of_node[u] != adversary.labels.of_node[view.neighbors[arc]])
            expected += view.weight(arc) * oracle::effective_resistance(k, u, view.neighbors[arc]);
      EXPECT_NEAR(adversary.expected_cut, expected, 1e-4 * (1 + expected));
      EXPECT_LT(expected, static_cast<double>(budget));
      EXPECT_LE(adversary.labels.classes.size(), 2u);
    }
  }
}

TEST(Adversary, forces_half_of_its_coins_on_every_learner_of_the_registry) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = 24, .num_edges = 50, .seed = 11});
  constexpr std::uint64_t kBudget = 12, kGames = 60;
  for (const LearnerRow& row : learner_rows()) {
    double mistakes = 0;
    for (std::uint64_t seed = 0; seed < kGames; ++seed) {
      const Adversary adversary = adversarial_labelling(graph, kBudget, {.seed = seed});
      const auto learner = row.make(graph, {}, {.seed = 1});
      mistakes +=
          static_cast<double>(play_online(*learner, adversary.labels.of_node, adversary.budget).mistakes());
    }
    // Fair coins: the mean of the games is off by 4 standard errors once in 30,000 runs; seeds are fixed.
    const double error = std::sqrt(kBudget / 4.0 / kGames);
    EXPECT_GT(mistakes / kGames, kBudget / 2.0 - 4 * error) << row.name;
  }
}

TEST(Adversary, on_large_graphs_trees_tell_the_light_nodes) {
  const Graph graph = oracle::grid(40, 50);
  const Adversary adversary = adversarial_labelling(graph, 100, {});
  EXPECT_GT(adversary.num_trees, 0u);
  EXPECT_LT(adversary.expected_cut, 100);
}

TEST(Adversary, refuses_no_coins_and_more_than_nodes) {
  EXPECT_THROW(adversarial_labelling(oracle::path(4), 0, {}), UsageError);
  EXPECT_THROW(adversarial_labelling(oracle::path(4), 5, {}), UsageError);
}

}  // namespace
}  // namespace copse
