// SPDX-License-Identifier: Apache-2.0
#include "trees/biconnected.hpp"

#include <gtest/gtest.h>

#include <set>

#include "oracle/graphs.hpp"
#include "oracle/trees.hpp"

namespace copse {
namespace {

using Pair = std::pair<NodeId, NodeId>;
using BlockSets = std::set<std::set<Pair>>;

/// The components of the graph without node x, as labels.
oracle::Partition parts_without(const GraphView& graph, const std::vector<Edge>& edges, NodeId x) {
  oracle::Partition parts(graph.num_nodes());
  for (const Edge& edge : edges)
    if (edge.u != x && edge.v != x) parts.join(edge.u, edge.v);
  return parts;
}

/// By the definition: two edges are in one block unless leaving out some node tells them apart.
BlockSets blocks_by_definition(const GraphView& graph) {
  const std::vector<Edge> edges = oracle::edge_list(graph);
  std::vector<std::vector<NodeId>> signature(edges.size());  // where each edge lies, for every node left out
  for (NodeId x = 0; x <= graph.num_nodes(); ++x) {          // the last one leaves out nothing
    const oracle::Partition parts = parts_without(graph, edges, x);
    for (std::size_t k = 0; k < edges.size(); ++k)
      signature[k].push_back(parts.of(edges[k].u == x ? edges[k].v : edges[k].u));
  }
  std::map<std::vector<NodeId>, std::set<Pair>> groups;
  for (std::size_t k = 0; k < edges.size(); ++k) groups[signature[k]].insert({edges[k].u, edges[k].v});
  BlockSets result;
  for (const auto& [key, group] : groups) result.insert(group);
  return result;
}

/// The blocks found, after checking that each is what Block promises.
BlockSets found_blocks(const GraphView& graph) {
  BlockSets result;
  for_each_block(graph, [&](const Block& block) {
    check_graph(block.view(), "block");
    EXPECT_TRUE(std::is_sorted(block.nodes.begin(), block.nodes.end()));
    EXPECT_EQ(block.view().is_weighted(), graph.is_weighted());
    ASSERT_EQ(block.arcs.size(), block.neighbors.size());
    std::set<Pair> pairs;
    for (NodeId i = 0; i < block.num_nodes(); ++i) {
      const NodeId u = block.nodes[i];
      for (EdgeIndex k = block.offsets[i]; k < block.offsets[i + 1]; ++k) {
        const EdgeIndex arc = block.arcs[k];
        EXPECT_TRUE(graph.offsets[u] <= arc && arc < graph.offsets[u + 1]);
        EXPECT_EQ(graph.neighbors[arc], block.nodes[block.neighbors[k]]);
        EXPECT_EQ(graph.weight(arc), block.view().weight(k));
        pairs.insert(std::minmax(u, graph.neighbors[arc]));
      }
    }
    EXPECT_EQ(2 * pairs.size(), block.arcs.size());
    EXPECT_TRUE(result.insert(pairs).second);
  });
  return result;
}

TEST(Blocks, are_those_of_the_definition) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph(
        {.num_nodes = 24, .num_edges = 10 + seed % 30, .seed = seed, .weighted = seed % 2 == 0});
    EXPECT_EQ(found_blocks(graph), blocks_by_definition(graph));
  }
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(found_blocks(graph), blocks_by_definition(graph));
  }
}

TEST(Blocks, a_bow_tie_with_a_tail_has_two_triangles_and_a_bridge) {
  const Graph graph = graph_from_pairs(6, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 2}, {4, 5}});
  EXPECT_EQ(found_blocks(graph), (BlockSets{{{0, 1}, {1, 2}, {0, 2}}, {{2, 3}, {3, 4}, {2, 4}}, {{4, 5}}}));
}

TEST(Blocks, take_linear_time_on_long_paths_and_stars) {
  for (const Graph& graph : {oracle::path(300000), oracle::star(300000), oracle::cycle(300000)}) {
    std::uint64_t num_edges = 0;
    for_each_block(graph, [&](const Block& block) { num_edges += block.view().num_edges(); });
    EXPECT_EQ(num_edges, graph.view().num_edges());
  }
}

}  // namespace
}  // namespace copse
