// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "copse/evaluation/protocols.hpp"
#include "copse/graph/components.hpp"
#include "copse/support/error.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

// What the fake learners below were given at their last fit.
struct Seen {
  std::vector<Label> labels;
  std::size_t num_classes = 0;
  OptionValues options;
  std::uint64_t seed = 0;
};
Seen seen;

// Answers with the class shares among the given nodes of the same component, or of all where there is none.
class ComponentShares final : public Predictor {
 public:
  ComponentShares(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes)
      : components_(connected_components(graph)),
        counts_(components_.count() + 1, std::vector<double>(num_classes)),
        num_classes_(num_classes) {
    for (std::size_t u = 0; u < labels.size(); ++u) {
      if (labels[u] == kNoLabel) continue;
      ++counts_[components_.of_node[u]][labels[u]];
      ++counts_.back()[labels[u]];
    }
  }
  Prediction predict(NodeId node) const override {
    std::vector<double> shares(num_classes_);
    scores(node, shares);
    const auto best = std::max_element(shares.begin(), shares.end());
    return {static_cast<Label>(best - shares.begin()), *best, is_reached(node)};
  }
  void scores(NodeId node, std::span<double> shares) const override {
    const auto& counts = is_reached(node) ? counts_[components_.of_node[node]] : counts_.back();
    double sum = 0;
    for (const double count : counts) sum += count;
    for (std::size_t c = 0; c < shares.size(); ++c) shares[c] = counts[c] / sum;
  }
  std::size_t num_classes() const override { return num_classes_; }

 private:
  bool is_reached(NodeId node) const {
    for (const double count : counts_[components_.of_node[node]])
      if (count > 0) return true;
    return false;
  }
  Components components_;
  std::vector<std::vector<double>> counts_;
  std::size_t num_classes_;
};

BatchResult fit_shares(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                       const OptionValues& options, const Execution& execution) {
  seen = {{labels.begin(), labels.end()}, num_classes, options, execution.seed};
  BatchResult result;
  result.predictor = std::make_unique<ComponentShares>(graph, labels, num_classes);
  result.notes = {"a note"};
  return result;
}

BatchResult fit_interrupted(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                            const OptionValues& options, const Execution& execution) {
  BatchResult result = fit_shares(graph, labels, num_classes, options, execution);
  result.interrupted = true;
  return result;
}

LearnerRow fake(decltype(LearnerRow::fit) fit = fit_shares) {
  LearnerRow row;
  row.name = "fake";
  row.make = nullptr;
  row.fit = fit;
  row.bytes = nullptr;
  return row;
}

Labels labels_of(std::vector<Label> of_node, const std::vector<std::string>& names) {
  Labels labels;
  labels.of_node = std::move(of_node);
  for (const std::string& name : names) labels.classes.intern(name);
  return labels;
}

// Triangle {0, 2, 4}, path 1 - 3 - 5, node 6 alone.
Graph graph() { return oracle::two_components_and_an_isolated_node(); }

TEST(EvaluateSplit, hides_every_label_but_those_given) {
  const Labels labels = labels_of({0, 1, 0, 1, 1, 1, 0}, {"a", "b"});
  const Split split{.train = {0, 2, 3}, .test = {1, 4, 5, 6}};
  evaluate_split(graph(), labels, split, fake(), {{"x", "1"}}, {.seed = 9});
  EXPECT_EQ(seen.labels, (std::vector<Label>{0, kNoLabel, 0, 1, kNoLabel, kNoLabel, kNoLabel}));
  EXPECT_EQ(seen.num_classes, 2U);
  EXPECT_EQ(seen.options, (OptionValues{{"x", "1"}}));
  EXPECT_EQ(seen.seed, 9U);
}

TEST(EvaluateSplit, scores_hidden_nodes_only_and_counts_unreached_ones_as_answered_by_the_prior) {
  const Labels labels = labels_of({0, 1, 0, 1, 1, 1, 0}, {"a", "b"});
  const Split split{.train = {0, 2, 3}, .test = {1, 4, 5, 6}};
  Confusion table(0);
  const BatchScore score = evaluate_split(graph(), labels, split, fake(), {}, {}, &table);
  // 1 and 5 are right (b), 4 is wrong (a), 6 is unreached: the prior says a, which is right.
  EXPECT_EQ(score.num_hidden, 4U);
  EXPECT_DOUBLE_EQ(score.error, 0.25);
  EXPECT_DOUBLE_EQ(score.coverage, 0.75);
  EXPECT_EQ(table.count(1, 1), 2U);
  EXPECT_EQ(table.count(1, 0), 1U);
  EXPECT_EQ(table.count(0, 0), 1U);
  EXPECT_DOUBLE_EQ(score.macro_f1, table.macro_f1());
  EXPECT_DOUBLE_EQ(score.micro_f1, 0.75);
  EXPECT_GE(score.seconds, 0);
  EXPECT_EQ(score.notes, std::vector<std::string>{"a note"});
}

TEST(EvaluateSplit, leaves_unlabelled_nodes_out) {
  const Labels labels = labels_of({0, kNoLabel, 0, kNoLabel, 1, kNoLabel, kNoLabel}, {"a", "b"});
  const BatchScore score = evaluate_split(graph(), labels, Split{{0}, {2, 4}}, fake(), {}, {});
  EXPECT_EQ(score.num_hidden, 2U);
  EXPECT_DOUBLE_EQ(score.error, 0.5);
  EXPECT_DOUBLE_EQ(score.coverage, 1);
}

TEST(EvaluateSplit, does_not_depend_on_threads) {
  const Graph big = oracle::random_graph({.num_nodes = 20'000, .num_edges = 12'000, .seed = 3});
  std::vector<Label> of_node(20'000);
  for (std::size_t u = 0; u < of_node.size(); ++u) of_node[u] = static_cast<Label>(u * 7919 % 5);
  const Labels labels = labels_of(of_node, {"a", "b", "c", "d", "e"});
  const Split split = random_split(labels.of_node, 0.2, 1, 0);
  const BatchScore one = evaluate_split(big, labels, split, fake(), {}, {.threads = 1});
  const BatchScore four = evaluate_split(big, labels, split, fake(), {}, {.threads = 4});
  EXPECT_EQ(one.error, four.error);
  EXPECT_EQ(one.macro_f1, four.macro_f1);
  EXPECT_EQ(one.coverage, four.coverage);
}

TEST(EvaluateSplit, refuses_dishonest_splits) {
  const Labels labels = labels_of({0, 1, 0, kNoLabel, 1, 1, 0}, {"a", "b"});
  EXPECT_THROW(evaluate_split(graph(), labels, Split{{0, 1}, {1, 2}}, fake(), {}, {}),
               UsageError);  // given and hidden
  EXPECT_THROW(evaluate_split(graph(), labels, Split{{0}, {3}}, fake(), {}, {}),
               UsageError);  // no label to score
  EXPECT_THROW(evaluate_split(graph(), labels, Split{{3}, {0}}, fake(), {}, {}), UsageError);
  EXPECT_THROW(evaluate_split(graph(), labels, Split{{0}, {7}}, fake(), {}, {}), UsageError);  // no such node
  EXPECT_THROW(evaluate_split(oracle::path(3), labels, Split{{0}, {1}}, fake(), {}, {}), UsageError);
}

TEST(EvaluateSplit, measures_nothing_when_interrupted) {
  const Labels labels = labels_of({0, 1, 0, 1, 1, 1, 0}, {"a", "b"});
  EXPECT_THROW(evaluate_split(graph(), labels, Split{{0}, {1}}, fake(fit_interrupted), {}, {}), Cancelled);
}

// Sets 0 = {a}, 1 = {a, b}, 2 = {c}, 3 = {b, c}, the last one hidden only.
MultiLabels some_sets() {
  MultiLabels labels;
  for (const char* name : {"a", "b", "c"}) labels.classes.intern(name);
  labels.sets = {{0}, {0, 1}, {2}, {1, 2}};
  labels.set_of_node = {1, 2, 0, 3, 1, 2, kNoLabel};
  return labels;
}

TEST(EvaluateMultiSplit, fits_on_the_sets_of_given_nodes_and_on_no_other) {
  evaluate_split(graph(), some_sets(), Split{{0, 2, 5}, {1, 3, 4}}, fake(), {}, {});
  EXPECT_EQ(seen.num_classes, 3U);  // the set {b, c} is not even a possible answer
  EXPECT_EQ(seen.labels, (std::vector<Label>{1, kNoLabel, 0, kNoLabel, kNoLabel, 2, kNoLabel}));
  // Without node 2 the set {a} goes, and the others move up.
  evaluate_split(graph(), some_sets(), Split{{0, 5}, {1, 2, 3, 4}}, fake(), {}, {});
  EXPECT_EQ(seen.num_classes, 2U);
  EXPECT_EQ(seen.labels, (std::vector<Label>{0, kNoLabel, kNoLabel, kNoLabel, kNoLabel, 1, kNoLabel}));
}

TEST(EvaluateMultiSplit, asks_one_question_a_class) {
  OneVersusRest counts;
  const BatchScore score =
      evaluate_split(graph(), some_sets(), Split{{0, 2, 5}, {1, 3, 4}}, fake(), {}, {}, &counts);
  // Node 4 sees {a, b} and {a} once each: a scores 1, b one half, which is a tie and so no. Nodes 1 and 3
  // see {c}: right for 1; of 3, which has {b, c}, c is right although its set could not be answered.
  ASSERT_EQ(counts.by_class.size(), 3U);
  EXPECT_EQ(counts.by_class[0].true_positive, 1U);
  EXPECT_EQ(counts.by_class[0].true_negative, 2U);
  EXPECT_EQ(counts.by_class[1].false_negative, 2U);
  EXPECT_EQ(counts.by_class[1].true_negative, 1U);
  EXPECT_EQ(counts.by_class[2].true_positive, 2U);
  EXPECT_EQ(counts.by_class[2].true_negative, 1U);
  EXPECT_DOUBLE_EQ(score.error, (0 + 2.0 / 3 + 0) / 3);
  EXPECT_DOUBLE_EQ(score.macro_f1, (1.0 + 0 + 1.0) / 3);
  EXPECT_DOUBLE_EQ(score.micro_f1, 6.0 / 8);
  EXPECT_DOUBLE_EQ(score.coverage, 1);
  EXPECT_EQ(score.num_hidden, 3U);
}

TEST(EvaluateMultiSplit, with_one_label_a_node_agrees_with_the_single_label_table) {
  // Two classes and a majority above one half: both protocols then answer the same.
  const Graph big = oracle::random_graph({.num_nodes = 400, .num_edges = 350, .seed = 8});
  std::vector<Label> of_node(400);
  for (std::size_t u = 0; u < of_node.size(); ++u) of_node[u] = static_cast<Label>(u % 3 == 0);
  const Labels single = labels_of(of_node, {"a", "b"});
  MultiLabels multi;
  for (const char* name : {"a", "b"}) multi.classes.intern(name);
  multi.sets = {{0}, {1}};
  multi.set_of_node = of_node;
  const Split split = random_split(of_node, 0.31, 1, 0);
  Confusion table(0);
  OneVersusRest counts;
  evaluate_split(big, single, split, fake(), {}, {}, &table);
  evaluate_split(big, multi, split, fake(), {}, {.threads = 4}, &counts);
  // Ties answer "a" in one protocol and nothing in the other: count them out.
  EXPECT_EQ(counts.by_class[1].true_positive, table.count(1, 1));
  EXPECT_EQ(counts.by_class[1].false_positive, table.count(0, 1));
  EXPECT_LE(counts.by_class[0].true_positive, table.count(0, 0));
}

}  // namespace
}  // namespace copse
