// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/wta.hpp"

#include <gtest/gtest.h>

#include <random>

#include "copse/trees/line.hpp"
#include "learners/bound_games.hpp"
#include "learners/line_resistance.hpp"
#include "oracle/graphs.hpp"
#include "oracle/wta.hpp"
#include "some_labels.hpp"

namespace copse {
namespace {

TEST(Wta, predicts_as_cesa_bianchi_et_al_2013_figure_3) {
  // The figure's tree as a graph: its only spanning tree is itself, and breadth-first order from the
  // centre lists 2's children 7, 6, 9 and so on only if ids grow from left to right: renumbered here.
  //   2 -> 0; 7, 6, 9 -> 1, 2, 3; 8, 1, 4 -> 4, 5, 6; 5, 3 -> 7, 8.
  const Graph graph = graph_from_edges(
      9, {{0, 1, 1}, {0, 2, 4}, {0, 3, 0.5F}, {1, 4, 0.5F}, {1, 5, 3}, {1, 6, 3}, {3, 7, 0.5F}, {3, 8, 3}});
  // The line of the figure is the one rooted at its node 2; predictions are checked on exactly that line.
  SpanningForest forest{Buffer<NodeId>(9), Buffer<NodeId>(9), Buffer<Weight>(9)};
  const NodeId parent[] = {0, 0, 0, 0, 1, 1, 1, 3, 3};
  const Weight weight[] = {0, 1, 4, 0.5F, 0.5F, 3, 3, 0.5F, 3};
  for (NodeId rank = 0; rank < 9; ++rank) {
    forest.node[rank] = rank;
    forest.parent[rank] = parent[rank];
    forest.weight[rank] = weight[rank];
  }
  const Line line = linearize(std::move(forest));
  std::vector<Label> labels(9, kNoLabel);
  labels[4] = 1;  // node 8 of the figure: +
  labels[3] = 0;  // node 9: -
  for (const NodeId plus : {0, 1, 5, 6})
    EXPECT_EQ(oracle::nearest_on_line(line, labels, plus, true), 4u) << plus;
  for (const NodeId minus : {2, 7, 8})
    EXPECT_EQ(oracle::nearest_on_line(line, labels, minus, true), 3u) << minus;

  // And by the learner: one tree, whatever the root, must agree with the slow rule on its own line.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Execution execution{.seed = seed};
    const Line own = random_line(TreeSampler(graph, TreeKind::rst, execution).tree(0), execution.seed, 0);
    const BatchResult fast = Wta::fit(graph, labels, 2, {.num_trees = 1}, execution);
    for (NodeId u = 0; u < 9; ++u)
      EXPECT_EQ(fast.predictor->predict(u).label, labels[oracle::nearest_on_line(own, labels, u, true)]);
  }
}

TEST(Wta, a_committee_of_one_copies_the_nearest_label_of_its_line) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    const bool graph_weighted = seed % 3 != 0, use_weights = seed % 2 == 0;
    const Graph graph = oracle::random_graph({.num_nodes = static_cast<NodeId>(1 + seed % 40),
                                              .num_edges = seed % 90,
                                              .seed = seed,
                                              .weighted = graph_weighted});
    const auto labels = some_labels(graph.num_nodes(), 3, 0.2, seed);
    const Execution execution{.seed = seed};
    Line line = random_line(TreeSampler(graph, TreeKind::rst, execution).tree(0), execution.seed, 0);
    const BatchResult result =
        Wta::fit(graph, labels, 3, {.num_trees = 1, .weighted = use_weights}, execution);
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      const NodeId decider = oracle::nearest_on_line(line, labels, u, use_weights);
      const Prediction answer = result.predictor->predict(u);
      EXPECT_EQ(answer.reached, decider != kNoNode);
      if (decider != kNoNode) {
        EXPECT_EQ(answer.label, labels[decider]);
        EXPECT_EQ(answer.confidence, 1);
      }
    }
  }
}

TEST(Wta, batch_and_online_agree_for_every_tree_kind_in_any_order_of_labels) {
  std::mt19937_64 random(3);
  const TreeKind kinds[] = {TreeKind::rst, TreeKind::nwrst, TreeKind::random_key, TreeKind::mst,
                            TreeKind::spt, TreeKind::dfst,  TreeKind::bfst};
  for (std::uint64_t seed = 0; seed < 70; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph({.num_nodes = static_cast<NodeId>(2 + seed % 50),
                                              .num_edges = seed * 3 % 130,
                                              .seed = seed,
                                              .weighted = seed % 4 != 0});
    const auto labels = some_labels(graph.num_nodes(), 1 + static_cast<int>(seed % 5), 0.3, seed);
    const WtaOptions options{
        .tree = kinds[seed % 7], .num_trees = 1 + static_cast<int>(seed % 6), .weighted = seed % 5 != 0};
    const Execution execution{.seed = seed};
    const BatchResult batch = Wta::fit(graph, labels, 5, options, execution);
    Wta online(graph, options, execution);
    std::vector<NodeId> order;
    for (NodeId u = 0; u < graph.num_nodes(); ++u) order.push_back(u);
    std::shuffle(order.begin(), order.end(), random);
    for (const NodeId u : order) {
      if (labels[u] != kNoLabel)
        online.reveal(u, labels[u]);
      else if (random() % 4 == 0)
        online.reveal(u, static_cast<Label>(random() % 5));  // taken back below
    }
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      if (labels[u] == kNoLabel) online.retract(u);
    }
    expect_same_answers(*batch.predictor, online, graph.num_nodes());
  }
}

TEST(Wta, decides_exactly_where_resistances_range_over_18_orders_of_magnitude) {
  // Resistances are powers of two, so 128-bit integers decide exactly.
  std::mt19937_64 random(1);
  constexpr NodeId n = 3000;
  std::vector<Edge> edges;
  for (NodeId u = 0; u + 1 < n; ++u)
    edges.push_back({u, u + 1, static_cast<Weight>(std::exp2(-static_cast<double>(random() % 60)))});
  const Graph graph = graph_from_edges(n, edges);
  const auto labels = some_labels(n, 2, 0.1, 8);
  const ResistanceScale scale = ResistanceScale::of(graph, true, 1);
  EXPECT_TRUE(scale.wide);
  EXPECT_EQ(scale.num_clamped, 0u);
  const Line line = random_line(TreeSampler(graph, TreeKind::rst, {}).tree(0), Execution{}.seed, 0);
  const BatchResult result = Wta::fit(graph, labels, 2, {.num_trees = 1}, {});
  const auto label_at = [&](NodeId position) { return labels[line.node[position]]; };
  const auto resistance = [&](NodeId position) { return Uint128{1} << -std::ilogb(line.weight[position]); };
  for (NodeId i = 0; i < n; ++i) {
    if (label_at(i) != kNoLabel) continue;
    Uint128 to_left = 0, to_right = 0;
    NodeId left = i, right = i;
    for (; label_at(left) == kNoLabel && left > 0; --left) to_left += resistance(left);
    while (label_at(right) == kNoLabel && right + 1 < n) to_right += resistance(++right);
    const bool has_left = label_at(left) != kNoLabel, has_right = label_at(right) != kNoLabel;
    const Label expected =
        !has_right || (has_left && (to_left < to_right || (to_left == to_right && line.ties_go_left)))
            ? label_at(left)
            : label_at(right);
    EXPECT_EQ(result.predictor->predict(line.node[i]).label, expected) << i;
  }
}

TEST(Wta, explains_by_the_labelled_nodes_that_decided) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 80, .num_edges = 200, .seed = 2, .weighted = true});
  const auto labels = some_labels(80, 3, 0.2, 4);
  Wta learner(graph, {.num_trees = 25}, {});
  for (NodeId u = 0; u < 80; ++u) {
    if (labels[u] != kNoLabel) learner.reveal(u, labels[u]);
  }
  for (NodeId u = 0; u < 80; ++u) {
    if (labels[u] != kNoLabel) continue;
    std::vector<double> share(3), scores(3);
    double total = 0;
    for (const Reason& reason : learner.explain(u)) {
      EXPECT_EQ(labels[reason.node], reason.label);
      EXPECT_GT(reason.resistance, 0);
      share[reason.label] += reason.share;
      total += reason.share;
    }
    learner.scores(u, scores);
    EXPECT_NEAR(total, 1, 1e-12);
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(share[static_cast<std::size_t>(c)], scores[static_cast<std::size_t>(c)], 1e-12);
  }
}

TEST(Wta, does_not_lean_to_one_side_where_distances_are_tied) {
  // Two triangles 0 1 2 and 3 4 5 joined by the edge 2 - 3; 0 and 1 red, 4 and 5 blue. Node 3 touches two
  // blue nodes, node 2 two red ones, but on many lines it is as near to either colour.
  const Graph graph = graph_from_pairs(6, {{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}, {3, 5}, {4, 5}});
  const std::vector<Label> labels{0, 0, kNoLabel, kNoLabel, 1, 1};
  const BatchResult result = Wta::fit(graph, labels, 2, {.num_trees = 1001}, {});
  EXPECT_EQ(result.predictor->predict(2).label, 0);
  EXPECT_EQ(result.predictor->predict(3).label, 1);
}

TEST(Wta, an_interrupted_committee_is_usable_and_says_so) {
  struct StopAfter final : Progress {
    void report(std::string_view, std::uint64_t done, std::uint64_t) override { stop = done >= 5; }
    bool cancelled() const override { return stop; }
    std::atomic<bool> stop = false;
  } progress;
  const Graph graph = oracle::random_connected_graph({.num_nodes = 50, .num_edges = 100, .seed = 2});
  const auto labels = some_labels(50, 2, 0.2, 4);
  const BatchResult result = Wta::fit(graph, labels, 2, {.num_trees = 31}, {.progress = &progress});
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.units_done, 5u);
  const BatchResult five = Wta::fit(graph, labels, 2, {.num_trees = 5}, {});
  for (NodeId u = 0; u < 50; ++u)
    EXPECT_EQ(result.predictor->predict(u).label, five.predictor->predict(u).label);
}

TEST(WtaBounds, hold_on_two_thousand_random_and_adversarial_games) { play_bound_games(0, 2000); }

}  // namespace
}  // namespace copse
