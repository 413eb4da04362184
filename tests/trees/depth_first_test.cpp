// SPDX-License-Identifier: Apache-2.0
#include "trees/depth_first.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "oracle/graphs.hpp"
#include "oracle/trees.hpp"

// The law of the tree is tested in tree_law_test.cpp.

namespace copse {
namespace {

TEST(DepthFirstForest, every_edge_of_the_graph_joins_a_node_and_its_ancestor) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph(
        {.num_nodes = 200, .num_edges = 60 * (seed + 1), .seed = seed, .weighted = seed % 2 == 0});
    const SpanningForest forest = depth_first_forest(graph, seed, {.seed = 3});
    check_forest(graph, forest);
    std::vector<NodeId> rank_of(200);
    for (NodeId rank = 0; rank < 200; ++rank) rank_of[forest.node[rank]] = rank;
    for (const Edge& edge : oracle::edge_list(graph)) {
      const NodeId upper = std::min(rank_of[edge.u], rank_of[edge.v]);
      NodeId rank = std::max(rank_of[edge.u], rank_of[edge.v]);
      while (rank > upper) rank = forest.parent[rank];
      EXPECT_EQ(rank, upper) << "edge " << edge.u << "-" << edge.v;
    }
  }
}

TEST(DepthFirstForest, ranks_are_a_preorder) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 300, .num_edges = 320, .seed = 2, .weighted = true});
  const SpanningForest forest = depth_first_forest(graph, 0, {});
  // The parent of the next node is the last one or one of its ancestors.
  for (NodeId rank = 1; rank < 300; ++rank) {
    NodeId above = rank - 1;
    while (above > forest.parent[rank]) above = forest.parent[above];
    EXPECT_EQ(above, forest.parent[rank]);
  }
}

TEST(DepthFirstForest, spans_every_small_graph) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    for (std::uint64_t index = 0; index < 20; ++index)
      EXPECT_NO_THROW(check_forest(graph, depth_first_forest(graph, index, {})));
  }
}

TEST(DepthFirstForest, is_the_same_for_known_components_and_any_threads) {
  const Graph graph = oracle::random_graph({.num_nodes = 500, .num_edges = 700, .seed = 6, .weighted = true});
  const SpanningForest a = depth_first_forest(graph, 4, {.seed = 2, .threads = 1});
  const SpanningForest b =
      depth_first_forest(graph, connected_components(graph), 4, {.seed = 2, .threads = 4});
  EXPECT_TRUE(std::equal(a.node.begin(), a.node.end(), b.node.begin()));
  EXPECT_TRUE(std::equal(a.parent.begin(), a.parent.end(), b.parent.begin()));
  const SpanningForest other = depth_first_forest(graph, 5, {.seed = 2});
  EXPECT_NE(oracle::edge_set(a), oracle::edge_set(other));
}

TEST(DepthFirstForest, takes_long_paths_stars_and_cliques_in_linear_time) {
  // A visit that looked at a hub's row for each of its leaves would take minutes here.
  for (const Graph& graph : {oracle::path(300000), oracle::star(300000), oracle::complete(700)}) {
    const SpanningForest forest = depth_first_forest(graph, 1, {});
    EXPECT_EQ(forest.num_nodes(), graph.num_nodes());
  }
}

TEST(DepthFirstForest, roots_are_uniform) {
  const Graph graph = oracle::star(5);
  std::vector<int> count(5);
  for (std::uint64_t index = 0; index < 10000; ++index) ++count[depth_first_forest(graph, index, {}).node[0]];
  for (const int c : count) EXPECT_NEAR(c, 2000, 5 * std::sqrt(10000 * 0.2 * 0.8));
}

}  // namespace
}  // namespace copse
