// SPDX-License-Identifier: Apache-2.0
// What every learner promises, for every row of the registry on every kind of graph.

#include <gtest/gtest.h>

#include <random>

#include "copse/learners/registry.hpp"
#include "copse/support/parallel.hpp"
#include "oracle/graphs.hpp"
#include "some_labels.hpp"

namespace copse {
namespace {

struct Case {
  const char* name;
  Graph graph;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"path", oracle::path(12)});
  all.push_back({"star", oracle::star(9)});
  all.push_back({"complete", oracle::complete(7)});
  all.push_back({"single node", graph_from_pairs(1, {})});
  all.push_back({"no edges", graph_from_pairs(4, {})});
  all.push_back({"disconnected", oracle::random_graph({.num_nodes = 30, .num_edges = 25, .seed = 3})});
  all.push_back({"weighted", oracle::random_connected_graph(
                                 {.num_nodes = 40, .num_edges = 90, .seed = 5, .weighted = true})});
  all.push_back({"weighted, disconnected",
                 oracle::random_graph({.num_nodes = 40, .num_edges = 45, .seed = 6, .weighted = true})});
  return all;
}

std::vector<Label> labels_by_seed(NodeId n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Label> labels(n, kNoLabel);
  for (Label& label : labels) {
    if (random() % 3 == 0) label = static_cast<Label>(random() % 3);
  }
  return labels;
}

class Contract : public testing::TestWithParam<LearnerRow> {};

TEST_P(Contract, has_a_row_that_can_be_read) {
  const LearnerRow& row = GetParam();
  EXPECT_FALSE(row.idea.empty() || row.cost.empty() || row.paper.empty());
  for (const OptionInfo& option : row.options)
    EXPECT_FALSE(option.help.empty() || option.type.empty() || option.default_value.empty()) << option.name;
  EXPECT_EQ(&learner_row(row.name), &learner_row(row.name));
}

TEST_P(Contract, same_seed_same_answer_on_any_number_of_threads) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto labels = labels_by_seed(c.graph.num_nodes(), 1);
    const auto one = GetParam().fit(c.graph, labels, 3, {}, {.seed = 9, .threads = 1});
    const auto four = GetParam().fit(c.graph, labels, 3, {}, {.seed = 9, .threads = 4});
    expect_same_answers(*one.predictor, *four.predictor, c.graph.num_nodes());
  }
}

TEST_P(Contract, given_labels_stay_and_scores_are_a_distribution) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto labels = labels_by_seed(c.graph.num_nodes(), 2);
    const bool any = std::ranges::any_of(labels, [](Label l) { return l != kNoLabel; });
    const auto result = GetParam().fit(c.graph, labels, 4, {}, {});
    std::vector<double> scores(4);
    for (NodeId u = 0; u < c.graph.num_nodes(); ++u) {
      const Prediction answer = result.predictor->predict(u);
      result.predictor->scores(u, scores);
      double sum = 0;
      for (const double score : scores) {
        EXPECT_GE(score, 0);
        sum += score;
      }
      if (!any) {
        EXPECT_EQ(answer.label, kNoLabel);
        EXPECT_FALSE(answer.reached);
        EXPECT_EQ(sum, 0);
        continue;
      }
      EXPECT_NEAR(sum, 1, 1e-9);
      EXPECT_NEAR(scores[answer.label], answer.confidence, 1e-12);
      EXPECT_EQ(*std::max_element(scores.begin(), scores.end()), scores[answer.label]);
      if (labels[u] != kNoLabel) {
        EXPECT_EQ(answer.label, labels[u]);
        EXPECT_EQ(answer.confidence, 1);
      }
    }
  }
}

TEST_P(Contract, an_unlabelled_start_has_no_answer_and_predict_changes_nothing) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto learner = GetParam().make(c.graph, {}, {});
    EXPECT_EQ(learner->predict(0).label, kNoLabel);
    EXPECT_TRUE(learner->explain(0).empty());
    learner->reveal(0, 2);
    const auto before = answers(*learner, c.graph.num_nodes());
    EXPECT_EQ(before, answers(*learner, c.graph.num_nodes()));
  }
}

TEST_P(Contract, batch_and_online_agree_for_the_same_labels_in_any_order) {
  if (GetParam().depends_on_order) return;
  std::mt19937_64 random(1);
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto labels = labels_by_seed(c.graph.num_nodes(), 3);
    const auto batch = GetParam().fit(c.graph, labels, 3, {}, {.seed = 4});
    const auto learner = GetParam().make(c.graph, {}, {.seed = 4});
    std::vector<NodeId> order;
    for (NodeId u = 0; u < c.graph.num_nodes(); ++u) {
      if (labels[u] != kNoLabel) order.push_back(u);
    }
    std::shuffle(order.begin(), order.end(), random);
    for (const NodeId u : order) learner->reveal(u, labels[u]);
    expect_same_answers(*batch.predictor, *learner, c.graph.num_nodes());
  }
}

TEST_P(Contract, retract_undoes_reveal_exactly) {
  if (GetParam().depends_on_order) return;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto labels = labels_by_seed(c.graph.num_nodes(), 4);
    const auto learner = GetParam().make(c.graph, {}, {});
    for (NodeId u = 0; u < c.graph.num_nodes(); ++u) {
      if (labels[u] != kNoLabel) learner->reveal(u, labels[u]);
    }
    const auto before = answers(*learner, c.graph.num_nodes());
    for (NodeId u = 0; u < c.graph.num_nodes(); ++u) {
      learner->reveal(u, 1);
      learner->reveal(u, 0);  // a changed label replaces the old one
      learner->retract(u);
      learner->retract(u);  // twice is once
      if (labels[u] != kNoLabel) learner->reveal(u, labels[u]);
    }
    EXPECT_EQ(before, answers(*learner, c.graph.num_nodes()));
  }
}

TEST_P(Contract, a_node_that_no_label_reaches_gets_the_prior_and_is_flagged) {
  // Two components; labels only in the first, class 1 more often than class 0.
  const Graph graph = graph_from_pairs(7, {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 6}});
  std::vector<Label> labels(7, kNoLabel);
  labels[0] = 0, labels[1] = labels[2] = 1;
  const auto result = GetParam().fit(graph, labels, 2, {}, {});
  std::vector<double> scores(2);
  for (NodeId u = 4; u < 7; ++u) {
    EXPECT_FALSE(result.predictor->predict(u).reached);
    EXPECT_EQ(result.predictor->predict(u).label, 1);
    result.predictor->scores(u, scores);
    EXPECT_NEAR(scores[1], 2.0 / 3, 1e-12);
  }
  EXPECT_TRUE(result.predictor->predict(3).reached);
}

TEST_P(Contract, unknown_and_bad_options_say_what_is_known) {
  const Graph graph = oracle::path(3);
  try {
    GetParam().make(graph, {{"no_such_option", "1"}}, {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().options.front().name), std::string::npos);
  }
  for (const OptionInfo& option : GetParam().options) {
    EXPECT_THROW(GetParam().make(graph, {{option.name, "nonsense"}}, {}), UsageError) << option.name;
    if (option.range.empty()) continue;
    try {
      GetParam().make(graph, {{option.name, "-1000000"}}, {});
      FAIL() << option.name;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(option.range), std::string::npos) << error.what();
    }
  }
}

TEST_P(Contract, splitting_an_edge_into_parallel_ones_changes_nothing) {
  // build_graph adds parallel conductors, so the graph, and all that follows, must be the same.
  const Graph whole = graph_from_edges(4, {{0, 1, 2}, {1, 2, 3}, {2, 3, 1}, {0, 3, 1}});
  const Graph split =
      graph_from_edges(4, {{0, 1, 1}, {1, 0, 1}, {1, 2, 3}, {2, 3, 0.25F}, {2, 3, 0.75F}, {0, 3, 1}});
  std::vector<Label> labels{0, kNoLabel, 1, kNoLabel};
  const auto a = GetParam().fit(whole, labels, 2, {}, {}), b = GetParam().fit(split, labels, 2, {}, {});
  expect_same_answers(*a.predictor, *b.predictor, 4);
}

TEST_P(Contract, multiplying_all_weights_by_a_constant_changes_no_prediction) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const auto edges =
        oracle::random_connected_edges({.num_nodes = 50, .num_edges = 120, .seed = seed, .weighted = true});
    auto scaled = edges;
    for (Edge& edge : scaled) edge.weight *= 0x1p-30F;
    const auto labels = labels_by_seed(50, seed);
    const Graph one = graph_from_edges(50, edges), other = graph_from_edges(50, scaled);
    const auto a = GetParam().fit(one, labels, 3, {}, {}), b = GetParam().fit(other, labels, 3, {}, {});
    for (NodeId u = 0; u < 50; ++u) {
      EXPECT_EQ(a.predictor->predict(u).label, b.predictor->predict(u).label);
      EXPECT_NEAR(a.predictor->predict(u).confidence, b.predictor->predict(u).confidence, 1e-6);
    }
  }
}

TEST_P(Contract, any_number_of_threads_may_ask_at_once) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 300, .num_edges = 900, .seed = 5, .weighted = true});
  const auto labels = labels_by_seed(300, 7);
  const auto one = GetParam().make(graph, {}, {}), many = GetParam().make(graph, {}, {});
  for (NodeId u = 0; u < 300; ++u) {
    if (labels[u] == kNoLabel) continue;
    one->reveal(u, labels[u]);
    many->reveal(u, labels[u]);
  }
  std::vector<Prediction> asked(300);
  parallel_for(4, 300, [&](std::size_t u) { asked[u] = many->predict(static_cast<NodeId>(u)); });
  EXPECT_EQ(asked, answers(*one, 300));
}

TEST_P(Contract, explains_by_labelled_nodes_most_important_first) {
  const Graph graph = oracle::random_graph({.num_nodes = 60, .num_edges = 90, .seed = 8, .weighted = true});
  const auto labels = labels_by_seed(60, 9);
  const auto learner = GetParam().make(graph, {}, {});
  for (NodeId u = 0; u < 60; ++u)
    if (labels[u] != kNoLabel) learner->reveal(u, labels[u]);
  for (NodeId u = 0; u < 60; ++u) {
    const Prediction answer = learner->predict(u);
    if (labels[u] != kNoLabel) continue;
    const auto reasons = learner->explain(u);
    EXPECT_EQ(reasons.empty(), !answer.reached) << u;
    double total = 0, last = 1 + 1e-9;
    for (const Reason& reason : reasons) {
      EXPECT_EQ(reason.label, labels[reason.node]);
      EXPECT_GT(reason.share, 0);
      EXPECT_LE(reason.share, last);
      EXPECT_GT(reason.resistance, 0);
      last = reason.share;
      total += reason.share;
    }
    EXPECT_LE(total, 1 + 1e-9);
  }
}

TEST_P(Contract, says_how_much_memory_it_takes) {
  const auto bytes = [&](std::uint64_t nodes) {
    return GetParam().bytes({nodes, 16 * nodes, true, 5, 2}, {});
  };
  EXPECT_GT(bytes(1000), 0u);
  EXPECT_EQ(bytes(200'000'000'000), 200 * bytes(1'000'000'000));  // linear, and no overflow
}

TEST_P(Contract, has_the_defaults_that_its_options_are_described_with) {
  OptionValues described;
  for (const OptionInfo& option : GetParam().options) described[option.name] = option.default_value;
  const Graph graph = oracle::random_graph({.num_nodes = 60, .num_edges = 90, .seed = 4, .weighted = true});
  const auto labels = some_labels(60, 3, 0.2, 4);
  const auto plain = GetParam().fit(graph, labels, 3, {}, {}),
             told = GetParam().fit(graph, labels, 3, described, {});
  expect_same_answers(*plain.predictor, *told.predictor, 60);
}

INSTANTIATE_TEST_SUITE_P(Learners, Contract, testing::ValuesIn(learner_rows()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace copse
