// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "copse/support/random.hpp"
#include "copse/trees/sample.hpp"
#include "oracle/graphs.hpp"
#include "oracle/reroot.hpp"

namespace copse {
namespace {

template <class T>
Buffer<T> buffer(std::initializer_list<T> values) {
  Buffer<T> made(values.size());
  std::copy(values.begin(), values.end(), made.begin());
  return made;
}

TEST(Line, cesa_bianchi_et_al_2013_figure_3) {
  // Nodes by their number in the figure; parents by rank. 2 -> 7, 6, 9; 7 -> 8, 1, 4; 9 -> 5, 3.
  SpanningForest forest{buffer<NodeId>({2, 7, 6, 9, 8, 1, 4, 5, 3}),
                        buffer<NodeId>({0, 0, 0, 0, 1, 1, 1, 3, 3}),
                        buffer<Weight>({0, 1, 4, 0.5F, 0.5F, 3, 3, 0.5F, 3})};
  const Line line = linearize(std::move(forest));
  EXPECT_EQ(std::vector<NodeId>(line.node.begin(), line.node.end()),
            (std::vector<NodeId>{2, 7, 8, 1, 4, 6, 9, 5, 3}));
  EXPECT_EQ(std::vector<Weight>(line.weight.begin(), line.weight.end()),
            (std::vector<Weight>{0, 1, 0.5F, 0.5F, 3, 1, 0.5F, 0.5F, 0.5F}));
  EXPECT_EQ(line.starts, std::vector<NodeId>{0});
}

// The paper's own construction: the walk of a depth-first visit with its backtracking steps, from which
// repeated nodes are deleted one by one in random order, the lighter of the two edges staying.
void expect_line_of_the_paper(const SpanningForest& forest, const Line& line, bool last_child_first,
                              std::uint64_t seed) {
  const NodeId n = forest.num_nodes();
  std::vector<std::vector<NodeId>> children(n);
  std::vector<NodeId> roots;
  for (NodeId rank = 0; rank < n; ++rank)
    (forest.is_root(rank) ? roots : children[forest.parent[rank]]).push_back(rank);
  if (last_child_first) {
    for (auto& siblings : children) std::reverse(siblings.begin(), siblings.end());
  }
  std::mt19937_64 random(seed);
  std::vector<NodeId> nodes;
  std::vector<Weight> weights;
  for (const NodeId root : roots) {
    struct Visit {
      NodeId rank;
      bool first;
      Weight before;  // of the edge to the entry before
    };
    std::vector<Visit> walk;
    const std::function<void(NodeId)> visit = [&](NodeId rank) {
      for (const NodeId child : children[rank]) {
        walk.push_back({child, true, forest.edge_weight(child)});
        visit(child);
        walk.push_back({rank, false, forest.edge_weight(child)});
      }
    };
    walk.push_back({root, true, 0});
    visit(root);
    while (!walk.empty()) {
      std::vector<std::size_t> repeated;
      for (std::size_t i = 0; i < walk.size(); ++i) {
        if (!walk[i].first) repeated.push_back(i);
      }
      if (repeated.empty()) break;
      const std::size_t drop = repeated[random() % repeated.size()];
      if (drop + 1 < walk.size()) walk[drop + 1].before = std::min(walk[drop].before, walk[drop + 1].before);
      walk.erase(walk.begin() + static_cast<std::ptrdiff_t>(drop));
    }
    for (const Visit& entry : walk) {
      nodes.push_back(forest.node[entry.rank]);
      weights.push_back(entry.before);
    }
  }
  EXPECT_EQ(std::vector<NodeId>(line.node.begin(), line.node.end()), nodes);
  if (forest.is_weighted()) {
    EXPECT_EQ(std::vector<Weight>(line.weight.begin(), line.weight.end()), weights);
  }
}

TEST(Line, is_what_the_deletion_of_duplicates_leaves_in_any_order) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph({.num_nodes = static_cast<NodeId>(1 + seed % 25),
                                              .num_edges = seed % 40,
                                              .seed = seed,
                                              .weighted = seed % 3 != 0});
    const TreeSampler sampler(graph, TreeKind::rst, {.seed = seed});
    const SpanningForest forest = sampler.tree(1);
    expect_line_of_the_paper(forest, linearize(sampler.tree(1)), false, seed);
  }
}

TEST(Line, of_a_committee_is_that_of_a_forest_that_was_given_random_roots) {
  const TreeKind kinds[] = {TreeKind::rst, TreeKind::mst, TreeKind::dfst, TreeKind::bfst};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph({.num_nodes = static_cast<NodeId>(1 + seed % 60),
                                              .num_edges = seed * 7 % 90,
                                              .seed = seed,
                                              .weighted = seed % 3 != 0});
    const TreeSampler sampler(graph, kinds[seed % 4], {.seed = seed});
    const Line line = random_line(sampler.tree(1), seed, 3);
    std::vector<NodeId> roots;
    for (const NodeId start : line.starts) roots.push_back(line.node[start]);
    const SpanningForest rooted = oracle::reroot(sampler.tree(1), roots);
    Stream stream(seed, Purpose::line_layout, 3);
    expect_line_of_the_paper(rooted, line, stream.below(2) == 1, seed);
    EXPECT_EQ(line.starts, linearize(sampler.tree(2)).starts) << "trees of a graph begin at the same places";
  }
}

TEST(Line, begins_at_every_node_of_a_tree_as_often_with_ties_to_either_side) {
  const Graph graph =
      graph_from_pairs(9, {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {4, 6}, {4, 7}});  // a path, a star, a lone node
  const TreeSampler sampler(graph, TreeKind::bfst, {});
  std::vector<int> count(9);
  int num_left = 0;
  constexpr int kDraws = 4000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const Line line = random_line(sampler.tree(0), 1, i);
    for (const NodeId start : line.starts) ++count[line.node[start]];
    num_left += line.ties_go_left;
  }
  EXPECT_NEAR(num_left, kDraws / 2, 5 * std::sqrt(kDraws / 4.0));
  for (NodeId u = 0; u < 8; ++u) EXPECT_NEAR(count[u], kDraws / 4, 5 * std::sqrt(kDraws * 3.0 / 16)) << u;
  EXPECT_EQ(count[8], kDraws);
}

TEST(Line, cut_is_at_most_twice_that_of_the_tree_in_number_and_weight) {
  std::mt19937_64 random(5);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Graph graph = oracle::random_tree(
        {.num_nodes = static_cast<NodeId>(2 + seed % 60), .seed = seed, .weighted = true});
    std::vector<int> label(graph.num_nodes());
    for (auto& l : label) l = static_cast<int>(random() % 3);
    const TreeSampler sampler(graph, TreeKind::rst, {});
    const SpanningForest tree = sampler.tree(0);
    double tree_cut = 0, tree_weight = 0, line_cut = 0, line_weight = 0;
    for (NodeId rank = 1; rank < tree.num_nodes(); ++rank) {
      const bool cut = label[tree.node[rank]] != label[tree.node[tree.parent[rank]]];
      tree_cut += cut;
      tree_weight += cut ? tree.weight[rank] : 0;
    }
    const Line line = random_line(sampler.tree(0), seed, 0);
    for (NodeId i = 1; i < line.num_nodes(); ++i) {
      const bool cut = label[line.node[i]] != label[line.node[i - 1]];
      line_cut += cut;
      line_weight += cut ? line.weight[i] : 0;
    }
    EXPECT_LE(line_cut, 2 * tree_cut);
    EXPECT_LE(line_weight, 2 * tree_weight * (1 + 1e-12));
  }
}

TEST(Line, a_path_of_a_million_nodes_needs_no_stack) {
  const Graph graph = oracle::path(1000000);
  const Line line = linearize(TreeSampler(graph, TreeKind::bfst, {}).tree(0));
  EXPECT_EQ(line.num_nodes(), 1000000u);
  EXPECT_EQ(line.starts.size(), 1u);
  EXPECT_EQ(random_line(TreeSampler(graph, TreeKind::bfst, {}).tree(0), 1, 0).num_nodes(), 1000000u);
}

}  // namespace
}  // namespace copse
