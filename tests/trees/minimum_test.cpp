// SPDX-License-Identifier: Apache-2.0
#include "trees/minimum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "copse/support/random.hpp"
#include "expect_forest.hpp"
#include "oracle/graphs.hpp"
#include "oracle/trees.hpp"
#include "trees/edge_keys.hpp"

namespace copse {
namespace {

/// What the documentation promises as the random bits of an edge, written out again.
std::uint64_t edge_bits(std::uint64_t seed, std::uint64_t index, const Edge& edge) {
  const std::array<std::uint32_t, 2> seed_words = {static_cast<std::uint32_t>(seed),
                                                   static_cast<std::uint32_t>(seed >> 32)};
  const auto mixed = philox4x32({0, 2U << 16, 0, 0}, seed_words);
  const auto block = philox4x32({edge.u, edge.v, 0, 0}, {mixed[0], mixed[1]});
  // SplitMix64, the number `index` after the start.
  std::uint64_t z = (std::uint64_t{block[0]} << 32) + block[1];
  z += 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15 * index;
  z = (z ^ (z / (1ULL << 30))) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z / (1ULL << 27))) * 0x94D049BB133111EB;
  return z ^ (z / (1ULL << 31));
}

double exponential_key(std::uint64_t seed, std::uint64_t index, const Edge& edge) {
  const double x = std::ldexp(static_cast<double>(edge_bits(seed, index, edge) / 2048), -53);
  return negative_log(1 - x) / static_cast<double>(edge.weight);
}

/// Weights from few values, so that the order of ties decides.
Graph graph_with_ties(NodeId num_nodes, std::uint64_t num_edges, std::uint64_t seed, int num_values) {
  const Graph base = oracle::random_graph({.num_nodes = num_nodes, .num_edges = num_edges, .seed = seed});
  std::mt19937_64 random(seed);
  std::vector<Edge> edges = oracle::edge_list(base);
  for (Edge& edge : edges)
    edge.weight = static_cast<Weight>(1 + random() % static_cast<std::uint64_t>(num_values));
  return graph_from_edges(num_nodes, edges);
}

TEST(MinimumForest, no_spanning_forest_of_a_small_graph_is_heavier) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph =
        oracle::random_graph({.num_nodes = 7, .num_edges = 10, .seed = seed, .weighted = true});
    double heaviest = 0;
    oracle::for_each_spanning_forest(graph, [&](const std::vector<Edge>& edges) {
      double sum = 0;
      for (const Edge& edge : edges) sum += edge.weight;
      heaviest = std::max(heaviest, sum);
    });
    const SpanningForest forest = minimum_forest(graph, oracle::smallest_nodes(graph), 0, {});
    check_forest(graph, forest);
    double sum = 0;
    for (const Weight weight : forest.weight) sum += weight;
    EXPECT_NEAR(sum, heaviest, 1e-9 * heaviest);
  }
}

TEST(MinimumForest, agrees_with_kruskal_also_where_weights_tie) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    for (const int num_values : {1, 3, 1000000}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", weights 1 ... " << num_values);
      const NodeId n = seed < 3 ? 1000 : 5000;
      const Graph graph = graph_with_ties(n, (seed + 1) * n / 2, seed, num_values);  // disconnected to dense
      const auto roots = oracle::smallest_nodes(graph);
      const SpanningForest forest = minimum_forest(graph, roots, seed, {.seed = seed, .threads = 1});
      check_forest(graph, forest);
      EXPECT_EQ(oracle::edge_set(forest),
                oracle::minimum_forest_by(graph, [](const Edge& edge) { return -edge.weight; }));
      expect_equal(forest, minimum_forest(graph, roots, seed, {.seed = seed, .threads = 4}));
    }
  }
}

TEST(MinimumForest, agrees_with_kruskal_where_the_edges_come_in_several_batches) {
  // More than 2n edges make a second pass over the graph, more than 2^16 at once a second part of a batch.
  for (const int num_values : {2, 1000000}) {
    SCOPED_TRACE(num_values);
    const Graph graph = graph_with_ties(40000, 160000, 12, num_values);
    const auto roots = oracle::smallest_nodes(graph);
    const SpanningForest forest = minimum_forest(graph, roots, 0, {.threads = 1});
    EXPECT_EQ(oracle::edge_set(forest),
              oracle::minimum_forest_by(graph, [](const Edge& edge) { return -edge.weight; }));
    expect_equal(forest, minimum_forest(graph, roots, 0, {.threads = 4}));
    if (num_values > 2) continue;
    const SpanningForest random = random_key_forest(graph, roots, 7, true, {.seed = 2, .threads = 1});
    EXPECT_EQ(oracle::edge_set(random),
              oracle::minimum_forest_by(graph, [](const Edge& edge) { return exponential_key(2, 7, edge); }));
    expect_equal(random, random_key_forest(graph, roots, 7, true, {.seed = 2, .threads = 4}));
  }
}

TEST(MinimumForest, of_an_unweighted_graph_follows_random_keys_of_the_tree_index) {
  const Graph graph = oracle::random_graph({.num_nodes = 2000, .num_edges = 6000, .seed = 4});
  const auto roots = oracle::smallest_nodes(graph);
  oracle::EdgeSet previous;
  for (std::uint64_t index = 0; index < 3; ++index) {
    const SpanningForest forest = minimum_forest(graph, roots, index, {.seed = 9, .threads = 1});
    check_forest(graph, forest);
    const auto edges = oracle::edge_set(forest);
    EXPECT_EQ(edges,
              oracle::minimum_forest_by(graph, [&](const Edge& edge) { return edge_bits(9, index, edge); }));
    EXPECT_NE(edges, previous);
    expect_equal(forest, minimum_forest(graph, roots, index, {.seed = 9, .threads = 4}));
    previous = edges;
  }
}

TEST(MinimumForest, spans_every_small_graph) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const auto roots = oracle::smallest_nodes(graph);
    EXPECT_NO_THROW(check_forest(graph, minimum_forest(graph, roots, 1, {})));
    EXPECT_NO_THROW(check_forest(graph, random_key_forest(graph, roots, 1, true, {})));
    EXPECT_NO_THROW(check_forest(graph, random_key_forest(graph, roots, 1, false, {})));
  }
}

TEST(MinimumForest, survives_chains_of_hooks_and_hubs) {
  // Weights that rise along a path make every component choose the next one: one chain of length n.
  constexpr NodeId kNodes = 200000;
  std::vector<Edge> chain, hub;
  for (NodeId u = 1; u < kNodes; ++u) {
    chain.push_back({u - 1, u, static_cast<Weight>(u)});
    hub.push_back({0, u, static_cast<Weight>(u % 7 + 1)});
  }
  for (const auto& edges : {chain, hub}) {
    const Graph graph = graph_from_edges(kNodes, edges);
    EXPECT_NO_THROW(check_forest(graph, minimum_forest(graph, std::vector<NodeId>{5}, 0, {.threads = 2})));
  }
}

TEST(MinimumForest, refuses_roots_that_are_not_one_a_component) {
  const Graph graph = oracle::two_components_and_an_isolated_node();
  EXPECT_THROW(minimum_forest(graph, std::vector<NodeId>{0, 1}, 0, {}), std::logic_error);
  EXPECT_THROW(minimum_forest(graph, std::vector<NodeId>{0, 1, 5, 6}, 0, {}), std::logic_error);
}

TEST(RandomKeyForest, agrees_with_kruskal_on_the_documented_keys) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph(
        {.num_nodes = 3000, .num_edges = 2000 * (seed + 1), .seed = seed, .weighted = true});
    const auto roots = oracle::smallest_nodes(graph);
    const std::uint64_t index = seed << 40 | 3;
    const SpanningForest forest = random_key_forest(graph, roots, index, true, {.seed = seed, .threads = 1});
    check_forest(graph, forest);
    EXPECT_EQ(oracle::edge_set(forest), oracle::minimum_forest_by(graph, [&](const Edge& edge) {
                return exponential_key(seed, index, edge);
              }));
    expect_equal(forest, random_key_forest(graph, roots, index, true, {.seed = seed, .threads = 4}));

    const SpanningForest uniform =
        random_key_forest(graph, roots, index, false, {.seed = seed, .threads = 1});
    check_forest(graph, uniform);
    EXPECT_EQ(oracle::edge_set(uniform), oracle::minimum_forest_by(graph, [&](Edge edge) {
                edge.weight = 1;
                return exponential_key(seed, index, edge);
              }));
  }
}

TEST(RandomKeyForest, lists_siblings_by_number_in_every_second_tree_and_by_key_in_the_others) {
  const Graph graph = oracle::star(30);
  for (std::uint64_t index = 0; index < 6; ++index) {
    const SpanningForest forest = random_key_forest(graph, std::vector<NodeId>{0}, index, true, {.seed = 3});
    std::vector<NodeId> expected(29);
    std::iota(expected.begin(), expected.end(), NodeId{1});
    if (index % 2 == 0)
      std::ranges::sort(expected, {}, [&](NodeId leaf) { return edge_bits(3, index, {0, leaf}); });
    for (NodeId rank = 1; rank < 30; ++rank) EXPECT_EQ(forest.node[rank], expected[rank - 1]);
  }
}

TEST(EdgeRandom, gives_many_edges_at_once_the_bits_that_it_gives_each) {
  std::mt19937_64 random(1);
  const EdgeRandom bits_of(0x123456789ABCDEF, 77);
  std::vector<NodeId> u(1003), v(u.size());
  std::vector<std::uint32_t> occurrence(u.size());
  for (std::size_t i = 0; i < u.size(); ++i) {
    u[i] = static_cast<NodeId>(random());
    v[i] = static_cast<NodeId>(random());
    occurrence[i] = static_cast<std::uint32_t>(random());
  }
  for (const std::size_t register_bytes : {16, 32, 64}) {
    const NarrowRegisters narrow(register_bytes);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{13}, u.size()}) {
      std::vector<std::uint64_t> bits(count);
      bits_of.bits(u.data(), v.data(), occurrence.data(), count, bits.data());
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(bits[i], bits_of.bits(u[i], v[i], occurrence[i]));
    }
  }
}

TEST(RandomKeyForest, does_not_depend_on_the_scale_of_the_weights) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 300, .num_edges = 900, .seed = 8, .weighted = true});
  std::vector<Edge> edges = oracle::edge_list(graph);
  for (Edge& edge : edges) edge.weight *= 0x1p-40F;
  const Graph scaled = graph_from_edges(300, edges);
  const std::vector<NodeId> roots = {0};
  for (std::uint64_t index = 0; index < 5; ++index)
    EXPECT_EQ(oracle::edge_set(random_key_forest(graph, roots, index, true, {})),
              oracle::edge_set(random_key_forest(scaled, roots, index, true, {})));
}

}  // namespace
}  // namespace copse
