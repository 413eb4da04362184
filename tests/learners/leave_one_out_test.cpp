// SPDX-License-Identifier: Apache-2.0
// What labelled nodes are answered without their own label, beside the same learner that was never told it.

#include <gtest/gtest.h>

#include <cmath>

#include "copse/graph/components.hpp"
#include "copse/learners/registry.hpp"
#include "oracle/graphs.hpp"
#include "oracle/signed.hpp"
#include "some_labels.hpp"

namespace copse {
namespace {

/// Options under which an answer depends on the labels as the closed form says: no shift, which is stretched
/// as in the full fit. And the solver's best.
OptionValues plain(const LearnerRow& row) {
  OptionValues values;
  if (row.name == "label_propagation") values["shift"] = "none";
  for (const OptionInfo& option : row.options)
    if (option.name == "tolerance") values["tolerance"] = "1e-12";
  return values;
}

std::vector<NodeId> nodes_another_label_reaches(const Graph& graph, const std::vector<Label>& labels) {
  const Components components = connected_components(graph);
  std::vector<int> count(components.count());
  for (NodeId u = 0; u < labels.size(); ++u) count[components.of_node[u]] += labels[u] != kNoLabel;
  std::vector<NodeId> nodes;
  for (NodeId u = 0; u < labels.size(); ++u)
    if (labels[u] != kNoLabel && count[components.of_node[u]] > 1) nodes.push_back(u);
  return nodes;
}

std::vector<NodeId> nodes_with_a_labelled_neighbour(const Graph& graph, const std::vector<Label>& labels) {
  std::vector<NodeId> nodes;
  for (NodeId u = 0; u < labels.size(); ++u)
    if (labels[u] != kNoLabel &&
        std::ranges::any_of(graph.view().neighbors_of(u), [&](NodeId v) { return labels[v] != kNoLabel; }))
      nodes.push_back(u);
  return nodes;
}

std::vector<double> refitted(const LearnerRow& row, const Graph& graph, std::vector<Label> labels,
                             NodeId node, std::size_t num_classes, const Execution& execution) {
  labels[node] = kNoLabel;
  std::vector<double> scores(num_classes);
  row.fit(graph, labels, num_classes, plain(row), execution).predictor->raw_scores(node, scores);
  return scores;
}

class LeaveOneOutContract : public testing::TestWithParam<LearnerRow> {};

TEST_P(LeaveOneOutContract, is_what_a_fit_without_the_label_answers) {
  // What auto gives its members, and embedding its weights, is decided once, by all labels: see their tests.
  if (GetParam().name == "auto" || GetParam().name == "embedding") return;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph({.num_nodes = static_cast<NodeId>(10 + 9 * seed),
                                              .num_edges = 12 + 14 * seed,
                                              .seed = seed,
                                              .weighted = seed % 3 != 0});
    const auto labels = some_labels(graph.num_nodes(), 3, 0.3, seed);
    const Execution execution{.seed = seed};
    const auto fitted = GetParam().fit(graph, labels, 4, plain(GetParam()), execution);
    const std::optional<LeaveOneOut> left_out = fitted.predictor->leave_one_out(execution);
    if (!left_out) return;  // it would have to be fitted again
    EXPECT_FALSE(left_out->is_sampled);
    EXPECT_EQ(left_out->nodes, GetParam().name == "majority_vote"
                                   ? nodes_with_a_labelled_neighbour(graph, labels)
                                   : nodes_another_label_reaches(graph, labels));
    ASSERT_EQ(left_out->raw_scores.size(), 4 * left_out->nodes.size());
    for (std::size_t i = 0; i < left_out->nodes.size(); ++i) {
      const auto scores = refitted(GetParam(), graph, labels, left_out->nodes[i], 4, execution);
      for (std::size_t c = 0; c < 4; ++c)
        EXPECT_NEAR(left_out->raw_scores[4 * i + c], scores[c], 1e-7) << left_out->nodes[i] << " " << c;
    }
  }
}

TEST_P(LeaveOneOutContract, online_and_batch_say_the_same_on_any_number_of_threads) {
  const Graph graph = oracle::random_graph({.num_nodes = 400, .num_edges = 900, .seed = 3, .weighted = true});
  const auto labels = some_labels(400, 3, 0.3, 5);
  const auto learner = GetParam().make(graph, {}, {.seed = 7});
  for (NodeId u = 0; u < 400; ++u)
    if (labels[u] != kNoLabel) learner->reveal(u, labels[u]);
  const auto online = learner->leave_one_out({.seed = 7});
  for (const int threads : {1, 2, 4, 8}) {
    SCOPED_TRACE(threads);
    const Execution execution{.seed = 7, .threads = threads};
    const auto fitted = GetParam().fit(graph, labels, 3, {}, execution);
    const auto once = fitted.predictor->leave_one_out(execution),
               again = fitted.predictor->leave_one_out(execution);
    ASSERT_EQ(once.has_value(), online.has_value());
    if (!once) continue;
    for (const auto& other : {online, again}) {
      EXPECT_EQ(once->nodes, other->nodes);
      EXPECT_EQ(once->raw_scores, other->raw_scores);  // the same bits
      EXPECT_EQ(once->is_sampled, other->is_sampled);
    }
  }
}

TEST_P(LeaveOneOutContract, is_nothing_where_there_is_no_other_label) {
  const Graph graph = graph_from_pairs(7, {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 6}});
  std::vector<Label> labels(7, kNoLabel);
  const auto left_out = [&] { return GetParam().fit(graph, labels, 2, {}, {}).predictor->leave_one_out({}); };
  if (!left_out()) return;  // it would have to be fitted again
  EXPECT_TRUE(left_out()->nodes.empty());
  labels[0] = 0, labels[4] = 1;  // one per component
  EXPECT_TRUE(left_out()->nodes.empty());
  labels[1] = 1;
  EXPECT_EQ(left_out()->nodes, (std::vector<NodeId>{0, 1}));
  EXPECT_EQ(left_out()->raw_scores.size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Learners, LeaveOneOutContract, testing::ValuesIn(learner_rows()),
                         [](const auto& row) { return row.param.name; });

/// Without its label a node is at y - residual / share, where the share is a probability: forests know it as
/// the mean of at least 30 numbers between 0 and 1.
void expect_sampled_shares(const std::string& name, bool is_residual_of_neighbours) {
  const LearnerRow& row = learner_row(name);
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 600, .num_edges = 1800, .seed = 11, .weighted = true});
  const auto labels = some_labels(600, 3, 0.3, 2);
  const auto fitted = row.fit(graph, labels, 3, plain(row), {});
  const auto sampled = fitted.predictor->leave_one_out({.seed = 4});
  ASSERT_TRUE(sampled->is_sampled);
  const auto raw_score = [&](NodeId node, Label label) {
    std::vector<double> scores(3);
    fitted.predictor->raw_scores(node, scores);
    return scores[label];
  };
  double bias = 0, variance = 0;
  for (std::size_t i = 0; i < sampled->nodes.size(); ++i) {
    const NodeId node = sampled->nodes[i];
    const Label own = labels[node];
    double residual = 1 - raw_score(node, own);
    if (is_residual_of_neighbours) {
      residual = 0;
      for (EdgeIndex arc = graph.view().offsets[node]; arc < graph.view().offsets[node + 1]; ++arc)
        residual += graph.view().weight(arc) * (1 - raw_score(graph.view().neighbors[arc], own)) /
                    weighted_degree(graph, node);
    }
    if (residual < 1e-9) continue;  // all around it agrees: the share does not matter
    const double share = residual / (1 - refitted(row, graph, labels, node, 3, {})[own]),
                 estimate = residual / (1 - sampled->raw_scores[3 * i + own]);
    const double most = std::max(0.0, share * (1 - share)) / 30;  // variance, were each of the numbers 0 or 1
    EXPECT_NEAR(estimate, share, 5 * std::sqrt(most) + 1e-6) << node;
    bias += estimate - share;
    variance += most;
  }
  EXPECT_LT(std::fabs(bias), 4 * std::sqrt(variance));
}

TEST(SampledLeaveOneOut, of_label_propagation_is_within_the_error_of_30_forests) {
  expect_sampled_shares("label_propagation", true);
}

TEST(SampledLeaveOneOut, of_kernel_ridge_is_within_the_error_of_30_forests) {
  expect_sampled_shares("kernel_ridge", false);
}

/// A connected graph with labels, and label_propagation on it by its kinds of shift.
struct ShiftCase {
  Graph graph =
      oracle::random_connected_graph({.num_nodes = 300, .num_edges = 700, .seed = 5, .weighted = true});
  std::vector<Label> labels = some_labels(300, 3, 0.1, 6);

  BatchResult fit(const char* shift, NodeId without = kNoNode) const {
    std::vector<Label> known = labels;
    if (without != kNoNode) known[without] = kNoLabel;
    return learner_row("label_propagation")
        .fit(graph, known, 3, {{"shift", shift}, {"tolerance", "1e-12"}}, {});
  }
  std::vector<double> raw(const BatchResult& fitted, NodeId node) const {
    std::vector<double> scores(3);
    fitted.predictor->raw_scores(node, scores);
    return scores;
  }
  /// By what a class is stretched, from two nodes.
  double slope(const BatchResult& plain_fit, const BatchResult& shifted, std::size_t c) const {
    NodeId first = 0, second = 1;
    while (labels[first] != kNoLabel) ++first;
    for (second = first + 1; labels[second] != kNoLabel;) ++second;
    return (raw(shifted, first)[c] - raw(shifted, second)[c]) /
           (raw(plain_fit, first)[c] - raw(plain_fit, second)[c]);
  }
};

TEST(LeaveOneOut, scales_masses_as_in_the_full_fit) {
  const ShiftCase one;
  const BatchResult plain_fit = one.fit("none"), by_mass = one.fit("mass");
  const auto loo = plain_fit.predictor->leave_one_out({}), scaled = by_mass.predictor->leave_one_out({});
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < loo->nodes.size(); ++i)
      EXPECT_NEAR(scaled->raw_scores[3 * i + c],
                  one.slope(plain_fit, by_mass, c) * loo->raw_scores[3 * i + c], 1e-6);
}

TEST(LeaveOneOut, shifts_by_the_mean_and_the_prior_without_the_label) {
  const ShiftCase one;
  const BatchResult plain_fit = one.fit("none"), by_mean = one.fit("mean");
  const auto shifted = by_mean.predictor->leave_one_out({});
  for (std::size_t i = 0; i < shifted->nodes.size(); ++i) {
    const NodeId node = shifted->nodes[i];
    const BatchResult without = one.fit("none", node);
    double mean[3] = {}, shares[3] = {}, num_unlabelled = 0, total = 0;
    for (NodeId u = 0; u < 300; ++u) {
      if (one.labels[u] != kNoLabel) {
        if (u != node) ++shares[one.labels[u]];
        continue;
      }
      ++num_unlabelled;
      for (std::size_t c = 0; c < 3; ++c) mean[c] += one.raw(without, u)[c];
    }
    for (double& share : shares) total += share += 10;  // smoothed
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(shifted->raw_scores[3 * i + c],
                  shares[c] / total + one.slope(plain_fit, by_mean, c) *
                                          (one.raw(without, node)[c] - mean[c] / num_unlabelled),
                  1e-6);
  }
}

TEST(LeaveOneOut, of_trees_turns_labels_on_signed_graphs) {
  const Graph graph = graph_from_signed_edges(
      60,
      oracle::with_signs(oracle::random_connected_edges({.num_nodes = 60, .num_edges = 120, .seed = 3}), 3));
  const auto labels = some_labels(60, 2, 0.4, 4);
  for (const char* name : {"wta", "tree_cut"}) {
    const LearnerRow& row = learner_row(name);
    const auto left_out = row.fit(graph, labels, 2, {}, {}).predictor->leave_one_out({});
    EXPECT_FALSE(left_out->nodes.empty());
    for (std::size_t i = 0; i < left_out->nodes.size(); ++i) {
      const auto scores = refitted(row, graph, labels, left_out->nodes[i], 2, {});
      EXPECT_NEAR(left_out->raw_scores[2 * i], scores[0], 1e-12);
    }
  }
}

TEST(LeaveOneOut, is_nothing_where_forests_could_not_tell) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = 5000, .num_edges = 15000, .seed = 1});
  std::vector<Label> labels(5000, kNoLabel);
  for (NodeId u = 0; u < 70; ++u) labels[u] = static_cast<Label>(u % 2);  // 1.4 %
  for (const char* name : {"label_propagation", "kernel_ridge"})
    EXPECT_FALSE(learner_row(name).fit(graph, labels, 2, {}, {}).predictor->leave_one_out({})) << name;
}

TEST(RawScores, rank_nodes_that_clipped_scores_tie) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 500, .num_edges = 900, .seed = 8, .weighted = true});
  const auto labels = some_labels(500, 3, 0.05, 2);
  for (const char* name : {"label_propagation", "poisson", "kernel_ridge"}) {
    SCOPED_TRACE(name);
    const auto fitted = learner_row(name).fit(graph, labels, 4, {}, {});
    std::vector<double> scores(4), raw(4);
    std::size_t num_negative = 0;
    for (NodeId u = 0; u < 500; ++u) {
      if (labels[u] != kNoLabel) continue;
      fitted.predictor->scores(u, scores);
      fitted.predictor->raw_scores(u, raw);
      EXPECT_EQ(raw[3], 0);
      EXPECT_EQ(std::max_element(scores.begin(), scores.end() - 1) - scores.begin(),
                std::max_element(raw.begin(), raw.end() - 1) - raw.begin());
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b)
          if (scores[a] > 0 && scores[b] > 0) {
            EXPECT_EQ(scores[a] < scores[b], raw[a] < raw[b]);
          }
      num_negative += static_cast<std::size_t>(std::ranges::count_if(raw, [](double r) { return r < 0; }));
    }
    EXPECT_GT(num_negative, 0u);
  }
}

}  // namespace
}  // namespace copse
