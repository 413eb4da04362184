// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "trees/minimum.hpp"
#include "copse/trees/sample.hpp"
#include "oracle/chi_square.hpp"
#include "oracle/graphs.hpp"
#include "oracle/linear_algebra.hpp"
#include "oracle/trees.hpp"

// The distribution of the random trees, not just their shape: a walk that ignores weights still returns
// perfect trees. Seeds are fixed, so a test that passes keeps passing.

namespace copse {
namespace {

constexpr std::uint64_t kSamples = 30000;

using Counts = std::map<oracle::EdgeSet, std::uint64_t>;

Counts sample_trees(const GraphView& graph, TreeKind kind, std::uint64_t samples = kSamples,
                    std::uint64_t seed = 11) {
  const TreeSampler sampler(graph, kind, {.seed = seed});
  Counts counts;
  for (std::uint64_t index = 0; index < samples; ++index) {
    TreeReport report;
    ++counts[oracle::edge_set(sampler.tree(index, &report))];
    EXPECT_EQ(report.path, TreePath::direct);
  }
  return counts;
}

void expect_law(const oracle::TreeLaw& law, const Counts& counts) {
  EXPECT_NEAR(oracle::total(law), 1, 1e-12);
  const oracle::ChiSquare test = oracle::chi_square(law, counts);
  EXPECT_LT(test.statistic, test.threshold()) << test.degrees << " degrees of freedom";
}

void expect_another_law(const oracle::TreeLaw& law, const Counts& counts) {
  const oracle::ChiSquare test = oracle::chi_square(law, counts);
  EXPECT_GT(test.statistic, 10 * test.threshold()) << "this test could not tell the two laws apart";
}

Graph weighted_graph() {
  return graph_from_edges(6, {{0, 1, 1.0F},
                              {0, 2, 2.0F},
                              {1, 2, 0.5F},
                              {1, 3, 3.0F},
                              {2, 3, 1.0F},
                              {2, 4, 4.0F},
                              {3, 4, 0.5F},
                              {3, 5, 1.5F},
                              {4, 5, 2.0F}});
}

/// Cut nodes, a bridge and a hub that a visit comes back to several times; two components.
Graph graph_with_a_hub() {
  return graph_from_edges(9, {{0, 1, 1.0F},
                              {0, 2, 2.0F},
                              {0, 3, 0.5F},
                              {0, 4, 3.0F},
                              {1, 2, 1.0F},
                              {3, 4, 0.25F},
                              {0, 5, 4.0F},
                              {6, 7, 1.0F},
                              {7, 8, 2.0F},
                              {8, 6, 5.0F}});
}

TEST(TreeOracles, the_enumerated_trees_sum_to_the_determinant_of_kirchhoff) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Graph graph = oracle::random_connected_graph(
        {.num_nodes = 7, .num_edges = 12, .seed = seed, .weighted = seed % 2 == 0});
    const double expected = oracle::spanning_tree_weight(graph);
    EXPECT_NEAR(oracle::total(oracle::tree_weights(graph)), expected, 1e-9 * expected);
  }
  EXPECT_EQ(oracle::tree_weights(oracle::complete(5)).size(), 125U);  // Cayley
}

TEST(TreeOracles, the_pseudoinverse_is_one) {
  const Graph graph = oracle::random_graph({.num_nodes = 12, .num_edges = 14, .seed = 3, .weighted = true});
  const auto l = oracle::laplacian(graph), p = oracle::pseudoinverse(l);
  const auto product = [](const oracle::DenseMatrix& a, const oracle::DenseMatrix& b) {
    oracle::DenseMatrix c(a.rows(), b.columns());
    for (std::size_t i = 0; i < a.rows(); ++i)
      for (std::size_t j = 0; j < b.columns(); ++j)
        for (std::size_t k = 0; k < b.rows(); ++k) c(i, j) += a(i, k) * b(k, j);
    return c;
  };
  const auto lpl = product(product(l, p), l), plp = product(product(p, l), p), lp = product(l, p);
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t j = 0; j < 12; ++j) {
      EXPECT_NEAR(lpl(i, j), l(i, j), 1e-9);
      EXPECT_NEAR(plp(i, j), p(i, j), 1e-9);
      EXPECT_NEAR(lp(i, j), lp(j, i), 1e-9);
    }
  }
}

TEST(TreeLaw, rst_takes_a_tree_in_proportion_to_the_product_of_its_weights) {
  for (const Graph& graph : {weighted_graph(), graph_with_a_hub()}) {
    const Counts counts = sample_trees(graph, TreeKind::rst);
    expect_law(oracle::random_tree_law(graph), counts);
    expect_another_law(oracle::uniform_tree_law(graph), counts);
  }
}

TEST(TreeLaw, rst_takes_every_tree_of_an_unweighted_graph_alike) {
  const Graph graph = graph_from_pairs(6, oracle::edge_list(weighted_graph()));
  expect_law(oracle::uniform_tree_law(graph), sample_trees(graph, TreeKind::rst));
  const Graph complete = oracle::complete(5);
  expect_law(oracle::uniform_tree_law(complete), sample_trees(complete, TreeKind::rst));
}

TEST(TreeLaw, nwrst_takes_every_tree_of_a_weighted_graph_alike_and_carries_the_weights) {
  for (const Graph& graph : {weighted_graph(), graph_with_a_hub()}) {
    const Counts counts = sample_trees(graph, TreeKind::nwrst);
    expect_law(oracle::uniform_tree_law(graph), counts);
    expect_another_law(oracle::random_tree_law(graph), counts);
    EXPECT_NO_THROW(check_forest(graph, TreeSampler(graph, TreeKind::nwrst, {}).tree(0)));
  }
}

TEST(TreeLaw, dfst_takes_the_next_neighbour_in_proportion_to_weight_among_the_unvisited) {
  // A depth-first tree of one component at a time: its law is enumerated for connected graphs.
  const Graph hub = graph_from_edges(6, {{0, 1, 1.0F},
                                         {0, 2, 2.0F},
                                         {0, 3, 0.5F},
                                         {0, 4, 3.0F},
                                         {1, 2, 1.0F},
                                         {3, 4, 0.25F},
                                         {0, 5, 4.0F},
                                         {2, 5, 1.0F}});
  for (const Graph& graph : {weighted_graph(), hub}) {
    const Counts counts = sample_trees(graph, TreeKind::dfst);
    expect_law(oracle::depth_first_law(graph), counts);
    expect_another_law(oracle::depth_first_law(graph_from_pairs(6, oracle::edge_list(graph))), counts);
  }
  const Graph unweighted = graph_from_pairs(6, oracle::edge_list(hub));
  expect_law(oracle::depth_first_law(unweighted), sample_trees(unweighted, TreeKind::dfst));
}

TEST(TreeLaw, random_key_takes_the_next_edge_in_proportion_to_weight) {
  const Graph graph = weighted_graph();
  const Counts counts = sample_trees(graph, TreeKind::random_key);
  expect_law(oracle::random_key_law(graph), counts);
  expect_another_law(oracle::random_key_law(graph_from_pairs(6, oracle::edge_list(graph))), counts);
}

TEST(TreeLaw, random_key_crosses_a_cut_in_proportion_to_weight) {
  // Two triangles, heavy enough that their own edges come first.
  std::vector<Edge> edges = {{0, 1, 1e6F}, {1, 2, 1e6F}, {2, 0, 1e6F},
                             {3, 4, 1e6F}, {4, 5, 1e6F}, {5, 3, 1e6F}};
  const std::vector<Edge> crossing = {{0, 3, 1.0F}, {1, 4, 2.0F}, {2, 5, 5.0F}, {0, 5, 0.5F}};
  edges.insert(edges.end(), crossing.begin(), crossing.end());
  const Graph graph = graph_from_edges(6, edges);
  const TreeSampler sampler(graph, TreeKind::random_key, {.seed = 4});
  std::map<std::pair<NodeId, NodeId>, std::uint64_t> counts;
  for (std::uint64_t index = 0; index < kSamples; ++index)
    for (const auto& pair : oracle::edge_set(sampler.tree(index)))
      if (pair.first < 3 && pair.second >= 3) ++counts[pair];
  std::map<std::pair<NodeId, NodeId>, double> law, uniform;
  for (const Edge& edge : crossing)
    law[{edge.u, edge.v}] = edge.weight / 8.5, uniform[{edge.u, edge.v}] = 0.25;
  const auto test = oracle::chi_square(law, counts), control = oracle::chi_square(uniform, counts);
  EXPECT_LT(test.statistic, test.threshold());
  EXPECT_GT(control.statistic, 10 * control.threshold());
}

TEST(TreeLaw, an_edge_is_in_a_random_tree_with_probability_weight_times_resistance) {
  for (const bool connected : {true, false}) {
    const oracle::RandomGraph wanted{.num_nodes = 30, .num_edges = 55, .seed = 21, .weighted = true};
    const Graph graph =
        connected ? oracle::random_connected_graph(wanted) : oracle::random_graph({30, 30, 5, true});
    const auto pseudoinverse = oracle::pseudoinverse(oracle::laplacian(graph));
    std::map<std::pair<NodeId, NodeId>, double> counts;
    const TreeSampler sampler(graph, TreeKind::rst, {.seed = 6});
    for (std::uint64_t index = 0; index < kSamples; ++index)
      for (const auto& pair : oracle::edge_set(sampler.tree(index))) counts[pair] += 1;
    double sum = 0, largest_gap_to_uniform = 0;
    const auto edges = oracle::edge_list(graph);
    for (const Edge& edge : edges) {
      const double p = edge.weight * oracle::effective_resistance(pseudoinverse, edge.u, edge.v);
      const double deviation = std::sqrt(kSamples * p * std::max(0.0, 1 - p));
      // Five standard deviations for some fifty edges; a bridge (p = 1) is in every tree.
      EXPECT_NEAR((counts[{edge.u, edge.v}]), kSamples * p, 5 * deviation + 1e-6) << edge.u << "-" << edge.v;
      sum += p;
      largest_gap_to_uniform =
          std::max(largest_gap_to_uniform, std::fabs(p - 29.0 / static_cast<double>(edges.size())));
    }
    EXPECT_NEAR(sum, 30.0 - static_cast<double>(oracle::smallest_nodes(graph).size()), 1e-9);
    EXPECT_GT(largest_gap_to_uniform, 0.2);  // weights matter on this graph
  }
}

TEST(TreeLaw, splitting_an_edge_into_parallel_ones_changes_nothing) {
  std::vector<Edge> split;
  for (const Edge& edge : oracle::edge_list(weighted_graph())) {
    split.push_back({edge.u, edge.v, edge.weight / 2});
    split.push_back({edge.v, edge.u, edge.weight / 4});
    split.push_back({edge.u, edge.v, edge.weight / 4});
  }
  const Graph graph = weighted_graph(), merged = graph_from_edges(6, split);
  for (const TreeKind kind :
       {TreeKind::rst, TreeKind::nwrst, TreeKind::random_key, TreeKind::mst, TreeKind::spt, TreeKind::dfst})
    EXPECT_EQ(sample_trees(graph, kind, 100), sample_trees(merged, kind, 100)) << to_string(kind);
}

TEST(TreeLaw, a_tree_depends_on_graph_kind_seed_and_index_only) {
  const Graph graph = oracle::random_graph({.num_nodes = 400, .num_edges = 700, .seed = 9, .weighted = true});
  for (const TreeKind kind : {TreeKind::rst, TreeKind::nwrst, TreeKind::random_key, TreeKind::mst,
                              TreeKind::spt, TreeKind::dfst, TreeKind::bfst}) {
    SCOPED_TRACE(to_string(kind));
    const TreeSampler one(graph, kind, {.seed = 3, .threads = 1}),
        four(graph, kind, {.seed = 3, .threads = 4});
    for (const std::uint64_t index : {5, 0, 2, 5}) {
      const SpanningForest a = one.tree(index), b = four.tree(index);
      check_forest(graph, a);
      EXPECT_TRUE(std::equal(a.node.begin(), a.node.end(), b.node.begin()));
      EXPECT_TRUE(std::equal(a.parent.begin(), a.parent.end(), b.parent.begin()));
      EXPECT_TRUE(std::equal(a.weight.begin(), a.weight.end(), b.weight.begin()));
    }
  }
}

}  // namespace
}  // namespace copse
