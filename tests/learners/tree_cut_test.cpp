// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/tree_cut.hpp"

#include <gtest/gtest.h>

#include <random>

#include "copse/learners/prior.hpp"
#include "copse/learners/wta.hpp"
#include "learners/cut_credits.hpp"
#include "learners/heavy_paths.hpp"
#include "learners/line_resistance.hpp"
#include "oracle/graphs.hpp"
#include "oracle/tree_cut.hpp"
#include "oracle/trees.hpp"
#include "some_labels.hpp"

namespace copse {
namespace {

/// Random forests whose weights are powers of two, so that sums and reciprocals are exact.
Graph random_forest(NodeId n, double join, bool weighted, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Edge> edges;
  for (NodeId u = 1; u < n; ++u) {
    if (static_cast<double>(random() % 1000) >= join * 1000) continue;
    const auto parent =
        static_cast<NodeId>(seed % 3 == 0 ? u - 1 - random() % std::min<NodeId>(u, 2) : random() % u);
    edges.push_back({u, parent, weighted ? static_cast<Weight>(1 << random() % 3) : Weight{1}});
  }
  return oracle::make_graph(n, edges, weighted);
}

TEST(TreeCut, a_tree_votes_as_the_definitions_say_trying_every_labelling) {
  int num_predicted = 0, num_tied = 0;
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    SCOPED_TRACE(seed);
    const auto num_classes = static_cast<Label>(2 + seed % 2);
    const NodeId n = static_cast<NodeId>(1 + seed % (num_classes == 2 ? 10 : 8));
    const Graph tree = random_forest(n, seed % 5 == 0 ? 0.8 : 1, seed % 2 == 0, seed);
    const auto labels = some_labels(n, num_classes, 0.15 + 0.1 * static_cast<double>(seed % 5), seed);
    const Execution execution{.seed = seed};
    ClassPrior prior;
    for (Label c = 0; c < num_classes; ++c) prior.add(c), prior.remove(c);
    for (const Label label : labels)
      if (label != kNoLabel) prior.add(label);
    const TieOrder ties(seed, 0);
    const oracle::CutOnTree slow(
        tree, labels, num_classes, [&](NodeId a, NodeId b) { return ties.first(a, b); },
        [&](Label a, Label b) { return prior.prefers(a, b); });
    const BatchResult fast = TreeCut::fit(tree, labels, num_classes, {.num_trees = 1}, execution);
    for (NodeId u = 0; u < n; ++u) {
      const Prediction answer = fast.predictor->predict(u);
      const auto expected = slow.vote(u);
      EXPECT_EQ(answer.reached, expected.label != kNoLabel) << u;
      if (expected.label == kNoLabel) continue;
      EXPECT_EQ(answer.label, expected.label) << u;
      num_predicted += labels[u] == kNoLabel;
      num_tied += slow.smallest_cut_classes(u).size() > 1;
    }
  }
  EXPECT_GT(num_predicted, 1000);
  EXPECT_GT(num_tied, 100);  // the test would be idle without ties
}

TEST(TreeCut, a_hinge_takes_the_class_of_the_minimum_cut_and_passes_it_on) {
  // 0 and 1 red on light edges, 2 blue on a heavy one, all at node 3; 4 hangs from 3. Two light edges are
  // cut before one heavy: all blue. With a third red node the cut turns.
  const Graph heavy = graph_from_edges(5, {{0, 3, 1}, {1, 3, 1}, {2, 3, 4}, {3, 4, 1}});
  const BatchResult blue = TreeCut::fit(heavy, std::vector<Label>{0, 0, 1, kNoLabel, kNoLabel}, 2, {}, {});
  EXPECT_EQ(blue.predictor->predict(3).label, 1);
  EXPECT_EQ(blue.predictor->predict(4).label, 1);
  const Graph light = graph_from_edges(5, {{0, 3, 1}, {1, 3, 1}, {2, 3, 1.5F}, {3, 4, 1}});
  const BatchResult red = TreeCut::fit(light, std::vector<Label>{0, 0, 1, kNoLabel, kNoLabel}, 2, {}, {});
  EXPECT_EQ(red.predictor->predict(3).label, 0);
  EXPECT_EQ(red.predictor->predict(4).label, 0);
}

TEST(TreeCut, batch_and_online_agree_for_every_tree_kind_whatever_came_before) {
  std::mt19937_64 random(3);
  const TreeKind kinds[] = {TreeKind::rst, TreeKind::nwrst, TreeKind::random_key, TreeKind::mst,
                            TreeKind::spt, TreeKind::dfst,  TreeKind::bfst};
  for (std::uint64_t seed = 0; seed < 140; ++seed) {
    SCOPED_TRACE(seed);
    const auto n = static_cast<NodeId>(2 + seed % 70);
    const Graph graph =
        seed % 2 == 0
            ? oracle::random_graph(
                  {.num_nodes = n, .num_edges = seed * 3 % 150, .seed = seed, .weighted = seed % 4 != 0})
            : random_forest(n, 0.97, seed % 3 != 0, seed);
    const auto labels = some_labels(n, 1 + static_cast<int>(seed % 5), 0.3, seed);
    const TreeCutOptions options{
        .tree = kinds[seed % 7], .num_trees = 1 + static_cast<int>(seed % 4), .weighted = seed % 5 != 0};
    const Execution execution{.seed = seed};
    TreeCut online(graph, options, execution);
    // A walk through other labellings first: told, changed, taken back.
    std::vector<Label> now(n, kNoLabel);
    for (int step = 0; step < 150; ++step) {
      const auto u = static_cast<NodeId>(random() % n);
      if (random() % 3 != 0)
        online.reveal(u, now[u] = static_cast<Label>(random() % 5));
      else
        online.retract(u), now[u] = kNoLabel;
      if (step % 50 != 49) continue;
      // (Classes that were known once keep a place: the score of a class without a label is 0.)
      expect_same_answers(*TreeCut::fit(graph, now, 5, options, execution).predictor, online, n);
    }
    for (NodeId u = 0; u < n; ++u) {
      if (labels[u] == kNoLabel)
        online.retract(u);
      else
        online.reveal(u, labels[u]);
    }
    expect_same_answers(*TreeCut::fit(graph, labels, 5, options, execution).predictor, online, n);
  }
}

TEST(Committees, multiplying_all_weights_by_a_constant_changes_no_prediction) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto edges =
        oracle::random_connected_edges({.num_nodes = 60, .num_edges = 150, .seed = seed, .weighted = true});
    auto scaled = edges;
    for (Edge& edge : scaled) edge.weight *= 0x1p-40F;
    const Graph graph = graph_from_edges(60, edges), other = graph_from_edges(60, scaled);
    const auto labels = some_labels(60, 3, 0.15, seed);
    for (const auto fit : {Wta::fit, TreeCut::fit})
      expect_same_answers(*fit(graph, labels, 3, {.num_trees = 7}, {.seed = seed}).predictor,
                          *fit(other, labels, 3, {.num_trees = 7}, {.seed = seed}).predictor, 60);
  }
}

TEST(TreeCut, agrees_with_itself_where_weights_range_over_18_orders_of_magnitude) {
  std::mt19937_64 random(1);
  constexpr NodeId n = 2000;
  std::vector<Edge> edges;
  for (NodeId u = 1; u < n; ++u)
    edges.push_back({u, static_cast<NodeId>(random() % u),
                     static_cast<Weight>(std::exp2(-static_cast<double>(random() % 60)))});
  const Graph graph = graph_from_edges(n, edges);
  EXPECT_TRUE(ResistanceScale::of(graph, true, 1).wide);
  const auto labels = some_labels(n, 4, 0.1, 8);
  TreeCut online(graph, {.num_trees = 1}, {});
  for (NodeId u = n; u-- > 0;)
    if (labels[u] != kNoLabel) online.reveal(u, labels[u]);
  expect_same_answers(*TreeCut::fit(graph, labels, 4, {.num_trees = 1}, {}).predictor, online, n);
}

/// A path with a leaf at every node, light and heavy edges at random: every node of the path is a meeting
/// place.
Graph caterpillar(NodeId length, bool weighted, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Edge> edges;
  const auto weight = [&] { return weighted ? static_cast<Weight>(1 << random() % 4) : Weight{1}; };
  for (NodeId u = 0; u < length; ++u) {
    if (u > 0) edges.push_back({u - 1, u, weight()});
    edges.push_back({u, length + u, weight()});
  }
  return oracle::make_graph(2 * length, edges, weighted);
}

TEST(TreeCut, long_ways_of_meeting_places_answer_as_the_batch_does) {
  constexpr NodeId length = 120, n = 2 * length;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const Graph graph =
        seed % 3 == 0 ? random_forest(n, 1, seed % 2 == 0, seed) : caterpillar(length, seed % 2 == 0, seed);
    const auto num_classes = static_cast<Label>(2 + seed % 4);
    TreeCut online(graph, {.num_trees = 1}, {.seed = seed});
    std::vector<Label> now(n, kNoLabel);
    // Long runs of one class, or of two that take turns, so that what comes from far above matters or not.
    for (NodeId u = seed % 3 == 0 ? 0 : length; u < n; ++u) {
      if (random() % 8 == 0) continue;
      const NodeId run = u / (seed % 5 == 0 ? 1 : 13);
      now[u] = static_cast<Label>(random() % 10 == 0 ? random() % num_classes : run % num_classes);
      online.reveal(u, now[u]);
    }
    expect_same_answers(*TreeCut::fit(graph, now, num_classes, {.num_trees = 1}, {.seed = seed}).predictor,
                        online, n);
  }
}

TEST(TreeCut, survives_a_path_and_a_star_of_many_nodes) {
  constexpr NodeId n = 60'000;
  for (const Graph& graph : {oracle::path(n), oracle::star(n)}) {
    const auto labels = some_labels(n, 3, 0.05, 4);
    TreeCut online(graph, {.num_trees = 1}, {});
    for (NodeId u = 0; u < n; ++u)
      if (labels[u] != kNoLabel) online.reveal(u, labels[u]);
    const BatchResult batch = TreeCut::fit(graph, labels, 3, {.num_trees = 1}, {});
    for (NodeId u = 0; u < n; u += 97) EXPECT_EQ(batch.predictor->predict(u).label, online.predict(u).label);
  }
}

TEST(TreeCut, explains_by_labelled_nodes_of_the_class_that_won) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 80, .num_edges = 200, .seed = 2, .weighted = true});
  const auto labels = some_labels(80, 3, 0.2, 4);
  TreeCut learner(graph, {.num_trees = 25}, {});
  for (NodeId u = 0; u < 80; ++u)
    if (labels[u] != kNoLabel) learner.reveal(u, labels[u]);
  for (NodeId u = 0; u < 80; ++u) {
    if (labels[u] != kNoLabel) continue;
    std::vector<double> share(3), scores(3);
    for (const Reason& reason : learner.explain(u)) {
      EXPECT_EQ(labels[reason.node], reason.label);
      EXPECT_GT(reason.resistance, 0);
      share[reason.label] += reason.share;
    }
    learner.scores(u, scores);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(share[c], scores[c], 1e-12);
  }
}

TEST(HeavyPaths, ancestors_ranges_and_smallest_weights_are_those_of_climbing) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const auto n = static_cast<NodeId>(1 + seed * 13 % 300);
    const Graph graph = random_forest(n, 0.98, seed % 2 == 0, seed);
    const SpanningForest forest = TreeSampler(graph, TreeKind::rst, {.seed = seed}).tree(0);
    const HeavyPaths paths(forest);
    std::vector<NodeId> parent(n, kNoNode);  // by node
    std::vector<Weight> weight(n, 0);
    for (NodeId rank = 0; rank < n; ++rank) {
      if (forest.is_root(rank)) continue;
      parent[forest.node[rank]] = forest.node[forest.parent[rank]];
      weight[forest.node[rank]] = forest.edge_weight(rank);
    }
    for (NodeId u = 0; u < n; ++u) {
      std::vector<Weight> smallest(n, -1);  // on the way up from u
      Weight low = std::numeric_limits<Weight>::infinity();
      for (NodeId a = u; a != kNoNode; low = std::min(low, weight[a]), a = parent[a]) smallest[a] = low;
      for (NodeId v = 0; v < n; v += 1 + n / 40) {
        NodeId meet = v;
        while (meet != kNoNode && smallest[meet] < 0) meet = parent[meet];
        const NodeId found = paths.common_ancestor(paths.position(u), paths.position(v));
        EXPECT_EQ(found == kNoNode ? kNoNode : paths.node(found), meet);
        const bool is_above = smallest[v] >= 0;
        EXPECT_EQ(is_above,
                  paths.position(v) <= paths.position(u) && paths.position(u) < paths.end(paths.position(v)));
        if (is_above && u != v) {
          EXPECT_EQ(paths.smallest_weight(paths.position(u), paths.position(v)), smallest[v]);
        }
      }
    }
  }
}

TEST(RangeMinimum, is_the_smallest_of_the_range) {
  std::mt19937_64 random(1);
  Buffer<Weight> values(9000);
  for (Weight& value : values) value = static_cast<Weight>(random() % 100000);
  const RangeMinimum<Weight> minimum(values.span());
  for (int trial = 0; trial < 3000; ++trial) {
    const std::size_t begin = random() % 9000, end = begin + 1 + random() % (9000 - begin);
    Weight expected = std::numeric_limits<Weight>::infinity();
    for (std::size_t i = begin; i < end; ++i) expected = std::min(expected, values[i]);
    EXPECT_EQ(minimum.minimum(begin, end), expected);
  }
}

}  // namespace
}  // namespace copse
