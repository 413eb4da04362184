// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/reroot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "copse/trees/sample.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

std::multiset<std::tuple<NodeId, NodeId, Weight>> edges_of(const SpanningForest& forest) {
  std::multiset<std::tuple<NodeId, NodeId, Weight>> edges;
  for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
    if (forest.is_root(rank)) continue;
    const NodeId u = forest.node[rank], v = forest.node[forest.parent[rank]];
    edges.insert({std::min(u, v), std::max(u, v), forest.edge_weight(rank)});
  }
  return edges;
}

TEST(Reroot, keeps_the_edges_and_lists_parents_first) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph({.num_nodes = static_cast<NodeId>(1 + seed % 40),
                                              .num_edges = seed % 50,
                                              .seed = seed,
                                              .weighted = seed % 2 == 0});
    SpanningForest forest = TreeSampler(graph, TreeKind::rst, {.seed = seed}).tree(0);
    const auto before = edges_of(forest);
    Stream stream(seed, Purpose::test, 0);
    reroot_at_random(forest, stream);
    EXPECT_EQ(edges_of(forest), before);
    std::set<NodeId> nodes;
    for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
      EXPECT_TRUE(forest.parent[rank] < rank || forest.is_root(rank));
      if (forest.is_root(rank) && forest.is_weighted()) {
        EXPECT_EQ(forest.weight[rank], 0);
      }
      nodes.insert(forest.node[rank]);
    }
    EXPECT_EQ(nodes.size(), forest.num_nodes());
  }
}

TEST(Reroot, every_node_of_a_tree_is_as_likely_to_be_its_root) {
  const Graph graph =
      graph_from_pairs(9, {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {4, 6}, {4, 7}});  // a path, a star, a lone node
  const TreeSampler sampler(graph, TreeKind::bfst, {});
  std::map<NodeId, int> count;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    SpanningForest forest = sampler.tree(0);
    Stream stream(1, Purpose::test, static_cast<std::uint64_t>(i));
    reroot_at_random(forest, stream);
    for (NodeId rank = 0; rank < 9; ++rank) {
      if (forest.is_root(rank)) ++count[forest.node[rank]];
    }
  }
  for (NodeId u = 0; u < 8; ++u) EXPECT_NEAR(count[u], kDraws / 4, 5 * std::sqrt(kDraws * 3.0 / 16)) << u;
  EXPECT_EQ(count[8], kDraws);
}

}  // namespace
}  // namespace copse
