// SPDX-License-Identifier: Apache-2.0
#include "trees/wilson.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "copse/graph/components.hpp"
#include "copse/support/random.hpp"
#include "copse/trees/biconnected.hpp"
#include "copse/trees/sample.hpp"
#include "oracle/graphs.hpp"
#include "oracle/wilson.hpp"
#include "trees/complete.hpp"
#include "trees/find_arc.hpp"
#include "trees/roots.hpp"

namespace copse {
namespace {

std::vector<NodeId> parents_of(const SpanningForest& forest) {
  std::vector<NodeId> parent(forest.num_nodes());
  for (NodeId rank = 0; rank < forest.num_nodes(); ++rank)
    parent[forest.node[rank]] = forest.node[forest.parent[rank]];
  return parent;
}

TEST(Wilson, draws_the_same_tree_as_one_plain_walk_after_the_other) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const bool weighted = seed % 2 == 1;
    // From paths (walks meet all the time) to dense graphs (rows longer than a block of the weighted
    // sampler).
    const NodeId n = static_cast<NodeId>(3 + seed * 7 % 300);
    const std::uint64_t m = seed % 3 == 0 ? n - 1 : seed % 3 == 1 ? 2 * n : std::uint64_t{n} * n / 3;
    const Graph graph =
        oracle::random_connected_graph({.num_nodes = n, .num_edges = m, .seed = seed, .weighted = weighted});
    const NodeId root = static_cast<NodeId>(seed % n);
    const NodeId roots[] = {root};
    for (const Walks walks : {Walks::usual, Walks::straight, Walks::winding}) {
      const WilsonResult drawn = weighted
                                     ? wilson(graph, WeightedArcs(graph), roots, seed, 5, 1u << 30, {}, walks)
                                     : wilson(graph, UniformArcs(graph), roots, seed, 5, 1u << 30, {}, walks);
      ASSERT_TRUE(drawn.complete);
      check_forest(graph, drawn.forest);
      EXPECT_EQ(parents_of(drawn.forest), oracle::wilson_parents(graph, weighted, root, seed, 5, false));
      EXPECT_EQ(parents_of(drawn.forest), oracle::wilson_parents(graph, weighted, root, seed, 5, true));
    }
  }
}

TEST(Wilson, tells_the_weights_of_trees_that_were_drawn_without_them) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 500, .num_edges = 1500, .seed = 4, .weighted = true});
  const NodeId roots[] = {77};
  for (const Walks walks : {Walks::usual, Walks::straight, Walks::winding}) {
    const WilsonResult drawn = wilson(graph, UniformArcs(graph), roots, 4, 5, 1u << 30, {}, walks);
    ASSERT_TRUE(drawn.complete && drawn.forest.is_weighted());
    check_forest(graph, drawn.forest);
    EXPECT_EQ(parents_of(drawn.forest), oracle::wilson_parents(graph, false, 77, 4, 5, false));
  }
}

TEST(Wilson, leaves_the_part_of_a_tree_that_it_drew_within_the_limit) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 3000, .num_edges = 3500, .seed = 5, .weighted = true});
  const NodeId roots[] = {0};
  for (const Walks walks : {Walks::usual, Walks::straight, Walks::winding}) {
    const WilsonResult part = wilson(graph, WeightedArcs(graph), roots, 4, 5, 2000, {}, walks);
    ASSERT_FALSE(part.complete);
    ASSERT_GT(part.num_ranked, 0u);
    for (NodeId rank = 1; rank < part.num_ranked; ++rank) {
      ASSERT_LT(part.forest.parent[rank], rank);
      const NodeId node = part.forest.node[rank], parent = part.forest.node[part.forest.parent[rank]];
      const auto row = graph.view().neighbors_of(node);
      const auto at = std::find(row.begin(), row.end(), parent) - row.begin();
      ASSERT_LT(static_cast<std::size_t>(at), row.size());
      ASSERT_EQ(part.forest.weight[rank],
                graph.view().weight(graph.view().offsets[node] + static_cast<EdgeIndex>(at)));
    }
  }
}

TEST(Wilson, leaves_out_nodes_without_neighbours_and_nothing_else) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph(
        {.num_nodes = 200, .num_edges = seed * 20, .seed = seed, .weighted = seed % 2 == 1});
    const GraphView view = graph;
    const Components components = connected_components(graph);
    const std::vector<NodeId> roots = walk_roots(graph, components);
    for (const Walks walks : {Walks::usual, Walks::straight, Walks::winding}) {
      const auto draw = [&](TreeNodes nodes) {
        return view.is_weighted()
                   ? wilson(graph, WeightedArcs(graph), roots, seed, 5, 1u << 30, {}, walks, nodes)
                   : wilson(graph, UniformArcs(graph), roots, seed, 5, 1u << 30, {}, walks, nodes);
      };
      const WilsonResult all = draw(TreeNodes::all), some = draw(TreeNodes::with_neighbors);
      ASSERT_TRUE(all.complete && some.complete);
      EXPECT_EQ(some.steps, all.steps);
      std::vector<NodeId> new_rank(all.forest.num_nodes());
      NodeId num_listed = 0;
      for (NodeId rank = 0; rank < all.forest.num_nodes(); ++rank) {
        if (view.degree(all.forest.node[rank]) == 0) continue;
        ASSERT_LT(num_listed, some.forest.num_nodes());
        new_rank[rank] = num_listed;
        EXPECT_EQ(some.forest.node[num_listed], all.forest.node[rank]);
        EXPECT_EQ(some.forest.parent[num_listed], new_rank[all.forest.parent[rank]]);
        EXPECT_EQ(some.forest.edge_weight(num_listed), all.forest.edge_weight(rank));
        ++num_listed;
      }
      EXPECT_EQ(some.forest.num_nodes(), num_listed);
    }
  }
}

TEST(Wilson, draws_the_same_tree_where_more_walks_hang_on_each_other_than_there_is_room_for) {
  const Graph path = oracle::path(3000);
  const NodeId end[] = {2999};
  const WilsonResult drawn = wilson(path, UniformArcs(path), end, 1, 0, 1u << 30);
  ASSERT_TRUE(drawn.complete);
  check_forest(path, drawn.forest);
  const NodeId roots[] = {1234};
  const Graph graph = oracle::random_connected_graph({.num_nodes = 20000, .num_edges = 30000, .seed = 2});
  for (const Walks walks : {Walks::usual, Walks::winding}) {
    const WilsonResult large = wilson(graph, UniformArcs(graph), roots, 7, 1, 1u << 30, {}, walks);
    ASSERT_TRUE(large.complete);
    EXPECT_EQ(parents_of(large.forest), oracle::wilson_parents(graph, false, 1234, 7, 1, false));
  }
}

TEST(Wilson, draws_the_same_tree_where_cycles_are_so_long_that_their_arrows_are_drawn_in_parts) {
  for (const bool weighted : {false, true}) {
    const Graph graph = oracle::random_connected_graph(
        {.num_nodes = 60000, .num_edges = 150000, .seed = 3, .weighted = weighted});
    const NodeId roots[] = {4321};
    const WilsonResult drawn =
        weighted ? wilson(graph, WeightedArcs(graph), roots, 7, 1, 1u << 30, {}, Walks::winding)
                 : wilson(graph, UniformArcs(graph), roots, 7, 1, 1u << 30, {}, Walks::winding);
    ASSERT_TRUE(drawn.complete);
    EXPECT_EQ(parents_of(drawn.forest), oracle::wilson_parents(graph, weighted, 4321, 7, 1, false));
  }
}

TEST(Wilson, draws_the_same_tree_where_arrows_are_popped_millions_of_times) {
  // A heavy edge across a cycle: a walk goes to and fro on it some 4 million times before it leaves.
  const Graph graph =
      graph_from_edges(5, {{0, 1, 1}, {1, 2, 1}, {2, 3, 4e6F}, {3, 4, 1}, {4, 0, 1}, {1, 3, 1}});
  const NodeId roots[] = {0};
  for (std::uint64_t tree = 0; tree < 4; ++tree) {
    const WilsonResult drawn = wilson(graph, WeightedArcs(graph), roots, 3, tree, 1u << 30);
    EXPECT_EQ(parents_of(drawn.forest), oracle::wilson_parents(graph, true, 0, 3, tree, false));
    check_forest(graph, drawn.forest);
  }
}

TEST(Wilson, takes_the_expected_number_of_steps_sum_of_degree_times_resistance_to_the_root) {
  // Path rooted at one end: sum of d_u * distance = (n - 1)^2.
  const Graph path = oracle::path(20);
  const NodeId end[] = {0};
  double steps = 0;
  constexpr int kTrees = 4000;
  for (int i = 0; i < kTrees; ++i)
    steps += static_cast<double>(
        wilson(path, UniformArcs(path), end, 3, static_cast<std::uint64_t>(i), 1u << 30).steps);
  EXPECT_NEAR(steps / kTrees / (19 * 19), 1, 0.03);
}

TEST(Wilson, stops_at_the_step_limit_with_a_part_that_is_a_tree) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = 500, .num_edges = 600, .seed = 4});
  const NodeId roots[] = {0};
  const WilsonResult part = wilson(graph, UniformArcs(graph), roots, 1, 0, 800);
  ASSERT_FALSE(part.complete);
  ASSERT_LT(part.num_ranked, 500u);
  for (NodeId rank = 1; rank < part.num_ranked; ++rank) {
    EXPECT_LT(part.forest.parent[rank], rank);
    const NodeId u = part.forest.node[rank], p = part.forest.node[part.forest.parent[rank]];
    EXPECT_EQ(graph.view().neighbors[find_arc(graph, u, p)], p);
  }
  const SpanningForest whole = complete_by_keys(graph, part, false, roots, {.seed = 1}, 0);
  check_forest(graph, whole);
  const auto before = parents_of(whole);
  for (NodeId rank = 1; rank < part.num_ranked; ++rank) {
    const NodeId u = part.forest.node[rank], p = part.forest.node[part.forest.parent[rank]];
    EXPECT_TRUE(before[u] == p || before[p] == u) << "what the walks had drawn is kept";
  }
}

TEST(TreeSampler, escalates_where_walks_do_not_get_through_and_says_so) {
  // Two triangles joined by a bridge of weight 1e-9: the walk would cross it once in 10^9 steps. Block by
  // block it is exact.
  const Graph bridge =
      graph_from_edges(6, {{0, 1, 1}, {1, 2, 1}, {0, 2, 1}, {2, 3, 1e-9F}, {3, 4, 1}, {4, 5, 1}, {3, 5, 1}});
  TreeReport report;
  const TreeSampler by_blocks(bridge, TreeKind::rst, {});
  check_forest(bridge, by_blocks.tree(0, &report));
  EXPECT_EQ(report.path, TreePath::blocks);

  // The same with two bridges: one block, so keys must complete it.
  const Graph ring = graph_from_edges(
      6, {{0, 1, 1}, {1, 2, 1}, {0, 2, 1}, {2, 3, 1e-9F}, {0, 5, 1e-9F}, {3, 4, 1}, {4, 5, 1}, {3, 5, 1}});
  const TreeSampler by_keys(ring, TreeKind::rst, {});
  check_forest(ring, by_keys.tree(0, &report));
  EXPECT_EQ(report.path, TreePath::completed_by_keys);

  const Graph easy =
      oracle::random_connected_graph({.num_nodes = 50, .num_edges = 100, .seed = 1, .weighted = true});
  TreeSampler(easy, TreeKind::rst, {}).tree(3, &report);
  EXPECT_EQ(report.path, TreePath::direct);
  EXPECT_GE(report.steps, 49u);
}

TEST(TreeSampler, block_by_block_trees_are_uniform_in_each_block) {
  const Graph bridge =
      graph_from_edges(6, {{0, 1, 1}, {1, 2, 1}, {0, 2, 1}, {2, 3, 1e-9F}, {3, 4, 1}, {4, 5, 1}, {3, 5, 1}});
  const TreeSampler sampler(bridge, TreeKind::rst, {});
  int missing_01 = 0;
  constexpr int kTrees = 3000;
  for (int i = 0; i < kTrees; ++i) {
    const auto parent = parents_of(sampler.tree(static_cast<std::uint64_t>(i)));
    missing_01 += parent[0] != 1 && parent[1] != 0;
  }
  EXPECT_NEAR(missing_01, kTrees / 3.0, 5 * std::sqrt(kTrees * 2.0 / 9));
}

TEST(TreeSampler, a_tree_does_not_depend_on_what_was_drawn_before_it) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 200, .num_edges = 500, .seed = 9, .weighted = true});
  for (const TreeKind kind : {TreeKind::rst, TreeKind::nwrst, TreeKind::random_key, TreeKind::mst,
                              TreeKind::spt, TreeKind::dfst, TreeKind::bfst}) {
    SCOPED_TRACE(to_string(kind));
    const TreeSampler first(graph, kind, {.seed = 7}), second(graph, kind, {.seed = 7, .threads = 4});
    const auto zero = parents_of(first.tree(0)), five = parents_of(first.tree(5));
    EXPECT_EQ(five, parents_of(second.tree(5)));
    EXPECT_EQ(zero, parents_of(second.tree(0)));
    EXPECT_EQ(zero, parents_of(second.tree(0)));
    if (first.is_random()) {
      EXPECT_NE(zero, five);
    }
  }
}

}  // namespace
}  // namespace copse
