// SPDX-License-Identifier: Apache-2.0
#include "trees/roots.hpp"

#include <gtest/gtest.h>

#include "copse/graph/build.hpp"

namespace copse {
namespace {

/// Grids side by side, not joined: (rows, columns) each, nodes row by row.
Graph grids(const std::vector<std::pair<NodeId, NodeId>>& shapes) {
  std::vector<Edge> edges;
  NodeId first = 0;
  for (const auto& [rows, columns] : shapes) {
    for (NodeId row = 0; row < rows; ++row) {
      for (NodeId column = 0; column < columns; ++column) {
        const NodeId node = first + row * columns + column;
        if (column + 1 < columns) edges.push_back({node, node + 1, 1});
        if (row + 1 < rows) edges.push_back({node, node + columns, 1});
      }
    }
    first += rows * columns;
  }
  return graph_from_pairs(first, edges);
}

std::vector<NodeId> roots_of(const Graph& graph) { return walk_roots(graph, connected_components(graph, 1)); }

TEST(WalkRoots, lie_in_the_middle_of_meshes_whatever_their_shape) {
  const Graph graph = grids({{60, 60}, {6, 400}});
  const std::vector<NodeId> roots = roots_of(graph);
  ASSERT_EQ(roots.size(), 2U);
  EXPECT_NEAR(roots[0] / 60, 30, 6);
  EXPECT_NEAR(roots[0] % 60, 30, 6);
  EXPECT_NEAR((roots[1] - 3600) % 400, 200, 10);
}

TEST(WalkRoots, are_the_nodes_of_largest_weighted_degree_where_degrees_differ) {
  std::vector<Edge> edges;
  for (NodeId leaf = 1; leaf < 2000; ++leaf) edges.push_back({0, leaf, 1});
  edges.push_back({7, 8, 5000});
  edges.push_back({8, 9, 1});
  EXPECT_EQ(roots_of(graph_from_edges(2000, edges)), std::vector<NodeId>{8});
}

TEST(WalkRoots, of_graphs_without_edges_are_their_nodes) {
  EXPECT_EQ(roots_of(graph_from_pairs(3, {})), (std::vector<NodeId>{0, 1, 2}));
  EXPECT_TRUE(roots_of(graph_from_pairs(0, {})).empty());
}

}  // namespace
}  // namespace copse
