// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/forest_committee.hpp"

#include <gtest/gtest.h>

#include "copse/learners/tree_cut.hpp"
#include "copse/learners/wta.hpp"
#include "copse/trees/forest_builder.hpp"
#include "oracle/graphs.hpp"
#include "oracle/trees.hpp"

namespace copse {
namespace {

constexpr NodeId kNodes = 400;
constexpr std::uint32_t kTrees = 7;
constexpr std::size_t kClasses = 3;

struct Streamed {
  std::vector<NodeId> u, v;
  std::vector<Weight> weight;
  WeightRange range;

  explicit Streamed(const GraphView& graph) {
    for (const Edge& edge : oracle::edge_list(graph)) {
      u.push_back(edge.u);
      v.push_back(edge.v);
      if (graph.is_weighted()) weight.push_back(edge.weight), range.add(edge.weight);
    }
  }
  std::vector<SpanningForest> forests(std::uint64_t seed) const {
    ForestBuilder builder(kNodes, !weight.empty(), {.seed = seed, .first = 0, .count = kTrees},
                          weight.empty() ? 0.3 : 0.1, {.seed = seed});
    for (; !builder.is_done(); builder.end_scan()) builder.add(EdgeBlock<NodeId>{u, v, weight});
    std::vector<SpanningForest> result;
    for (std::uint32_t t = 0; t < kTrees; ++t) result.push_back(builder.take_forest(t));
    return result;
  }
};

TEST(ForestCommittee, answers_as_the_learner_in_memory_bit_for_bit) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    const bool weighted = seed % 2 == 1;
    const Graph graph = oracle::random_graph(
        {.num_nodes = kNodes, .num_edges = 300 + 400 * seed, .seed = seed, .weighted = weighted});
    std::vector<Label> labels(kNodes, kNoLabel);
    for (NodeId u = 0; u < kNodes; u += 9) labels[u] = static_cast<Label>(u / 9 % kClasses);
    const Streamed stream(graph);
    const Execution execution{.seed = seed, .threads = seed % 3 == 0 ? 4 : 1};
    // Trees of weighted keys may measure without weights: they come without them, and so does the range.
    const bool measures_weights = seed != 3;
    const WeightRange range = measures_weights ? stream.range : WeightRange{};
    const auto forests_that_vote = [&] {
      std::vector<SpanningForest> forests = stream.forests(seed);
      for (SpanningForest& forest : forests)
        if (!measures_weights) forest.weight = {};
      return forests;
    };
    const CommitteeOptions options{
        .tree = TreeKind::random_key, .num_trees = kTrees, .weighted = measures_weights};
    ClassPrior prior;
    for (const Label label : labels)
      if (label != kNoLabel) prior.add(label);

    for (const ForestRule rule : {ForestRule::wta, ForestRule::tree_cut}) {
      const BatchResult expected = rule == ForestRule::wta
                                       ? Wta::fit(graph, labels, kClasses, options, execution)
                                       : TreeCut::fit(graph, labels, kClasses, options, execution);
      ForestCommittee committee(rule, labels, kClasses, kTrees, range, execution);
      std::vector<SpanningForest> forests = forests_that_vote();
      for (std::uint32_t t = kTrees; t-- > 0;) committee.vote(t, std::move(forests[t]));
      const BatchResult result = committee.finish();
      EXPECT_EQ(result.units_done, kTrees);

      std::vector<TreeVotes> votes;
      forests = forests_that_vote();
      for (std::uint32_t t = 0; t < kTrees; ++t)
        votes.push_back(votes_of_tree(rule, std::move(forests[t]), t, labels, kClasses, range, execution));
      for (NodeId node = 0; node < kNodes; ++node) {
        const Prediction want = expected.predictor->predict(node), have = result.predictor->predict(node);
        ASSERT_EQ(have, want) << node;
        std::vector<double> a(kClasses), b(kClasses);
        expected.predictor->scores(node, a);
        result.predictor->scores(node, b);
        ASSERT_EQ(a, b) << node;
        if (labels[node] != kNoLabel) continue;
        std::vector<Label> of_trees;
        std::vector<std::uint16_t> nearness;
        for (const TreeVotes& tree : votes) {
          of_trees.push_back(tree.label[node]);
          nearness.push_back(tree.nearness[node]);
        }
        ASSERT_EQ(decide_votes(of_trees, nearness, prior), want) << node;
      }
    }
  }
}

TEST(ForestCommittee, of_fewer_trees_than_announced_is_a_smaller_committee_and_says_so) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = kNodes, .num_edges = 900, .seed = 1});
  std::vector<Label> labels(kNodes, kNoLabel);
  labels[0] = 0, labels[5] = 1;
  ForestCommittee committee(ForestRule::wta, labels, 2, kTrees, {}, {.seed = 1});
  committee.vote(3, std::move(Streamed(graph).forests(1)[3]));
  const BatchResult result = committee.finish();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.predictor->predict(7).confidence, 1);
}

}  // namespace
}  // namespace copse
