// SPDX-License-Identifier: Apache-2.0
#include "trees/roots.hpp"

#include <gtest/gtest.h>

#include "copse/graph/build.hpp"
#include "copse/trees/sample.hpp"
#include "oracle/graphs.hpp"
#include "oracle/reroot.hpp"

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

std::vector<NodeId> heaviest_of(const Graph& graph) {
  return heaviest_nodes(graph, connected_components(graph, 1));
}

TEST(HeaviestNodes, are_the_nodes_of_largest_weighted_degree) {
  std::vector<Edge> edges;
  for (NodeId leaf = 1; leaf < 2000; ++leaf) edges.push_back({0, leaf, 1});
  edges.push_back({7, 8, 5000});
  edges.push_back({8, 9, 1});
  EXPECT_EQ(heaviest_of(graph_from_edges(2000, edges)), std::vector<NodeId>{8});
}

TEST(HeaviestNodes, of_graphs_without_edges_are_their_nodes) {
  EXPECT_EQ(heaviest_of(graph_from_pairs(3, {})), (std::vector<NodeId>{0, 1, 2}));
  EXPECT_TRUE(heaviest_of(graph_from_pairs(0, {})).empty());
}

/// The largest part of the tree of `root` that is left without it, and the size of the tree.
std::pair<NodeId, NodeId> largest_part(const SpanningForest& rooted, NodeId root) {
  const SpanningForest forest = oracle::reroot(rooted, std::vector<NodeId>{root});
  std::vector<NodeId> size(forest.num_nodes(), 1);
  NodeId largest = 0, all = 0;
  for (NodeId rank = forest.num_nodes(); rank-- > 0;) {
    const NodeId parent = forest.parent[rank];
    if (forest.node[rank] == root) all = size[rank];
    if (forest.is_root(rank)) continue;
    size[parent] += size[rank];
    if (forest.node[parent] == root) largest = std::max(largest, size[rank]);
  }
  return {largest, all};
}

TEST(Centroids, leave_parts_of_at_most_half_of_their_trees) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_tree({.num_nodes = static_cast<NodeId>(1 + seed), .seed = seed});
    std::vector<NodeId> roots = heaviest_of(graph);
    const SpanningForest forest = TreeSampler(graph, TreeKind::bfst, {}).tree(0);
    move_to_centroids(roots, forest);
    const auto [largest, all] = largest_part(forest, roots[0]);
    ASSERT_EQ(all, graph.num_nodes());
    EXPECT_LE(2 * largest, all);
  }
}

TEST(TreeSampler, roots_trees_in_the_middle_of_grids) {
  const Graph graph = grids({{60, 60}, {6, 400}});
  const TreeSampler sampler(graph, TreeKind::rst, {});
  const std::span<const NodeId> roots = sampler.roots();
  ASSERT_EQ(roots.size(), 2U);
  EXPECT_NEAR(roots[0] / 60, 30, 18);
  EXPECT_NEAR(roots[0] % 60, 30, 18);
  EXPECT_NEAR((roots[1] - 3600) % 400, 200, 60);
}

}  // namespace
}  // namespace copse
