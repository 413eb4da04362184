// SPDX-License-Identifier: Apache-2.0
#include "trees/parity.hpp"

#include <gtest/gtest.h>

#include <map>

#include "copse/trees/sample.hpp"
#include "oracle/signed.hpp"

namespace copse {
namespace {

TEST(TreeParity, is_the_parity_of_negative_edges_on_the_way_from_the_root) {
  for (const TreeKind kind : {TreeKind::rst, TreeKind::mst, TreeKind::bfst, TreeKind::dfst, TreeKind::spt})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(seed);
      auto edges = oracle::with_signs(
          oracle::random_connected_edges({.num_nodes = 90, .num_edges = 200, .seed = seed, .weighted = true}),
          seed);
      std::map<std::pair<NodeId, NodeId>, bool> is_negative;
      for (const Edge& edge : edges) is_negative[std::minmax(edge.u, edge.v)] = edge.weight < 0;
      const Graph graph = graph_from_signed_edges(100, edges);  // ten nodes are alone
      const SpanningForest forest = TreeSampler(graph, kind, {.seed = seed}).tree(3);
      const TreeParity parity(graph, forest);
      EXPECT_TRUE(parity.is_signed());
      for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
        bool is_odd = false;
        for (NodeId at = rank; !forest.is_root(at); at = forest.parent[at])
          is_odd ^= is_negative.at(std::minmax(forest.node[at], forest.node[forest.parent[at]]));
        EXPECT_EQ(parity.is_other_side(forest.node[rank]), is_odd);
      }
    }
}

TEST(TreeParity, trees_do_not_depend_on_signs) {
  const auto edges =
      oracle::random_connected_edges({.num_nodes = 50, .num_edges = 120, .seed = 1, .weighted = true});
  const Graph plain = graph_from_edges(50, edges),
              with_signs = graph_from_signed_edges(50, oracle::with_signs(edges, 1));
  for (const TreeKind kind : {TreeKind::rst, TreeKind::nwrst, TreeKind::random_key, TreeKind::dfst}) {
    const SpanningForest a = TreeSampler(plain, kind, {}).tree(2),
                         b = TreeSampler(with_signs, kind, {}).tree(2);
    EXPECT_TRUE(std::ranges::equal(a.node.span(), b.node.span()));
    EXPECT_TRUE(std::ranges::equal(a.parent.span(), b.parent.span()));
    EXPECT_TRUE(std::ranges::equal(a.weight.span(), b.weight.span()));
  }
}

TEST(TreeParity, of_a_graph_without_signs_is_nothing) {
  const Graph graph = oracle::path(5);
  const TreeParity parity(graph, TreeSampler(graph, TreeKind::bfst, {}).tree(0));
  EXPECT_FALSE(parity.is_signed());
  for (NodeId u = 0; u < 5; ++u) EXPECT_FALSE(parity.is_other_side(u));
}

}  // namespace
}  // namespace copse
