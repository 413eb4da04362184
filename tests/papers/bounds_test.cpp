// SPDX-License-Identifier: Apache-2.0
// The bounds: their figures against dense twins, their formulas, and games that must not break them.

#include "papers/bounds.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "oracle/active_projection.hpp"
#include "oracle/graphs.hpp"
#include "oracle/signed.hpp"
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

/// Every way to put points into sets, by the number of the set of each.
std::uint64_t fewest_sets_by_trying(const std::vector<double>& distances, std::size_t count, double below) {
  std::uint64_t fewest = count;
  std::vector<std::size_t> set_of(count);
  const auto place = [&](auto&& self, std::size_t point, std::size_t used) -> void {
    if (point == count) {
      fewest = std::min<std::uint64_t>(fewest, used);
      return;
    }
    for (std::size_t set = 0; set <= used; ++set) {
      bool fits = true;
      for (std::size_t other = 0; other < point; ++other)
        if (set_of[other] == set && distances[point * count + other] >= below) fits = false;
      if (!fits) continue;
      set_of[point] = set;
      self(self, point + 1, std::max(used, set + 1));
    }
  };
  place(place, 0, 0);
  return fewest;
}

TEST(SeparatingCover, agrees_with_trying_all_sets_and_all_steps) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const bool is_tree = seed % 2 == 0;
    const NodeId n = 9;
    const Graph graph = oracle::random_connected_graph(
        {.num_nodes = n, .num_edges = is_tree ? n - 1U : 14U, .seed = seed, .weighted = seed % 3 == 0});
    const oracle::DenseMatrix k = oracle::pseudoinverse(oracle::laplacian(graph));
    std::vector<double> r;
    std::vector<Label> labels(n);
    for (NodeId u = 0; u < n; ++u) {
      labels[u] = static_cast<Label>(random() % 4 == 0);
      for (NodeId v = 0; v < n; ++v) r.push_back(oracle::effective_resistance(k, u, v));
    }
    labels[0] = 0, labels[1] = 1;
    double below = 1e300;
    for (NodeId u = 0; u < n; ++u)
      for (NodeId v = 0; v < n; ++v)
        if (labels[u] != labels[v]) below = std::min(below, r[u * n + v]);
    const SeparatingCover found = separating_cover(r, labels);
    EXPECT_NEAR(found.separation, below, 1e-12);
    below *= 1 - 1e-9;
    EXPECT_EQ(found.least_sets, fewest_sets_by_trying(r, n, below));
    EXPECT_EQ(found.least_sets, found.most_sets);
    std::vector<NodeId> component(n);
    for (NodeId u = 0; u < n; ++u) component[u] = u;
    for (NodeId again = 0; again < n; ++again)
      for (NodeId u = 0; u < n; ++u)
        for (NodeId v = 0; v < n; ++v)
          if (r[u * n + v] < below) component[u] = component[v] = std::min(component[u], component[v]);
    std::uint64_t count = 0;
    for (NodeId u = 0; u < n; ++u) count += component[u] == u ? 1 : 0;
    EXPECT_EQ(found.least_components, count);
    EXPECT_EQ(found.most_components, count);
    EXPECT_LE(found.most_components, found.least_sets);
  }
}

TEST(SeparatingCover, holds_its_ends_where_the_fewest_sets_are_too_dear_and_is_exact_on_trees) {
  for (const NodeId edges : {29U, 60U}) {
    const Graph graph = oracle::random_connected_graph({.num_nodes = 30, .num_edges = edges, .seed = 3});
    const oracle::DenseMatrix k = oracle::pseudoinverse(oracle::laplacian(graph));
    std::vector<double> r;
    std::vector<Label> labels(30);
    for (NodeId u = 0; u < 30; ++u)
      for (NodeId v = 0; v < 30; ++v) r.push_back(oracle::effective_resistance(k, u, v));
    labels[7] = labels[8] = 1;
    const SeparatingCover found = separating_cover(r, labels);
    EXPECT_LE(found.least_sets, found.most_sets);
    EXPECT_TRUE(edges != 29 || found.least_sets == found.most_sets);
  }
  EXPECT_EQ(separating_cover(std::vector<double>{0, 1, 1, 0}, std::vector<Label>{0, 0}).most_sets, 1u);
}

TEST(SeparatingCover, of_large_graphs_is_exact_for_few_labels_and_has_two_ends_for_many) {
  const Graph path = oracle::path(3000);
  std::vector<Label> labels(3000, kNoLabel);
  for (const NodeId u : {1000, 1001, 1002, 1010, 1011}) labels[u] = 0;  // 9 from the others
  for (const NodeId u : {1020, 1022, 1030}) labels[u] = 1;
  const SeparatingCover few = mistake_bounds(path, labels, {}, {1}).facts.separating;
  EXPECT_NEAR(few.separation, 9, 1e-5);
  EXPECT_EQ(few.least_sets, 4u);
  EXPECT_EQ(few.most_sets, 4u);
  EXPECT_EQ(few.least_components, 2u);
  EXPECT_EQ(few.most_components, 2u);

  const Graph grid = oracle::grid(40, 40);
  std::vector<Label> halves(1600);
  for (NodeId u = 0; u < 1600; ++u) halves[u] = u < 800 ? 0 : 1;
  const BoundReport report = mistake_bounds(grid, halves, {}, {1});
  const SeparatingCover& many = report.facts.separating;
  EXPECT_GT(many.least_sets,
            100u);  // ends of an edge inside are nearer than those of a cut one, others are not
  EXPECT_EQ(many.most_sets, 1600u);
  EXPECT_EQ(many.least_components, 2u);
  EXPECT_EQ(many.most_components, 1600u);
  EXPECT_TRUE(std::ranges::any_of(report.notes, [](const std::string& note) {
    return note.starts_with("separating covers: from below by ");
  }));
}

double bound_named(const BoundReport& report, const std::string& name) {
  for (const Bound& bound : report.bounds)
    if (bound.name == name) return bound.value;
  return std::nan("");
}

TEST(MistakeBounds, the_voltages_bound_is_twice_energy_times_resistance) {
  const Graph graph = oracle::grid(20, 20);
  std::vector<Label> labels(400, kNoLabel);
  labels[0] = labels[19] = 0;
  labels[380] = labels[399] = 1;
  const BoundReport report = mistake_bounds(graph, labels, {.num_trees = 2}, {});
  const LabellingFacts& facts = report.facts;
  // One mistake more: our player cannot name the second class before it has a label.
  EXPECT_NEAR(bound_named(report, "perceptron, voltages"),
              2 * facts.energy * facts.resistance_diameter.upper + 2 + 1, 1e-6);
  EXPECT_LT(bound_named(report, "perceptron, voltages"), 25);
}

TEST(MistakeBounds, robust_trees_count_flips_where_they_are_cheaper_than_cuts) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const NodeId n = 10;
    const Graph tree = oracle::random_connected_graph({.num_nodes = n, .num_edges = n - 1U, .seed = seed});
    std::mt19937_64 random(seed);
    std::vector<Label> labels(n);
    for (Label& label : labels) label = static_cast<Label>(random() % 2);
    labels[0] = 0, labels[1] = 1;
    const GraphView view = tree;
    CutEdges edges;
    const auto cut_of = [&](unsigned flips) {
      double cut = 0;
      for (NodeId u = 0; u < n; ++u)
        for (const NodeId v : view.neighbors_of(u))
          cut += u < v && (labels[u] ^ (flips >> u & 1)) != (labels[v] ^ (flips >> v & 1)) ? 1 : 0;
      return cut;
    };
    for (NodeId u = 0; u < n; ++u)
      for (const NodeId v : view.neighbors_of(u))
        if (u < v) edges.add(1, labels[u] != labels[v]);
    double smoothed = n;
    for (unsigned flips = 0; flips < 1U << n; ++flips)
      smoothed = std::min(smoothed, cut_of(flips) + std::popcount(flips));
    const BoundReport report = mistake_bounds(tree, labels, {.num_trees = 2}, {});
    EXPECT_NEAR(bound_named(report, "tree, robust"), robust_tree_bound(edges, smoothed, smoothed), 1e-9);
    EXPECT_LE(bound_named(report, "tree, robust"), bound_named(report, "tree") + 1e-9);
    EXPECT_LE(bound_named(report, "graph, robust"), bound_named(report, "graph") + 1e-9);
    EXPECT_GE(bound_named(report, "graph, connected"), bound_named(report, "graph, robust") - 1e-9);
  }
}

TEST(MistakeBounds, no_game_on_a_signed_graph_breaks_them) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const NodeId n = 12;
    const Graph plain = oracle::random_connected_graph({.num_nodes = n, .num_edges = 20, .seed = seed});
    std::vector<Edge> edges;
    for_each_edge(plain, [&](NodeId u, NodeId v, EdgeIndex) { edges.push_back({u, v, 1}); });
    const Graph graph = graph_from_signed_edges(n, oracle::with_signs(edges, seed));
    std::mt19937_64 random(seed);
    std::vector<Label> labels(n);
    for (Label& label : labels) label = static_cast<Label>(random() % 2);
    const BoundReport report = mistake_bounds(graph, labels, {.num_trees = 2}, {.seed = seed});
    EXPECT_GE(report.bounds.size(), 3u);
    for (const Bound& bound : report.bounds) {
      if (bound.in_expectation || std::isinf(bound.value) || bound.learner.empty()) continue;
      const auto learner = learner_row(bound.learner.substr(0, bound.learner.find(':')))
                               .make(graph, options_of(bound.learner), {.seed = seed});
      EXPECT_LE(play_mistakes(*learner, labels, random, true), bound.value + 1e-6) << bound.name;
    }
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
