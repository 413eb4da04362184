// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/tree_committee.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "copse/learners/label_propagation.hpp"
#include "copse/learners/tree_cut.hpp"
#include "copse/learners/wta.hpp"
#include "copse/support/error.hpp"
#include "oracle/changes.hpp"
#include "some_labels.hpp"

namespace copse {
namespace {

CommitteeOptions by_keys(bool weighted = true) {
  return {.tree = TreeKind::random_key, .num_trees = 5, .weighted = weighted};
}

template <class Committee>
void expect_answers_of_a_new_one(const Committee& changed, const Graph& now, std::span<const Label> labels,
                                 const CommitteeOptions& options, const Execution& execution) {
  Committee made(now, options, execution);
  made.reveal_all(labels);
  expect_same_answers(changed, made, now.num_nodes());
  for (NodeId node = 0; node < now.num_nodes(); ++node) {
    const auto reasons = changed.explain(node), expected = made.explain(node);
    ASSERT_EQ(reasons.size(), expected.size());
    for (std::size_t i = 0; i < reasons.size(); ++i) ASSERT_EQ(reasons[i].resistance, expected[i].resistance);
  }
  const auto left = changed.leave_one_out(execution), expected = made.leave_one_out(execution);
  EXPECT_EQ(left->nodes, expected->nodes);
  EXPECT_EQ(left->raw_scores, expected->raw_scores);
}

/// Edges, nodes and labels come and go; some rounds ask in between, some do not.
template <class Committee>
void play_changes(std::uint64_t seed, bool weighted) {
  oracle::Changes changes(
      {.num_nodes = 30, .num_edges = 30 + seed % 3 * 20, .seed = seed, .weighted = seed % 2 == 0});
  const Graph start = changes.graph();
  const Execution execution{.seed = seed, .threads = static_cast<int>(1 + seed % 3)};
  Committee committee(start, by_keys(weighted), execution);
  std::vector<Label> labels(start.num_nodes(), kNoLabel);
  for (int round = 0; round < 8; ++round) {
    SCOPED_TRACE(round);
    for (std::uint64_t i = changes.random() % 6; i-- > 0;) {
      changes.step(committee);
      labels.resize(changes.num_nodes, kNoLabel);
      ASSERT_EQ(committee.num_nodes(), changes.num_nodes);
      const auto node = static_cast<NodeId>(changes.random() % changes.num_nodes);
      labels[node] = changes.random() % 4 == 0 ? kNoLabel : static_cast<Label>(changes.random() % 3);
      if (labels[node] == kNoLabel)
        committee.retract(node);
      else
        committee.reveal(node, labels[node]);
    }
    expect_answers_of_a_new_one(committee, changes.graph(), labels, by_keys(weighted), execution);
  }
}

TEST(TreeCommittee, answers_as_one_made_for_the_changed_graph) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    play_changes<Wta>(seed, seed % 4 != 0);
    play_changes<TreeCut>(seed, seed % 4 != 0);
  }
}

TEST(TreeCommittee, is_mended_once_by_whoever_asks_first) {
  oracle::Changes changes({.num_nodes = 200, .num_edges = 400, .seed = 4});
  const Graph start = changes.graph();
  Wta committee(start, by_keys(), {.seed = 3});
  std::vector<Label> labels(200, kNoLabel);
  for (NodeId node = 0; node < 200; node += 9) committee.reveal(node, labels[node] = node % 3);
  for (int i = 0; i < 50; ++i) changes.step(committee);
  labels.resize(changes.num_nodes, kNoLabel);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { committee.predict(1); });
  for (std::thread& thread : threads) thread.join();
  expect_answers_of_a_new_one(committee, changes.graph(), labels, by_keys(), {.seed = 3});
}

TEST(TreeCommittee, refuses_what_cannot_be_and_stays_as_it_was) {
  const Graph graph = graph_from_pairs(4, {{0, 1}, {1, 2}, {2, 3}});
  Wta committee(graph, by_keys(), {});
  EXPECT_THROW(committee.add_edge(0, 4), UsageError);
  EXPECT_THROW(committee.add_edge(kNoNode, 0), UsageError);
  EXPECT_THROW(committee.add_edge(2, 2), UsageError);
  EXPECT_THROW(committee.add_edge(0, 2, 0.5), UsageError);  // the graph has no weights
  EXPECT_THROW(committee.remove_edge(0, 2), UsageError);
  const Graph weighted = graph_from_edges(3, {{0, 1, 2}});
  Wta with_weights(weighted, by_keys(), {});
  for (const Weight weight : {Weight{0}, Weight{-1}, std::numeric_limits<Weight>::infinity(),
                              std::numeric_limits<Weight>::quiet_NaN()})
    EXPECT_THROW(with_weights.add_edge(0, 2, weight), UsageError);
  Wta of_walks(graph, {}, {});
  EXPECT_THROW(of_walks.add_edge(0, 2), UsageError);
  EXPECT_THROW(of_walks.add_node(), UsageError);
  const Graph with_signs = graph_from_signed_edges(3, {{0, 1, -1}, {1, 2, 1}});
  Wta signed_committee(with_signs, by_keys(), {});
  EXPECT_THROW(signed_committee.add_edge(0, 2), UsageError);
  LabelPropagation other(graph, {}, {});
  EXPECT_THROW(changing_committee(other), UsageError);
  committee.reveal(0, 1);
  EXPECT_TRUE(changing_committee(committee).predict(3).reached);
}

TEST(TreeCommittee, follows_components_as_they_part_and_meet) {
  const Graph graph = graph_from_pairs(4, {{0, 1}, {1, 2}, {2, 3}});
  TreeCut committee(graph, by_keys(), {});
  committee.reveal(0, 1);
  EXPECT_TRUE(committee.predict(3).reached);
  committee.remove_edge(1, 2);
  EXPECT_FALSE(committee.predict(3).reached);
  const NodeId bridge = committee.add_node();
  EXPECT_FALSE(committee.predict(bridge).reached);
  committee.add_edge(bridge, 1);
  committee.add_edge(bridge, 3);
  EXPECT_TRUE(committee.predict(3).reached);
  EXPECT_EQ(committee.num_nodes(), 5u);
}

}  // namespace
}  // namespace copse
