// SPDX-License-Identifier: Apache-2.0
#include "trees/dynamic_forests.hpp"

#include <gtest/gtest.h>

#include "copse/trees/sample.hpp"
#include "expect_forest.hpp"
#include "oracle/changes.hpp"
#include "oracle/trees.hpp"

namespace copse {
namespace {

constexpr std::size_t kTrees = 3;

struct Changed {
  DynamicForests forests;

  Changed(const GraphView& graph, const Execution& execution) : forests(graph, kTrees, execution) {}
  void add_node() { forests.add_node(); }
  void add_edge(NodeId u, NodeId v, Weight weight) { forests.set_weight(u, v, weight); }
  void remove_edge(NodeId u, NodeId v) { forests.set_weight(u, v, 0); }
};

void expect_drawn_anew(DynamicForests& forests, const Graph& now, const Execution& execution) {
  const TreeSampler sampler(now, TreeKind::random_key, execution);
  for (std::size_t tree = 0; tree < kTrees; ++tree) {
    forests.settle(tree);
    EXPECT_TRUE(forests.is_settled(tree));
    expect_equal(forests.forest(tree), sampler.tree(tree));
  }
}

TEST(DynamicForests, are_those_drawn_from_nothing_after_any_changes) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    oracle::Changes changes({.num_nodes = static_cast<NodeId>(2 + 3 * seed),
                             .num_edges = 1 + (seed % 3 + 1) * 3 * seed,
                             .seed = seed,
                             .weighted = seed % 2 == 0});
    const Graph start = changes.graph();
    const Execution execution{.seed = seed + 7};
    Changed changed(start, execution);
    expect_drawn_anew(changed.forests, start, execution);
    for (int round = 0; round < 25; ++round) {
      SCOPED_TRACE(round);
      for (std::uint64_t i = changes.random() % 5; i-- > 0;) changes.step(changed);
      const Graph now = changes.graph();
      expect_drawn_anew(changed.forests, now, execution);
      const Graph snapshot = changed.forests.graph().snapshot();
      EXPECT_TRUE(std::ranges::equal(snapshot.view().neighbors, now.view().neighbors));
      EXPECT_TRUE(std::ranges::equal(snapshot.view().weights, now.view().weights));
    }
  }
}

TEST(DynamicForests, leave_trees_alone_that_an_edge_does_not_enter) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = 300, .num_edges = 9000, .seed = 3});
  DynamicForests forests(graph, kTrees, {.seed = 1});
  int num_touched = 0, num_changes = 0;
  for (NodeId u = 0; u < 299; ++u) {
    if (forests.graph().weight(u, u + 1) != 0) continue;
    forests.set_weight(u, u + 1, 1);
    ++num_changes;
    for (std::size_t tree = 0; tree < kTrees; ++tree) {
      num_touched += !forests.is_settled(tree);
      forests.settle(tree);
    }
  }
  // An edge is in a tree with a probability of about 300 / 9000.
  EXPECT_GT(num_touched, 0);
  EXPECT_LT(num_touched, num_changes * static_cast<int>(kTrees) / 10);
}

TEST(DynamicForests, a_change_taken_back_leaves_no_trace) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 40, .num_edges = 90, .seed = 5, .weighted = true});
  const Execution execution{.seed = 2};
  DynamicForests forests(graph, kTrees, execution);
  const auto edges = oracle::edge_list(graph);
  for (const Edge& edge : edges) forests.set_weight(edge.u, edge.v, 0);
  forests.settle(1);  // nodes without an edge
  for (const Edge& edge : edges) forests.set_weight(edge.v, edge.u, 3);
  for (const Edge& edge : edges) forests.set_weight(edge.v, edge.u, edge.weight);
  expect_drawn_anew(forests, graph, execution);
}

}  // namespace
}  // namespace copse
