// SPDX-License-Identifier: Apache-2.0
// The bounds: their figures against dense twins, their formulas, and games that must not break them.

#include "papers/bounds.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "oracle/active_projection.hpp"
#include "oracle/graphs.hpp"
#include "papers/bound_games.hpp"

namespace copse {
namespace {

// --- formulas

TEST(BoundFormulas, the_best_kernel_is_the_smallest_over_b_and_c) {
  for (const double cut : {1.0, 7.0})
    for (const double balance : {0.01, 0.5})
      for (const double flips : {0.0, 3.0}) {
        const double r = 2.5;
        const BestKernel best = best_kernel(cut, balance, flips, r);
        const auto z = [&](double b, double c) {
          return (4 * cut + balance / b + (flips > 0 ? 4 * flips / c : 0)) * (r + b + c);
        };
        EXPECT_NEAR(z(best.b, best.c), best.z, 1e-9 * best.z);
        EXPECT_DOUBLE_EQ(kernel_bound(cut, balance, flips, r, 0.3, 0.7), z(0.3, 0.7));
        for (double b = 0.001; b < 100; b *= 1.3)
          for (double c = flips > 0 ? 0.001 : 0; c < 100; c = c == 0 ? 100 : c * 1.3)
            EXPECT_GE(z(b, c), best.z * (1 - 1e-12));
      }
}

TEST(BoundFormulas, eq_5_without_noise_is_z_and_grows_by_two_per_noisy_label_at_least) {
  EXPECT_DOUBLE_EQ(perceptron_bound(12), 12);
  for (const double m : {1.0, 5.0}) EXPECT_GE(perceptron_bound(12, m), 12 + 2 * m);
  EXPECT_DOUBLE_EQ(perceptron_bound(0, 4), 8);
}

TEST(BoundFormulas, the_projection_bound_counts_the_largest_diagonals_that_fit) {
  const std::vector<double> diagonal{0.5, 1, 2, 4};
  EXPECT_EQ(projection_bound(0.25, diagonal), 1u);
  EXPECT_EQ(projection_bound(0.74, diagonal), 1u);
  EXPECT_EQ(projection_bound(0.75, diagonal), 2u);
  EXPECT_EQ(projection_bound(100, diagonal), 4u);
  EXPECT_EQ(projection_bound(0.75, diagonal, 0.4), 1u);
  EXPECT_EQ(projection_bound(0.1, diagonal), 0u);
}

TEST(BoundFormulas, halving_on_a_line_with_one_cut_is_log_n) {
  for (const std::uint64_t n : {2u, 5u, 100u, 1000000u})
    EXPECT_NEAR(halving_bound(n, 1), std::log2(static_cast<double>(n)), 1e-6);
  EXPECT_NEAR(halving_bound(5, 100), 4, 1e-9);  // all 2^5 labellings
  EXPECT_NEAR(halving_bound(4, 2), std::log2(7.0), 1e-9);
}

TEST(BoundFormulas, pounce_takes_the_cheapest_cover) {
  EXPECT_DOUBLE_EQ(pounce_bound(10, std::vector<double>{3, 0.1, 0.05}), 2 + 1 + 1);
}

TEST(BoundFormulas, covering_numbers_are_those_of_the_covers_found) {
  const std::vector<double> covers{3, 1, 0.5};
  EXPECT_EQ(covering_number(covers, 5), 1u);
  EXPECT_EQ(covering_number(covers, 1), 2u);
  EXPECT_EQ(covering_number(covers, 0.1), 0u);
}

TEST(BoundFormulas, line_and_tree_bounds_set_aside_edges_of_enormous_resistance) {
  CutEdges edges{1, 1, {1, 1, 1e30}};
  EXPECT_LT(line_bound(edges), 1 + 1 + 2 * std::log2(1 + 1.0) + 1 + 1e-9);
  EXPECT_LT(tree_bound(edges), 1 + 2 + 4 * std::log2(1 + 2.0) + 2 + 1e-9);
  EXPECT_EQ(line_bound({0, 0, {1, 2}}), 1);
}

// --- figures

TEST(MistakeBounds, figures_agree_with_the_dense_twin) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const NodeId n = 12;
    const Graph graph = oracle::random_connected_graph(
        {.num_nodes = n, .num_edges = 24, .seed = seed, .weighted = seed % 2 == 0});
    std::vector<Label> labels(n);
    for (Label& label : labels) label = static_cast<Label>(random() % 2);
    labels[0] = 0, labels[1] = 1;
    const LabellingFacts facts = mistake_bounds(graph, labels, {}, {}).facts;
    const oracle::DenseMatrix k = oracle::pseudoinverse(oracle::laplacian(graph));
    double cut = 0, weight = 0, expected = 0, resistance = 0, diameter = 0, largest = 0, sum = 0;
    const GraphView view = graph;
    for (NodeId u = 0; u < n; ++u) {
      largest = std::max(largest, k(u, u));
      sum += labels[u] == 0 ? 1 : -1;
      for (NodeId v = 0; v < n; ++v) diameter = std::max(diameter, oracle::effective_resistance(k, u, v));
      for (EdgeIndex arc = view.offsets[u]; arc < view.offsets[u + 1]; ++arc) {
        const NodeId v = view.neighbors[arc];
        if (u > v) continue;
        const double r = oracle::effective_resistance(k, u, v);
        if (labels[u] != labels[v])
          cut += 1, weight += view.weight(arc), expected += view.weight(arc) * r;
        else
          resistance += r;
      }
    }
    EXPECT_EQ(facts.cut_size, static_cast<std::uint64_t>(cut));
    EXPECT_NEAR(facts.cut_weight, weight, 1e-6 * weight);
    EXPECT_NEAR(facts.squared_norm, 4 * weight, 1e-5 * weight);
    EXPECT_NEAR(facts.energy, 4 * weight, 1e-5 * weight);  // all nodes have a label
    EXPECT_NEAR(facts.expected_cut, expected, 1e-5 * (1 + expected));
    EXPECT_NEAR(facts.expected_resistance, resistance, 1e-5 * (1 + resistance));
    EXPECT_NEAR(facts.resistance_diameter.upper, diameter, 1e-6 * diameter);
    EXPECT_NEAR(facts.largest_diagonal, largest, 1e-6 * largest);
    EXPECT_LE(largest, 1 / facts.algebraic_connectivity * (1 + 1e-6)) << "theorem 4.2";
    EXPECT_NEAR(facts.balance, sum / n * sum / n, 1e-12);
  }
}

TEST(MistakeBounds, norms_of_partial_labels_agree_with_the_dense_twin) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const NodeId n = 14;
    const Graph graph = oracle::random_connected_graph({.num_nodes = n, .num_edges = 30, .seed = seed});
    std::vector<Label> labels(n, kNoLabel);
    std::vector<std::size_t> at;
    std::vector<double> y;
    for (NodeId u = 0; u < n; u += 2) {
      labels[u] = u == 0 ? Label{0} : static_cast<Label>(u == 2 ? 1 : random() % 2);
      at.push_back(u);
      y.push_back(labels[u] == 0 ? 1 : -1);
    }
    const LabellingFacts facts = mistake_bounds(graph, labels, {}, {}).facts;
    const oracle::DenseMatrix l = oracle::laplacian(graph), k = oracle::pseudoinverse(l);
    const std::vector<double> g = oracle::dense_interpolant(k, at, y);
    double norm = 0;
    for (NodeId u = 0; u < n; ++u)
      for (NodeId v = 0; v < n; ++v) norm += g[u] * l(u, v) * g[v];
    EXPECT_NEAR(facts.interpolant_norm, norm, 1e-5 * norm);
    EXPECT_LE(facts.energy, norm * (1 + 1e-9));  // without the condition that it sums to 0
    EXPECT_LE(facts.energy, facts.squared_norm * (1 + 1e-9));
  }
}

TEST(MistakeBounds, covers_hold_what_they_say) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = 30, .num_edges = 60, .seed = 4});
  std::vector<Label> labels(30);
  labels[3] = 1;
  const LabellingFacts facts = mistake_bounds(graph, labels, {}, {}).facts;
  ASSERT_EQ(facts.cover_diameters.size(), 30u);
  EXPECT_NEAR(facts.cover_diameters[29], 0, 1e-9);  // every node by itself
  for (std::size_t i = 1; i < 30; ++i)
    EXPECT_LE(facts.cover_diameters[i], facts.cover_diameters[i - 1] + 1e-12);
  EXPECT_LE(facts.cover_diameters[0], facts.resistance_diameter.upper);
}

TEST(MistakeBounds, large_graphs_are_sampled_and_say_so) {
  const Graph graph = oracle::grid(51, 40);
  std::vector<Label> labels(2040);
  for (NodeId u = 0; u < 2040; ++u) labels[u] = u % 40 < 20 ? 0 : 1;
  const BoundReport report = mistake_bounds(graph, labels, {}, {});
  EXPECT_FALSE(report.facts.is_exact);
  EXPECT_GT(report.facts.expected_cut_error, 0);
  EXPECT_EQ(report.facts.cut_size, 51u);
  EXPECT_NEAR(report.facts.expected_cut, 25.5,
              8 * report.facts.expected_cut_error);  // half of them, in a grid
  EXPECT_FALSE(report.notes.empty());
}

TEST(MistakeBounds, words_tell_easy_labels_from_noise) {
  const Graph graph = oracle::grid(10, 10);
  std::vector<Label> easy(100), noise(100);
  std::mt19937_64 random(1);
  for (NodeId u = 0; u < 100; ++u) {
    easy[u] = u % 10 < 5 ? 0 : 1;
    noise[u] = static_cast<Label>(random() % 2);
  }
  EXPECT_NE(mistake_bounds(graph, easy, {}, {}).verdict[1].find("predictable"), std::string::npos);
  EXPECT_NE(mistake_bounds(graph, noise, {}, {}).verdict[1].find("guessing"), std::string::npos);
}

TEST(MistakeBounds, refuses_what_the_theorems_do_not_speak_of) {
  EXPECT_THROW(mistake_bounds(oracle::isolated_nodes(3), std::vector<Label>(3), {}, {}), UsageError);
  std::vector<Label> one(4, kNoLabel);
  one[2] = 0;
  EXPECT_THROW(mistake_bounds(oracle::path(4), one, {}, {}), UsageError);
  EXPECT_THROW(mistake_bounds(oracle::path(4), std::vector<Label>(3), {}, {}), UsageError);
}

TEST(MistakeBounds, are_the_same_on_any_number_of_threads) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 60, .num_edges = 120, .seed = 2, .weighted = true});
  std::vector<Label> labels(60, kNoLabel);
  for (NodeId u = 0; u < 60; u += 2) labels[u] = static_cast<Label>(u / 2 % 3);
  const auto one = mistake_bounds(graph, labels, {}, {.threads = 1}).bounds;
  const auto four = mistake_bounds(graph, labels, {}, {.threads = 4}).bounds;
  ASSERT_EQ(one.size(), four.size());
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].value, four[i].value) << one[i].name;
}

// --- games

TEST(BoundGames, no_bound_is_broken_in_120_random_clustered_and_adversarial_games) {
  play_all_bounds(0, 120);
}

TEST(BoundGames, progress_of_active_trials_is_accounted_for) { play_active_bounds(0, 60); }

}  // namespace
}  // namespace copse
