// SPDX-License-Identifier: Apache-2.0
#include "trees/shortest_path.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "copse/support/error.hpp"
#include "expect_forest.hpp"
#include "oracle/graphs.hpp"
#include "oracle/trees.hpp"

namespace copse {
namespace {

/// Resistance from the root to every node along the forest, by node.
std::vector<double> resistance_to_root(const SpanningForest& forest) {
  std::vector<double> by_rank(forest.num_nodes()), by_node(forest.num_nodes());
  for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
    if (!forest.is_root(rank)) by_rank[rank] = by_rank[forest.parent[rank]] + 1.0 / forest.edge_weight(rank);
    by_node[forest.node[rank]] = by_rank[rank];
  }
  return by_node;
}

/// Largest finite distance from the nodes of each component of a graph, by component.
std::vector<double> diameters_by_definition(const GraphView& graph) {
  const auto distance = oracle::shortest_distances(graph);
  std::vector<double> result;
  for (const NodeId first : oracle::smallest_nodes(graph)) {
    double longest = 0;
    for (std::size_t u = 0; u < distance.size(); ++u)
      for (std::size_t v = 0; v < distance.size(); ++v)
        if (std::isfinite(distance[first][u]) && std::isfinite(distance[u][v]))
          longest = std::max(longest, distance[u][v]);
    result.push_back(longest);
  }
  return result;
}

TEST(ShortestPathForest, paths_are_as_short_as_floyd_warshall_says) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    for (const bool weighted : {true, false}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << (weighted ? ", weighted" : ""));
      const Graph graph = oracle::random_graph(
          {.num_nodes = 80, .num_edges = 20 + 30 * seed, .seed = seed, .weighted = weighted});
      const auto distance = oracle::shortest_distances(graph);
      std::vector<NodeId> roots = oracle::smallest_nodes(graph);
      const SpanningForest forest = shortest_path_forest(graph, roots);
      check_forest(graph, forest);
      const auto found = resistance_to_root(forest);
      for (NodeId u = 0; u < 80; ++u) {
        double nearest = INFINITY;
        for (const NodeId root : roots) nearest = std::min(nearest, distance[root][u]);
        EXPECT_NEAR(found[u], nearest, 1e-12 * nearest);
      }
    }
  }
}

TEST(ShortestPathForest, settles_ties_by_distance_then_node_and_keeps_the_first_parent) {
  // A square with a diagonal's worth of ties: 3 is reached alike through 1 and 2.
  const Graph graph = graph_from_edges(4, {{0, 1, 2.0F}, {0, 2, 2.0F}, {1, 3, 2.0F}, {2, 3, 2.0F}});
  const SpanningForest forest = shortest_path_forest(graph, std::vector<NodeId>{0});
  const std::vector<NodeId> node = {0, 1, 2, 3}, parent = {0, 0, 0, 1};
  EXPECT_TRUE(std::equal(node.begin(), node.end(), forest.node.begin()));
  EXPECT_TRUE(std::equal(parent.begin(), parent.end(), forest.parent.begin()));
}

TEST(ShortestPathForest, takes_weights_across_the_whole_range_of_float) {
  const Graph graph = graph_from_edges(4, {{0, 1, 1e-45F}, {0, 2, 3e38F}, {2, 3, 1e-38F}, {3, 1, 1e-38F}});
  const SpanningForest forest = shortest_path_forest(graph, std::vector<NodeId>{0});
  check_forest(graph, forest);
  EXPECT_EQ(oracle::edge_set(forest), (oracle::EdgeSet{{0, 2}, {1, 3}, {2, 3}}));
}

TEST(ShortestPathForest, refuses_roots_that_are_not_one_a_component) {
  const Graph graph = oracle::two_components_and_an_isolated_node();
  for (const auto& roots : {std::vector<NodeId>{0, 1}, std::vector<NodeId>{0, 2, 1, 6}}) {
    EXPECT_THROW(shortest_path_forest(graph, roots), std::logic_error);
    EXPECT_THROW(breadth_first_forest(graph, roots), std::logic_error);
  }
}

TEST(BreadthFirstForest, uses_the_fewest_edges_and_carries_the_weights) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const auto roots = oracle::smallest_nodes(graph);
    const SpanningForest forest = breadth_first_forest(graph, roots);
    check_forest(graph, forest);
    const auto distance =
        oracle::shortest_distances(graph_from_pairs(graph.num_nodes(), oracle::edge_list(graph)));
    std::vector<double> depth(graph.num_nodes());
    for (NodeId rank = 0; rank < graph.num_nodes(); ++rank) {
      if (!forest.is_root(rank)) depth[rank] = depth[forest.parent[rank]] + 1;
      double nearest = INFINITY;
      for (const NodeId root : roots) nearest = std::min(nearest, distance[root][forest.node[rank]]);
      EXPECT_EQ(depth[rank], nearest);
    }
  }
}

TEST(TreeDiameters, are_the_longest_shortest_paths_of_the_trees) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const SpanningForest forest = breadth_first_forest(graph, oracle::smallest_nodes(graph));
    const auto found = tree_diameters(forest), expected = diameters_by_definition(oracle::as_graph(forest));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12 * expected[i]);
  }
}

TEST(TreeDiameters, are_told_apart_where_trees_interleave) {
  SpanningForest forest;
  const std::vector<NodeId> node = {0, 1, 2, 3, 4, 5}, parent = {0, 1, 0, 1, 0, 3};  // 2-0-4 and 1-3-5
  const std::vector<Weight> weight = {0, 0, 1.0F, 0.5F, 0.25F, 0.125F};
  forest.node = Buffer<NodeId>(6);
  forest.parent = Buffer<NodeId>(6);
  forest.weight = Buffer<Weight>(6);
  std::copy(node.begin(), node.end(), forest.node.begin());
  std::copy(parent.begin(), parent.end(), forest.parent.begin());
  std::copy(weight.begin(), weight.end(), forest.weight.begin());
  EXPECT_EQ(tree_diameters(forest), (std::vector<double>{5, 10}));
}

TEST(BestShortestPathForest, has_the_smallest_diameter_of_all_roots_when_all_are_tried) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph =
        oracle::random_graph({.num_nodes = 14, .num_edges = 18, .seed = seed, .weighted = true});
    // 300 draws among at most 14 nodes miss none of them.
    const SpanningForest forest = best_shortest_path_forest(graph, seed, 300, {.seed = 5, .threads = 1});
    check_forest(graph, forest);
    const auto found = tree_diameters(forest);
    std::vector<double> best(found.size(), INFINITY);
    const auto first = oracle::smallest_nodes(graph);
    oracle::Partition parts(graph.num_nodes());
    for (const Edge& edge : oracle::edge_list(graph)) parts.join(edge.u, edge.v);
    for (NodeId root = 0; root < graph.num_nodes(); ++root) {
      std::vector<NodeId> roots = first;
      const auto c =
          static_cast<std::size_t>(std::find(first.begin(), first.end(), parts.of(root)) - first.begin());
      roots[c] = root;
      best[c] = std::min(best[c], tree_diameters(shortest_path_forest(graph, roots))[c]);
    }
    EXPECT_EQ(found, best);
    expect_equal(forest, best_shortest_path_forest(graph, seed, 300, {.seed = 5, .threads = 4}));
  }
}

TEST(BestShortestPathForest, draws_roots_uniformly_and_anew_for_every_tree) {
  const Graph graph = oracle::cycle(8);
  std::vector<int> count(8);
  for (std::uint64_t index = 0; index < 8000; ++index)
    ++count[best_shortest_path_forest(graph, index, 1, {}).node[0]];
  for (const int c : count) EXPECT_NEAR(c, 1000, 5 * std::sqrt(8000 * 1.0 / 8 * 7 / 8));
}

TEST(BestShortestPathForest, wants_at_least_one_root) {
  EXPECT_THROW(best_shortest_path_forest(oracle::path(3), 0, 0, {}), UsageError);
}

}  // namespace
}  // namespace copse
