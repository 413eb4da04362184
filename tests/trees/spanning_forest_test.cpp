// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/spanning_forest.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "oracle/graphs.hpp"
#include "oracle/trees.hpp"

namespace copse {
namespace {

struct Chosen {
  std::vector<NodeId> source;
  std::vector<EdgeIndex> edges;
};

EdgeIndex arc_of(const GraphView& graph, NodeId u, NodeId v) {
  for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
    if (graph.neighbors[arc] == v) return arc;
  throw std::runtime_error("no such edge");
}

/// A random spanning forest as arcs, in random order and from random ends.
Chosen random_spanning_edges(const GraphView& graph, std::mt19937_64& random) {
  std::vector<Edge> edges = oracle::edge_list(graph);
  for (std::size_t k = edges.size(); k > 1; --k) std::swap(edges[k - 1], edges[random() % k]);
  oracle::Partition parts(graph.num_nodes());
  Chosen chosen;
  for (Edge edge : edges) {
    if (!parts.join(edge.u, edge.v)) continue;
    if (random() % 2 == 0) std::swap(edge.u, edge.v);
    chosen.source.push_back(edge.u);
    chosen.edges.push_back(arc_of(graph, edge.u, edge.v));
  }
  return chosen;
}

oracle::EdgeSet pairs_of(const GraphView& graph, const Chosen& chosen) {
  oracle::EdgeSet pairs;
  for (std::size_t k = 0; k < chosen.edges.size(); ++k)
    pairs.push_back(std::minmax(chosen.source[k], graph.neighbors[chosen.edges[k]]));
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

TEST(RootForest, keeps_exactly_the_given_edges_and_roots) {
  std::mt19937_64 random(7);
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const Chosen chosen = random_spanning_edges(graph, random);
    const std::vector<NodeId> roots = oracle::smallest_nodes(graph);
    const SpanningForest forest = root_forest(graph, chosen.source, chosen.edges, roots);
    check_forest(graph, forest);
    EXPECT_EQ(oracle::edge_set(forest), pairs_of(graph, chosen));
    std::vector<NodeId> found;
    for (NodeId rank = 0; rank < forest.num_nodes(); ++rank)
      if (forest.is_root(rank)) found.push_back(forest.node[rank]);
    EXPECT_EQ(found, roots);
  }
}

TEST(RootForest, lists_children_in_the_order_of_the_edges_or_of_their_numbers) {
  const Graph graph = oracle::star(6);
  const std::vector<NodeId> order = {4, 1, 5, 3, 2};
  Chosen chosen;
  for (const NodeId leaf : order) {
    const bool from_leaf = leaf % 2 == 0;
    chosen.source.push_back(from_leaf ? leaf : 0);
    chosen.edges.push_back(from_leaf ? arc_of(graph, leaf, 0) : arc_of(graph, 0, leaf));
  }
  const SpanningForest forest = root_forest(graph, chosen.source, chosen.edges, std::vector<NodeId>{0});
  for (NodeId rank = 1; rank < 6; ++rank) EXPECT_EQ(forest.node[rank], order[rank - 1]);
  const SpanningForest by_number =
      root_forest(graph, chosen.source, chosen.edges, std::vector<NodeId>{0}, Siblings::by_number);
  for (NodeId rank = 1; rank < 6; ++rank) EXPECT_EQ(by_number.node[rank], rank);
}

TEST(RootForest, lists_nodes_by_their_distance_from_the_root) {
  std::mt19937_64 random(3);
  const Graph graph = oracle::random_tree({.num_nodes = 500, .seed = 5, .weighted = true});
  const Chosen chosen = random_spanning_edges(graph, random);
  const SpanningForest forest = root_forest(graph, chosen.source, chosen.edges, std::vector<NodeId>{17});
  check_forest(graph, forest);
  std::vector<NodeId> depth(500, 0);
  for (NodeId rank = 1; rank < 500; ++rank) {
    depth[rank] = depth[forest.parent[rank]] + 1;
    EXPECT_GE(depth[rank], depth[rank - 1]);
  }
}

TEST(RootForest, refuses_edges_that_are_no_spanning_forest) {
  const Graph graph = oracle::complete(4);
  const auto edge = [&](NodeId u, NodeId v) { return arc_of(graph, u, v); };
  const std::vector<NodeId> root = {0};
  EXPECT_THROW(root_forest(graph, std::vector<NodeId>{0}, std::vector<EdgeIndex>{edge(0, 1)}, root),
               std::logic_error);
  // Right in number, but a triangle and a node apart, whichever of the two holds the root.
  const std::vector<NodeId> source = {0, 1, 2};
  const std::vector<EdgeIndex> triangle = {edge(0, 1), edge(1, 2), edge(2, 0)};
  EXPECT_THROW(root_forest(graph, source, triangle, root), std::logic_error);
  EXPECT_THROW(root_forest(graph, source, triangle, std::vector<NodeId>{3}), std::logic_error);
}

/// A correct forest of a path 0-1-2-3 with weights and node 4 alone, to be broken in one place.
struct CheckForest : testing::Test {
  Graph graph = graph_from_edges(5, {{0, 1, 1.0F}, {1, 2, 2.0F}, {2, 3, 4.0F}});
  SpanningForest forest;
  void SetUp() override {
    const std::vector<NodeId> source = {0, 1, 2}, roots = {1, 4};
    const std::vector<EdgeIndex> edges = {arc_of(graph, 0, 1), arc_of(graph, 1, 2), arc_of(graph, 2, 3)};
    forest = root_forest(graph, source, edges, roots);
    ASSERT_NO_THROW(check_forest(graph, forest));  // nodes 1 0 2 3 4
  }
};

TEST_F(CheckForest, sees_a_node_listed_twice) {
  forest.node[3] = 2;
  EXPECT_THROW(check_forest(graph, forest), std::logic_error);
}
TEST_F(CheckForest, sees_a_node_that_does_not_exist) {
  forest.node[4] = 5;
  EXPECT_THROW(check_forest(graph, forest), std::logic_error);
}
TEST_F(CheckForest, sees_a_parent_after_its_child) {
  forest.parent[2] = 3;
  EXPECT_THROW(check_forest(graph, forest), std::logic_error);
}
TEST_F(CheckForest, sees_an_edge_that_the_graph_does_not_have) {
  forest.parent[3] = 0;
  EXPECT_THROW(check_forest(graph, forest), std::logic_error);
}
TEST_F(CheckForest, sees_a_wrong_weight) {
  forest.weight[3] = 3;
  EXPECT_THROW(check_forest(graph, forest), std::logic_error);
}
TEST_F(CheckForest, sees_a_weight_at_a_root) {
  forest.weight[0] = 1;
  EXPECT_THROW(check_forest(graph, forest), std::logic_error);
}
TEST_F(CheckForest, sees_a_component_in_two_trees) {
  forest.parent[3] = 3;
  forest.weight[3] = 0;
  EXPECT_THROW(check_forest(graph, forest), std::logic_error);
}
TEST_F(CheckForest, sees_trees_out_of_the_order_of_components) {
  const std::vector<NodeId> node = {4, 1, 0, 2, 3}, parent = {0, 1, 1, 1, 3};
  const std::vector<Weight> weight = {0, 0, 1, 2, 4};
  std::copy(node.begin(), node.end(), forest.node.begin());
  std::copy(parent.begin(), parent.end(), forest.parent.begin());
  std::copy(weight.begin(), weight.end(), forest.weight.begin());
  EXPECT_THROW(check_forest(graph, forest), std::logic_error);
}
TEST_F(CheckForest, allows_trees_that_interleave) {
  const std::vector<NodeId> node = {1, 4, 0, 2, 3}, parent = {0, 1, 0, 0, 3};
  const std::vector<Weight> weight = {0, 0, 1, 2, 4};
  std::copy(node.begin(), node.end(), forest.node.begin());
  std::copy(parent.begin(), parent.end(), forest.parent.begin());
  std::copy(weight.begin(), weight.end(), forest.weight.begin());
  EXPECT_NO_THROW(check_forest(graph, forest));
}

}  // namespace
}  // namespace copse
