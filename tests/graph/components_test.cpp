// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/components.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "oracle/graphs.hpp"

namespace copse {
namespace {

// The twin: spread the smallest number over every edge until nothing changes, then count the numbers.
Components slow_components(const GraphView& graph) {
  std::vector<NodeId> smallest(graph.num_nodes());
  for (NodeId u = 0; u < graph.num_nodes(); ++u) smallest[u] = u;
  for (bool is_changing = true; is_changing;) {
    is_changing = false;
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      for (const NodeId v : graph.neighbors_of(u)) {
        if (smallest[v] >= smallest[u]) continue;
        smallest[u] = smallest[v];
        is_changing = true;
      }
    }
  }
  Components result;
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    if (smallest[u] == u) result.sizes.push_back(0);
    result.of_node.push_back(smallest[u] == u ? static_cast<NodeId>(result.sizes.size() - 1)
                                              : result.of_node[smallest[u]]);
    ++result.sizes[result.of_node[u]];
  }
  return result;
}

void expect_equal(const Components& a, const Components& b) {
  EXPECT_EQ(a.of_node, b.of_node);
  EXPECT_EQ(a.sizes, b.sizes);
}

TEST(Components, of_small_graphs_agree_with_the_slow_twin) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    expect_equal(connected_components(graph), slow_components(graph));
    expect_equal(connected_components(graph, 4), slow_components(graph));
  }
}

TEST(Components, are_numbered_by_their_smallest_node) {
  const Components components = connected_components(oracle::two_components_and_an_isolated_node());
  EXPECT_EQ(components.of_node, (std::vector<NodeId>{0, 1, 0, 1, 0, 1, 2}));
  EXPECT_EQ(components.sizes, (std::vector<NodeId>{3, 3, 1}));
  EXPECT_EQ(components.count(), 3U);
  EXPECT_EQ(components.largest(), 0U);  // the first of two with three nodes
}

TEST(Components, of_nothing_are_none) {
  EXPECT_EQ(connected_components(GraphView{}).count(), 0U);
  EXPECT_EQ(connected_components(oracle::isolated_nodes(3)).count(), 3U);
}

TEST(Components, of_random_graphs_at_every_density_agree_with_the_slow_twin) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph(
        {.num_nodes = static_cast<NodeId>(20 + 13 * seed), .num_edges = seed * seed / 2, .seed = seed});
    expect_equal(connected_components(graph, 1 + static_cast<int>(seed % 4)), slow_components(graph));
  }
}

TEST(Components, are_the_same_on_any_number_of_threads) {
  for (const std::uint64_t num_edges :
       {30'000U, 60'000U, 90'000U}) {  // below, around and above a giant component
    const Graph graph =
        oracle::random_graph({.num_nodes = 100'000, .num_edges = num_edges, .seed = num_edges});
    const Components one = connected_components(graph, 1);
    for (int round = 0; round < 5; ++round) expect_equal(connected_components(graph, 4), one);
  }
}

TEST(Components, of_a_long_path_need_no_recursion) {
  // Names in an order that makes long chains of hooks: even nodes first, then odd ones backwards.
  constexpr NodeId kNodes = 300'000;
  std::vector<Edge> edges;
  const auto name = [](NodeId i) { return i % 2 == 0 ? i / 2 : kNodes - 1 - i / 2; };
  for (NodeId i = 1; i < kNodes; ++i) edges.push_back({name(i - 1), name(i)});
  const Components components = connected_components(graph_from_pairs(kNodes, edges), 4);
  EXPECT_EQ(components.sizes, std::vector<NodeId>{kNodes});
}

}  // namespace
}  // namespace copse
