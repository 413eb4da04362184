// SPDX-License-Identifier: Apache-2.0
#include "trees/wilson.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "copse/io/read.hpp"
#include "copse/support/random.hpp"
#include "copse/trees/sample.hpp"
#include "oracle/chi_square.hpp"
#include "oracle/graphs.hpp"
#include "oracle/linear_algebra.hpp"
#include "oracle/trees.hpp"
#include "oracle/wilson.hpp"
#include "trees/fallback.hpp"
#include "trees/find_arc.hpp"
#include "trees/roots.hpp"
#include "trees/wilson_walks.hpp"

namespace copse {
namespace {

std::vector<NodeId> parents_of(const SpanningForest& forest) {
  std::vector<NodeId> parent(forest.num_nodes());
  for (NodeId rank = 0; rank < forest.num_nodes(); ++rank)
    parent[forest.node[rank]] = forest.node[forest.parent[rank]];
  return parent;
}

constexpr WalkOrder kOrders[] = {WalkOrder::one_by_one, WalkOrder::interleaved};

/// Arcs from stacks: arrow k of node u is a function of (seed, u, k), whoever asks for it and when.
class StackArcs {
 public:
  StackArcs(const GraphView& graph, std::uint64_t seed)
      : graph_(graph), seed_(seed), drawn_(graph.num_nodes()) {}

  EdgeIndex arrow(NodeId u, std::size_t k) const {
    Stream stream(seed_, Purpose::test, std::uint64_t{u} << 32 | k);
    return graph_.offsets[u] + stream.below(graph_.degree(u));
  }
  EdgeIndex choose(NodeId u, std::uint64_t) const { return arrow(u, drawn_[u]++); }
  void fetch_bounds(NodeId) const {}
  void fetch_row(NodeId, std::uint64_t) const {}

 private:
  const GraphView graph_;
  std::uint64_t seed_;
  mutable std::vector<std::size_t> drawn_;
};

void expect_tree_of_the_stacks(const Graph& graph, NodeId root, std::uint64_t seed) {
  const NodeId roots[] = {root};
  const GraphView view = graph;
  const StackArcs stacks(graph, seed);
  const auto arrow = [&](NodeId u, std::size_t k) { return view.neighbors[stacks.arrow(u, k)]; };
  const std::vector<NodeId> expected = oracle::wilson_parents(view.num_nodes(), root, arrow, false);
  EXPECT_EQ(expected, oracle::wilson_parents(view.num_nodes(), root, arrow, true));
  const StackArcs for_one(graph, seed), for_many(graph, seed);
  const WilsonResult one = detail::OneByOne<StackArcs>(graph, for_one, roots, seed, {}, {}).run();
  const WilsonResult many = detail::Interleaved<StackArcs>(graph, for_many, roots, seed, {}, {}).run();
  for (const WilsonResult* drawn : {&one, &many}) {
    ASSERT_TRUE(drawn->complete);
    check_forest(graph, drawn->forest);
    EXPECT_EQ(parents_of(drawn->forest), expected);
  }
  EXPECT_EQ(one.steps, many.steps) << "in whatever order they are popped, the popped cycles are the same";
}

TEST(Wilson, draws_the_tree_of_the_stacks_in_either_order) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    // From paths, where walks meet all the time, to dense graphs.
    const NodeId n = static_cast<NodeId>(3 + seed * 7 % 300);
    const std::uint64_t m = seed % 3 == 0 ? n - 1 : seed % 3 == 1 ? 2 * n : std::uint64_t{n} * n / 3;
    expect_tree_of_the_stacks(oracle::random_connected_graph(
                                  {.num_nodes = n, .num_edges = m, .seed = seed, .weighted = seed % 2 == 1}),
                              static_cast<NodeId>(seed % n), seed);
  }
}

TEST(Wilson, draws_the_tree_of_the_stacks_where_more_walks_meet_than_there_is_room_for) {
  expect_tree_of_the_stacks(oracle::path(1500), 1499, 1);
  expect_tree_of_the_stacks(
      oracle::random_connected_graph({.num_nodes = 60000, .num_edges = 90000, .seed = 2}), 1234, 2);
}

TEST(Wilson, follows_the_law_in_either_order_with_weights_and_without) {
  const std::vector<Edge> edges = {{0, 1, 1.0F}, {0, 2, 2.0F}, {1, 2, 0.5F}, {1, 3, 3.0F}, {2, 3, 1.0F},
                                   {2, 4, 4.0F}, {3, 4, 0.5F}, {3, 5, 1.5F}, {4, 5, 2.0F}};
  const Graph weighted = graph_from_edges(6, edges), plain = graph_from_pairs(6, edges);
  const NodeId roots[] = {2};
  constexpr std::uint64_t kTrees = 30000;
  for (const WalkOrder order : kOrders) {
    std::map<oracle::EdgeSet, std::uint64_t> by_weight, alike;
    for (std::uint64_t i = 0; i < kTrees; ++i) {
      ++by_weight[oracle::edge_set(
          wilson(weighted, WeightedArcs(weighted), roots, i, {}, {.order = order}).forest)];
      ++alike[oracle::edge_set(wilson(plain, UniformArcs(plain), roots, i, {}, {.order = order}).forest)];
    }
    const auto by_weight_test = oracle::chi_square(oracle::random_tree_law(weighted), by_weight);
    const auto alike_test = oracle::chi_square(oracle::uniform_tree_law(plain), alike);
    EXPECT_LT(by_weight_test.statistic, by_weight_test.threshold());
    EXPECT_LT(alike_test.statistic, alike_test.threshold());
    const auto control = oracle::chi_square(oracle::uniform_tree_law(plain), by_weight);
    EXPECT_GT(control.statistic, 10 * control.threshold()) << "this test could not tell the two laws apart";
  }
}

/// How often every edge of a connected graph is in trees that are drawn, beside weight times resistance: each
/// count within five standard deviations, and the mean square of the deviations, which is 1 where the law is
/// right, whatever their correlation.
template <class Draw>
void expect_the_law(const Graph& graph, std::uint64_t num_trees, const Draw& draw) {
  const auto pseudoinverse = oracle::pseudoinverse(oracle::laplacian(graph));
  std::map<std::pair<NodeId, NodeId>, double> counts;
  for (std::uint64_t i = 0; i < num_trees; ++i)
    for (const auto& pair : oracle::edge_set(draw(i))) counts[pair] += 1;
  double sum = 0, num_edges = 0;
  for (const Edge& edge : oracle::edge_list(graph)) {
    const double p = edge.weight * oracle::effective_resistance(pseudoinverse, edge.u, edge.v);
    if (p > 1 - 1e-9) continue;
    const double deviation = (counts[{edge.u, edge.v}] - static_cast<double>(num_trees) * p) /
                             std::sqrt(static_cast<double>(num_trees) * p * (1 - p));
    EXPECT_LT(std::fabs(deviation), 5) << edge.u << "-" << edge.v;
    sum += deviation * deviation;
    num_edges += 1;
  }
  EXPECT_NEAR(sum / num_edges, 1, 0.3);
}

void expect_the_law_of_walks(const Graph& graph, std::uint64_t num_trees) {
  const NodeId root[] = {0};
  for (const WalkOrder order : kOrders) {
    SCOPED_TRACE(order == WalkOrder::interleaved ? "interleaved" : "one by one");
    const WilsonOptions options{.order = order};
    expect_the_law(graph, num_trees, [&](std::uint64_t i) {
      return graph.view().is_weighted()
                 ? wilson(graph, WeightedArcs(graph), root, i, {.seed = 5}, options).forest
                 : wilson(graph, UniformArcs(graph), root, i, {.seed = 5}, options).forest;
    });
  }
}

void expect_the_law_of_a_sampler(const Graph& graph, std::uint64_t num_trees) {
  const TreeSampler sampler(graph, TreeKind::rst, {.seed = 5});
  expect_the_law(graph, num_trees, [&](std::uint64_t i) {
    TreeReport report;
    SpanningForest forest = sampler.tree(i, &report);
    EXPECT_NE(report.path, TreePath::completed_by_keys);
    return forest;
  });
}

Graph ladder(NodeId length, bool weighted) {
  std::vector<Edge> rungs;
  for (NodeId i = 0; i < length; ++i) {
    const Weight w = weighted ? static_cast<Weight>(1 + i % 7) : 1;
    rungs.push_back({2 * i, 2 * i + 1, w});
    if (i + 1 == length) break;
    rungs.push_back({2 * i, 2 * i + 2, 1});
    rungs.push_back({2 * i + 1, 2 * i + 3, w});
  }
  return weighted ? graph_from_edges(2 * length, rungs) : graph_from_pairs(2 * length, rungs);
}

TEST(Wilson, keeps_the_law_on_ladders_that_walks_cross_slowly) {
  for (const bool weighted : {false, true}) {
    expect_the_law_of_walks(ladder(80, weighted), 2000);
    expect_the_law_of_a_sampler(ladder(200, weighted), 2000);
  }
}

TEST(Wilson, keeps_the_law_on_roads) {
  const std::string path = COPSE_SHARED_DATA "/road_sf/edges.tsv.zst";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs the shared data sets";
  const NamedGraph roads = read_graph(path, {}, {});
  const GraphView whole = roads.graph;
  // What lies around a node in the middle: once as it is, once with lengths.
  constexpr NodeId kNodes = 300;
  std::vector<NodeId> near{whole.num_nodes() / 2};
  std::map<NodeId, NodeId> number{{near[0], 0}};
  std::vector<Edge> edges;
  for (NodeId i = 0; i < near.size(); ++i) {
    for (const NodeId v : whole.neighbors_of(near[i])) {
      const auto [place, is_new] = number.try_emplace(v, static_cast<NodeId>(near.size()));
      if (is_new && near.size() == kNodes) {
        number.erase(place);
        continue;
      }
      if (is_new) near.push_back(v);
      if (place->second > i) edges.push_back({i, place->second, static_cast<Weight>(1 + (i * 7919) % 10)});
    }
  }
  ASSERT_EQ(near.size(), kNodes);
  for (const Graph& graph : {graph_from_pairs(kNodes, edges), graph_from_edges(kNodes, edges)}) {
    expect_the_law_of_walks(graph, 2000);
    expect_the_law_of_a_sampler(graph, 2000);
  }
}

TEST(Wilson, keeps_the_part_of_a_tree_that_it_drew_within_the_limit) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 3000, .num_edges = 3500, .seed = 5, .weighted = true});
  const NodeId roots[] = {0};
  for (const WalkOrder order : kOrders) {
    const WilsonResult part =
        wilson(graph, WeightedArcs(graph), roots, 5, {.seed = 4}, {.step_limit = 2000, .order = order});
    ASSERT_FALSE(part.complete);
    ASSERT_GT(part.num_ranked, 0u);
    ASSERT_LT(part.num_ranked, 3000u);
    for (NodeId rank = 1; rank < part.num_ranked; ++rank) {
      ASSERT_LT(part.forest.parent[rank], rank);
      const NodeId node = part.forest.node[rank], parent = part.forest.node[part.forest.parent[rank]];
      ASSERT_EQ(graph.view().neighbors[find_arc(graph, node, parent)], parent);
      ASSERT_EQ(part.forest.weight[rank], graph.view().weight(find_arc(graph, node, parent)));
    }
    const SpanningForest whole = complete_by_keys(graph, part, true, roots, {.seed = 1}, 0);
    check_forest(graph, whole);
    const auto parents = parents_of(whole);
    for (NodeId rank = 1; rank < part.num_ranked; ++rank) {
      const NodeId u = part.forest.node[rank], p = part.forest.node[part.forest.parent[rank]];
      EXPECT_TRUE(parents[u] == p || parents[p] == u) << "what the walks had drawn is kept";
    }
  }
}

TEST(Wilson, lists_siblings_in_another_order_in_every_tree_and_for_every_seed) {
  const Graph graph = oracle::star(10000);  // there is one tree: only the order differs
  const NodeId roots[] = {0};
  for (const WalkOrder order : kOrders) {
    std::set<std::vector<NodeId>> orders;
    for (const std::uint64_t seed : {1, 2}) {
      for (const std::uint64_t index : {0, 1, 2}) {
        const WilsonResult drawn =
            wilson(graph, UniformArcs(graph), roots, index, {.seed = seed}, {.order = order});
        orders.emplace(drawn.forest.node.begin(), drawn.forest.node.end());
      }
    }
    EXPECT_EQ(orders.size(), 6U);
  }
}

TEST(Wilson, takes_the_expected_number_of_steps_sum_of_degree_times_resistance_to_the_root) {
  // Path rooted at one end: sum of d_u * distance = (n - 1)^2.
  const Graph path = oracle::path(20);
  const NodeId end[] = {0};
  constexpr int kTrees = 4000;
  for (const WalkOrder order : kOrders) {
    double steps = 0;
    for (std::uint64_t i = 0; i < kTrees; ++i)
      steps +=
          static_cast<double>(wilson(path, UniformArcs(path), end, i, {.seed = 3}, {.order = order}).steps);
    EXPECT_NEAR(steps / kTrees / (19 * 19), 1, 0.03);
  }
}

TEST(Wilson, goes_to_and_fro_on_a_heavy_edge_millions_of_times) {
  const Graph graph =
      graph_from_edges(5, {{0, 1, 1}, {1, 2, 1}, {2, 3, 4e6F}, {3, 4, 1}, {4, 0, 1}, {1, 3, 1}});
  const NodeId roots[] = {0};
  for (const WalkOrder order : kOrders) {
    const WilsonResult drawn = wilson(graph, WeightedArcs(graph), roots, 3, {}, {.order = order});
    EXPECT_GT(drawn.steps, 1'000'000u);
    check_forest(graph, drawn.forest);
  }
}

TEST(Wilson, takes_turns_only_where_neighbours_lie_far_apart_in_memory) {
  const Graph grid = oracle::grid(600, 600);
  EXPECT_EQ(walk_order(grid), WalkOrder::one_by_one);
  EXPECT_EQ(walk_order(oracle::random_graph({.num_nodes = 1000, .num_edges = 4000, .seed = 1})),
            WalkOrder::one_by_one);
  EXPECT_EQ(walk_order(oracle::random_graph({.num_nodes = 1000000, .num_edges = 2000000, .seed = 1})),
            WalkOrder::interleaved);
  EXPECT_EQ(walk_order(graph_from_pairs(3, {})), WalkOrder::one_by_one);
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

TEST(TreeSampler, long_paths_and_cycles_are_drawn_without_walks) {
  for (const NodeId n : {1000u, 5000u}) {
    TreeReport report;
    const Graph path = oracle::path(n);
    check_forest(path, TreeSampler(path, TreeKind::rst, {}).tree(0, &report));
    EXPECT_LE(report.steps, 32 * n);
    std::vector<Edge> edges;
    for (NodeId u = 0; u < 3 * n; ++u) edges.push_back({u, (u + 1) % (3 * n), 1});
    const Graph cycle = graph_from_edges(3 * n, edges);
    check_forest(cycle, TreeSampler(cycle, TreeKind::rst, {}).tree(1, &report));
    EXPECT_LE(report.steps, 32 * n);
  }
}

TEST(TreeSampler, a_tree_leaves_out_an_edge_of_a_cycle_in_proportion_to_its_resistance) {
  // Two such cycles, and a bridge that no walk gets over.
  const Graph graph =
      graph_from_edges(6, {{0, 1, 1}, {1, 2, 2}, {0, 2, 4}, {2, 3, 1e-9F}, {3, 4, 1}, {4, 5, 2}, {3, 5, 4}});
  const TreeSampler sampler(graph, TreeKind::rst, {});
  int missing[3] = {};
  constexpr int kTrees = 6000;
  for (int i = 0; i < kTrees; ++i) {
    const auto parent = parents_of(sampler.tree(static_cast<std::uint64_t>(i)));
    const auto has = [&](NodeId u, NodeId v) { return parent[u] == v || parent[v] == u; };
    missing[0] += !has(0, 1), missing[1] += !has(1, 2), missing[2] += !has(0, 2);
  }
  const double share[] = {4 / 7.0, 2 / 7.0, 1 / 7.0};
  for (int e = 0; e < 3; ++e)
    EXPECT_NEAR(missing[e], kTrees * share[e], 5 * std::sqrt(kTrees * share[e] * (1 - share[e])));
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
