// SPDX-License-Identifier: Apache-2.0
#include "copse/laplacian/resistance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "copse/support/error.hpp"
#include "trees/shortest_path.hpp"
#include "oracle/dense_laplacian.hpp"
#include "oracle/graphs.hpp"
#include "oracle/property.hpp"
#include "oracle/trees.hpp"

namespace copse {
namespace {

std::vector<NodePair> all_pairs(NodeId n) {
  std::vector<NodePair> pairs;
  for (NodeId u = 0; u < n; ++u)
    for (NodeId v = 0; v < n; ++v) pairs.push_back({u, v});
  return pairs;
}

bool same_component(const oracle::DenseMatrix& laplacian, NodeId u, NodeId v) {
  const auto component = oracle::laplacian_components(laplacian);
  return component[u] == component[v];
}

TEST(ExactResistances, agree_with_the_dense_pseudoinverse_within_their_error) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const auto laplacian = oracle::laplacian(graph);
    const auto pinv = oracle::pseudoinverse(laplacian);
    const auto pairs = all_pairs(graph.num_nodes());
    const Estimates found = exact_resistances(graph, pairs, 1e-10, {}, {});
    EXPECT_TRUE(found.report.converged);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto [u, v] = pairs[i];
      if (!same_component(laplacian, u, v)) {
        EXPECT_EQ(found.value[i], std::numeric_limits<double>::infinity());
        continue;
      }
      const double wanted = oracle::effective_resistance(pinv, u, v);
      EXPECT_NEAR(found.value[i], wanted, 1e-9 * wanted);
      EXPECT_LE(found.value[i], wanted * (1 + 1e-12));
      EXPECT_GE(found.value[i] + found.error[i], wanted * (1 - 1e-12));
      EXPECT_LE(found.error[i], 2e-10 * wanted);
    }
  }
}

TEST(ExactResistances, errors_hold_also_where_the_solver_is_sloppy) {
  // One rough solve and no refinement that helps: the bound must own up to it.
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 60, .num_edges = 150, .seed = 3, .weighted = true});
  const auto pinv = oracle::pseudoinverse(oracle::laplacian(graph));
  const auto pairs = all_pairs(60);
  const Estimates rough = exact_resistances(
      graph, pairs, 0.9, {.method = SolveMethod::jacobi, .tolerance = 0.05, .max_iterations = 3}, {});
  double largest = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double wanted = oracle::effective_resistance(pinv, pairs[i].u, pairs[i].v);
    EXPECT_LE(rough.value[i], wanted * (1 + 1e-12));
    EXPECT_GE(rough.value[i] + rough.error[i], wanted * (1 - 1e-12));
    largest = std::max(largest, wanted - rough.value[i]);
  }
  EXPECT_GT(largest, 1e-3);  // it was sloppy indeed
}

TEST(ExactResistances, weighted_they_sum_to_nodes_less_components_over_the_edges) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    std::vector<NodePair> pairs;
    const auto edges = oracle::edge_list(graph);
    for (const Edge& edge : edges) pairs.push_back({edge.u, edge.v});
    const Estimates found = exact_resistances(graph, pairs, 1e-10, {}, {});
    double sum = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) sum += edges[i].weight * found.value[i];
    const double wanted = graph.num_nodes() - static_cast<double>(oracle::smallest_nodes(graph).size());
    EXPECT_NEAR(sum, wanted, 1e-9 * std::max(1.0, wanted));
  }
}

TEST(ExactResistances, on_a_tree_are_path_lengths_at_twelve_orders_of_weights) {
  std::mt19937_64 random(5);
  std::vector<Edge> edges = oracle::random_tree_edges(40, random, false);
  for (Edge& edge : edges)
    edge.weight =
        static_cast<Weight>(std::pow(10.0, 12 * (static_cast<double>(random() % 10001) / 10000 - 0.5)));
  const Graph tree = graph_from_edges(40, edges);
  const auto distance = oracle::shortest_distances(tree);
  const auto pairs = all_pairs(40);
  const Estimates found = exact_resistances(tree, pairs, 1e-9, {.tolerance = 1e-14}, {});
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double wanted = distance[pairs[i].u][pairs[i].v];
    EXPECT_LE(std::fabs(found.value[i] - wanted), found.error[i] + 1e-9 * wanted);
  }
}

TEST(ExactResistances, do_not_depend_on_the_threads) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 2000, .num_edges = 5000, .seed = 3, .weighted = true});
  const std::vector<NodePair> pairs = {{0, 1}, {5, 1999}, {7, 700}, {3, 3}};
  const Estimates one = exact_resistances(graph, pairs, 1e-6, {}, {.threads = 1});
  const Estimates four = exact_resistances(graph, pairs, 1e-6, {}, {.threads = 4});
  EXPECT_EQ(one.value, four.value);
  EXPECT_EQ(one.error, four.error);
}

TEST(ExactResistances, refuse_nodes_and_tolerances_that_do_not_exist) {
  const Graph graph = oracle::path(3);
  const std::vector<NodePair> pairs = {{0, 3}};
  EXPECT_THROW(exact_resistances(graph, pairs, 1e-6, {}, {}), UsageError);
  EXPECT_THROW(exact_resistances(graph, {}, 0, {}, {}), UsageError);
  EXPECT_THROW(exact_diagonal(graph, 1, {}, {}), UsageError);
  EXPECT_TRUE(exact_resistances(graph, {}, 1e-6, {}, {}).value.empty());
}

TEST(ExactDiagonal, agrees_with_the_dense_pseudoinverse_also_by_solves) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const auto pinv = oracle::pseudoinverse(oracle::laplacian(graph));
    const Estimates dense = exact_diagonal(graph, 1e-9, {}, {}),
                    solved = exact_diagonal(graph, 1e-10, {}, {}, 0);
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      EXPECT_NEAR(dense.value[u], pinv(u, u), 1e-9 * pinv(u, u));
      EXPECT_NEAR(solved.value[u], pinv(u, u), 1e-9 * pinv(u, u));
      EXPECT_LE(solved.value[u], pinv(u, u) * (1 + 1e-12));
      EXPECT_GE(solved.value[u] + solved.error[u], pinv(u, u) * (1 - 1e-12));
    }
  }
}

/// The largest distance between estimate and truth over the stated error.
double worst_share(const RootResistances& found, const std::vector<double>& wanted) {
  double worst = 0;
  for (std::size_t u = 0; u < wanted.size(); ++u)
    if (std::fabs(found.value[u] - wanted[u]) > 1e-9 * (1 + wanted[u]))
      worst = std::max(worst, std::fabs(found.value[u] - wanted[u]) / found.error[u]);
  return worst;
}

TEST(TreeRootResistances, lie_within_their_errors_weighted_or_not_connected_or_not) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const auto laplacian = oracle::laplacian(graph);
    const auto pinv = oracle::pseudoinverse(laplacian);
    const TreeEstimateOptions options{.error = 0.3, .max_trees = 20000};
    double sum = 0, error_sum = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(seed);
      const RootResistances found = tree_root_resistances(graph, options, {.seed = seed});
      EXPECT_TRUE(found.reached);
      std::vector<double> wanted;
      double mean = 0;
      for (NodeId u = 0; u < graph.num_nodes(); ++u) {
        NodeId root = kNoNode;
        for (const NodeId candidate : found.roots)
          if (same_component(laplacian, u, candidate)) root = candidate;
        ASSERT_NE(root, kNoNode);
        wanted.push_back(oracle::effective_resistance(pinv, u, root));
        sum += std::fabs(found.value[u] - wanted[u]);
        error_sum += found.error[u];
        mean += found.value[u] /
                std::max<double>(1, graph.num_nodes() - static_cast<double>(found.roots.size()));
      }
      EXPECT_LE(worst_share(found, wanted), 1);
      for (const double error : found.error) EXPECT_LE(error, 0.3 * mean + 1e-12);
      for (NodeId u = 0; u < graph.num_nodes(); ++u)
        EXPECT_LE(std::fabs(found.value[u] - wanted[u]), found.certain_error[u] + 1e-9 * wanted[u]);
    }
    EXPECT_LE(sum, 0.6 * error_sum + 1e-9);  // a bound for the worst of all nodes is far off on average

    const RootResistances diagonal = tree_diagonal(graph, options, {.seed = 5});
    std::vector<double> entries;
    for (NodeId u = 0; u < graph.num_nodes(); ++u) entries.push_back(pinv(u, u));
    EXPECT_LE(worst_share(diagonal, entries), 1 + 1e-6);
  }
}

TEST(TreeRootResistances, are_exact_on_trees_whatever_the_sample) {
  const Graph tree = oracle::random_tree({.num_nodes = 200, .seed = 8, .weighted = true});
  const RootResistances found = tree_root_resistances(tree, {.max_trees = 3}, {.seed = 2});
  EXPECT_EQ(found.num_trees, 3U);
  EXPECT_FALSE(found.reached);
  const auto distance = oracle::shortest_distances(tree);
  for (NodeId u = 0; u < 200; ++u) EXPECT_NEAR(found.value[u], distance[u][found.roots[0]], 1e-9);
}

TEST(TreeRootResistances, do_not_depend_on_the_threads) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 100, .num_edges = 200, .seed = 3, .weighted = true});
  const TreeEstimateOptions options{.error = 0.4};
  const RootResistances one = tree_root_resistances(graph, options, {.threads = 1});
  const RootResistances four = tree_root_resistances(graph, options, {.threads = 4});
  EXPECT_EQ(one.value, four.value);
  EXPECT_EQ(one.error, four.error);
  EXPECT_EQ(one.num_trees, four.num_trees);
  EXPECT_THROW(tree_root_resistances(graph, {.error = 0}, {}), UsageError);
  EXPECT_THROW(tree_root_resistances(graph, {.confidence = 1}, {}), UsageError);
  EXPECT_THROW(tree_root_resistances(graph, {.max_trees = 0}, {}), UsageError);
}

TEST(ResistanceSketch, is_right_to_its_relative_error) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const NodeId n = graph.num_nodes();
    const auto laplacian = oracle::laplacian(graph);
    const auto pinv = oracle::pseudoinverse(laplacian);
    const std::uint64_t questions = std::uint64_t{n} * (n + 1) / 2;
    const int k = ResistanceSketch::projections_for(0.3, 0.99, questions);
    const double error = ResistanceSketch::relative_error(k, 0.99, questions);
    EXPECT_LE(error, 0.3 + 1e-9);
    const ResistanceSketch sketch(graph, k, {}, {.seed = 11, .threads = 2});
    EXPECT_TRUE(sketch.report().converged);
    for (NodeId u = 0; u < n; ++u) {
      EXPECT_NEAR(sketch.diagonal(u), pinv(u, u), error * pinv(u, u));
      for (NodeId v = 0; v < u; ++v) {
        if (!same_component(laplacian, u, v)) {
          EXPECT_EQ(sketch.resistance(u, v), std::numeric_limits<double>::infinity());
          continue;
        }
        const double wanted = oracle::effective_resistance(pinv, u, v);
        EXPECT_NEAR(sketch.resistance(u, v), wanted, error * wanted);
      }
    }
  }
}

TEST(ResistanceSketch, is_the_same_on_any_number_of_threads_and_right_on_average) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 100, .num_edges = 300, .seed = 3, .weighted = true});
  const ResistanceSketch one(graph, 37, {}, {.seed = 3, .threads = 1});
  const ResistanceSketch four(graph, 37, {}, {.seed = 3, .threads = 4});
  for (NodeId u = 0; u < 100; ++u) EXPECT_EQ(one.resistance(0, u), four.resistance(0, u));
  const auto pinv = oracle::pseudoinverse(oracle::laplacian(graph));
  double ratio = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    ratio += ResistanceSketch(graph, 64, {}, {.seed = seed}).resistance(3, 70) /
             oracle::effective_resistance(pinv, 3, 70) / 40;
  EXPECT_NEAR(ratio, 1, 4 * std::sqrt(2.0 / (64 * 40)));  // four standard deviations
}

TEST(ResistanceSketch, refuses_errors_that_cannot_be) {
  EXPECT_THROW(ResistanceSketch(oracle::path(3), 0, {}, {}), UsageError);
  EXPECT_THROW(ResistanceSketch::projections_for(1e-6, 0.95, 10), UsageError);
  EXPECT_THROW(ResistanceSketch::projections_for(2, 0.95, 10), UsageError);
  EXPECT_THROW(ResistanceSketch::projections_for(0.5, 1, 10), UsageError);
  EXPECT_EQ(ResistanceSketch::relative_error(4, 0.95, 10), std::numeric_limits<double>::infinity());
}

TEST(ResistanceDiameter, lies_in_its_interval_and_is_exact_on_small_graphs) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const auto laplacian = oracle::laplacian(graph);
    const auto pinv = oracle::pseudoinverse(laplacian);
    double wanted = 0;
    std::vector<double> diagonal;
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      diagonal.push_back(pinv(u, u) * (1 + 1e-9));
      for (NodeId v = 0; v < u; ++v)
        if (same_component(laplacian, u, v))
          wanted = std::max(wanted, oracle::effective_resistance(pinv, u, v));
    }
    const ResistanceDiameter exact = resistance_diameter(graph, {}, {});
    EXPECT_NEAR(exact.lower, wanted, 1e-9 * wanted);
    EXPECT_EQ(exact.lower, exact.upper);
    const ResistanceDiameter bounds = resistance_diameter(graph, {}, {}, 0);
    EXPECT_LE(bounds.lower, wanted * (1 + 1e-9));
    EXPECT_GE(bounds.lower, wanted / 2);
    EXPECT_GE(bounds.upper, wanted * (1 - 1e-9));
    if (wanted > 0) {
      EXPECT_NEAR(oracle::effective_resistance(pinv, bounds.u, bounds.v), bounds.lower, 1e-6 * wanted);
    }
    const ResistanceDiameter tighter = resistance_diameter(graph, {}, {}, 0, diagonal);
    EXPECT_LE(tighter.upper, bounds.upper);
    EXPECT_GE(tighter.upper, wanted * (1 - 1e-9));
  }
}

TEST(ResistanceDiameter, of_a_dense_graph_is_bounded_by_its_diagonal) {
  // A clique: R = 2/n, spanning trees only say 2, the diagonal says 4 (n - 1)/n^2.
  const Graph clique = oracle::complete(40);
  const std::vector<double> diagonal(40, 39.0 / 1600);
  EXPECT_NEAR(resistance_diameter(clique, {}, {}, 0).upper, 2, 1e-12);
  const ResistanceDiameter found = resistance_diameter(clique, {}, {}, 0, diagonal);
  EXPECT_NEAR(found.lower, 0.05, 1e-9);
  EXPECT_NEAR(found.upper, 4 * 39.0 / 1600, 1e-9);
}

Graph arbitrary_graph() {
  const auto n = *rc::gen::inRange<NodeId>(2, 24);
  const auto m = *rc::gen::inRange<std::uint64_t>(1, 60);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto weighted = *rc::gen::arbitrary<bool>();
  return oracle::random_connected_graph({.num_nodes = n, .num_edges = m, .seed = seed, .weighted = weighted});
}

TEST(ResistanceProperties, no_resistance_grows_when_an_edge_gets_stronger) {
  EXPECT_TRUE(oracle::holds("Rayleigh's monotonicity", [] {
    const Graph graph = arbitrary_graph();
    std::vector<Edge> edges = oracle::edge_list(graph);
    edges[*rc::gen::inRange<std::size_t>(0, edges.size())].weight *= 3;
    const Graph stronger = graph_from_edges(graph.num_nodes(), edges);
    const auto pairs = all_pairs(graph.num_nodes());
    const Estimates before = exact_resistances(graph, pairs, 1e-9, {}, {});
    const Estimates after = exact_resistances(stronger, pairs, 1e-9, {}, {});
    for (std::size_t i = 0; i < pairs.size(); ++i)
      RC_ASSERT(after.value[i] <= (before.value[i] + before.error[i]) * (1 + 1e-9));
    const auto diagonal = exact_diagonal(graph, 1e-9, {}, {}), less = exact_diagonal(stronger, 1e-9, {}, {});
    for (NodeId u = 0; u < graph.num_nodes(); ++u)
      RC_ASSERT(less.value[u] <= diagonal.value[u] * (1 + 1e-9));  // Corollary 3.1 of Herbster & Pontil 2006
  }));
}

/// The largest eigenvalue of L^+, 1 over the smallest of L above 0, by repeated squaring of the matrix.
double largest_eigenvalue(oracle::DenseMatrix matrix) {
  double log_scale = 0, power = 1;
  const std::size_t n = matrix.rows();
  for (int squaring = 0; squaring < 24; ++squaring) {
    double most = 0;
    oracle::DenseMatrix square(n, n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < n; ++k) square(i, j) += matrix(i, k) * matrix(k, j);
        most = std::max(most, std::fabs(square(i, j)));
      }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) matrix(i, j) = square(i, j) / most;
    power *= 2;
    log_scale = 2 * log_scale + std::log(most);
  }
  return std::exp(log_scale / power);
}

TEST(ResistanceProperties, the_diagonal_is_at_most_one_over_the_gap_and_the_eccentricity) {
  EXPECT_TRUE(oracle::holds("K_pp <= min(1/lambda_2, mean resistance, eccentricity)", [] {
    const Graph graph = arbitrary_graph();
    const auto diagonal = exact_diagonal(graph, 1e-9, {}, {});
    const double gap = largest_eigenvalue(oracle::pseudoinverse(oracle::laplacian(graph)));
    for (NodeId p = 0; p < graph.num_nodes(); ++p) {
      std::vector<NodePair> pairs;
      for (NodeId q = 0; q < graph.num_nodes(); ++q) pairs.push_back({p, q});
      const Estimates r = exact_resistances(graph, pairs, 1e-9, {}, {});
      double mean = 0;
      for (const double value : r.value) mean += value / graph.num_nodes();
      RC_ASSERT(diagonal.value[p] <= gap * (1 + 1e-6));
      RC_ASSERT(diagonal.value[p] <= mean * (1 + 1e-9));  // Theorem 3.2 of Herbster & Pontil 2006
      RC_ASSERT(mean <= eccentricity(graph, p) * (1 + 1e-9));
    }
  }));
}

}  // namespace
}  // namespace copse
