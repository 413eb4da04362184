// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "copse/support/error.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

double sorted_median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

TEST(GraphStatistics, of_a_small_graph_are_as_counted_by_hand) {
  const Graph graph = oracle::two_components_and_an_isolated_node();
  const GraphStatistics facts = graph_statistics(graph);
  EXPECT_EQ(facts.num_nodes, 7U);
  EXPECT_EQ(facts.num_edges, 5U);
  EXPECT_EQ(facts.num_isolated, 1U);
  EXPECT_EQ(facts.num_components, 3U);
  EXPECT_EQ(facts.largest_component, 3U);
  EXPECT_EQ(facts.min_degree, 0U);
  EXPECT_EQ(facts.max_degree, 2U);
  EXPECT_EQ(facts.median_degree, 2);  // 0 1 1 2 2 2 2
  EXPECT_DOUBLE_EQ(facts.mean_degree, 10.0 / 7);
  EXPECT_TRUE(facts.is_weighted);
  EXPECT_EQ(facts.min_weight, 0.5);
  EXPECT_EQ(facts.median_weight, 2);  // 1/2 1 2 4 8
  EXPECT_EQ(facts.max_weight, 8);
  EXPECT_EQ(facts.total_weight, 15.5);
  EXPECT_EQ(facts.weight_range, 16);
  EXPECT_EQ(facts.num_bytes, 8 * 8 + 10 * 4 + 10 * 4U);
}

TEST(GraphStatistics, of_an_unweighted_graph_count_weight_one_an_edge) {
  const GraphStatistics facts = graph_statistics(oracle::star(5));
  EXPECT_FALSE(facts.is_weighted);
  EXPECT_EQ(facts.median_degree, 1);
  EXPECT_EQ(facts.total_weight, 4);
  EXPECT_EQ(facts.weight_range, 1);
  EXPECT_EQ(facts.median_weight, 1);
}

TEST(GraphStatistics, of_nothing_are_zeros) {
  for (const GraphStatistics& facts :
       {graph_statistics(GraphView{}), graph_statistics(oracle::single_node())}) {
    EXPECT_EQ(facts.num_edges, 0U);
    EXPECT_EQ(facts.max_degree, 0U);
    EXPECT_EQ(facts.mean_degree, 0);
    EXPECT_EQ(facts.total_weight, 0);
    EXPECT_EQ(facts.weight_range, 0);
  }
}

TEST(GraphStatistics, agree_with_sorted_lists_and_do_not_depend_on_threads) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_graph({.num_nodes = static_cast<NodeId>(50 + seed),
                                              .num_edges = 100 + seed,
                                              .seed = seed,
                                              .weighted = true});
    std::vector<double> degrees, weights;
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      degrees.push_back(static_cast<double>(graph.view().degree(u)));
      for (EdgeIndex arc = graph.view().offsets[u]; arc < graph.view().offsets[u + 1]; ++arc)
        if (graph.view().neighbors[arc] > u) weights.push_back(graph.view().weights[arc]);
    }
    double sum = 0;
    for (const double weight : weights) sum += weight;
    const GraphStatistics one = graph_statistics(graph, 1), four = graph_statistics(graph, 4);
    EXPECT_EQ(one.median_degree, sorted_median(degrees));
    EXPECT_EQ(one.median_weight, sorted_median(weights));
    EXPECT_NEAR(one.total_weight, sum, 1e-9 * sum);
    EXPECT_EQ(four.total_weight, one.total_weight);
    EXPECT_EQ(four.median_weight, one.median_weight);
    EXPECT_EQ(four.median_degree, one.median_degree);
  }
}

TEST(LabelStatistics, judge_only_edges_with_both_ends_labelled) {
  // The triangle 0 2 4 (weights 0-2: 1, 2-4: 2, 0-4: 4) and the path 1 3 5; node 5 is unlabelled.
  const std::vector<Label> labels{0, 2, 0, 2, 2, kNoLabel, 0};
  const LabelStatistics facts = label_statistics(oracle::two_components_and_an_isolated_node(), labels);
  EXPECT_EQ(facts.num_labelled, 6U);
  EXPECT_EQ(facts.class_counts, (std::vector<std::uint64_t>{3, 0, 3}));
  EXPECT_EQ(facts.num_judged_edges, 4U);
  EXPECT_EQ(facts.judged_weight, 7.5);
  EXPECT_EQ(facts.cut_size, 2U);
  EXPECT_EQ(facts.cut_weight, 6);
  EXPECT_DOUBLE_EQ(facts.homophily().value(), 0.5);
  EXPECT_DOUBLE_EQ(facts.weighted_homophily().value(), 1.5 / 7.5);
}

TEST(LabelStatistics, without_a_judged_edge_there_is_no_homophily) {
  const LabelStatistics facts = label_statistics(oracle::path(3), std::vector<Label>{0, kNoLabel, 0});
  EXPECT_EQ(facts.num_judged_edges, 0U);
  EXPECT_FALSE(facts.homophily().has_value());
  EXPECT_FALSE(facts.weighted_homophily().has_value());
}

TEST(LabelStatistics, want_one_label_a_node) {
  EXPECT_THROW(label_statistics(oracle::path(3), std::vector<Label>{0, 1}), UsageError);
}

TEST(LabelStatistics, of_random_labels_agree_with_a_list_of_edges_on_any_number_of_threads) {
  const oracle::RandomGraph wanted{.num_nodes = 20'000, .num_edges = 50'000, .seed = 9, .weighted = true};
  const Graph graph = oracle::random_connected_graph(wanted);
  std::mt19937_64 random(3);
  std::vector<Label> labels(wanted.num_nodes);
  for (Label& label : labels) label = random() % 4 == 0 ? kNoLabel : static_cast<Label>(random() % 3);
  std::uint64_t judged = 0, cut = 0;
  double cut_weight = 0;
  for (const Edge& edge : oracle::random_connected_edges(wanted)) {
    if (labels[edge.u] == kNoLabel || labels[edge.v] == kNoLabel) continue;
    ++judged;
    if (labels[edge.u] == labels[edge.v]) continue;
    ++cut;
    cut_weight += edge.weight;
  }
  const LabelStatistics one = label_statistics(graph, labels, 1), four = label_statistics(graph, labels, 4);
  EXPECT_EQ(one.num_judged_edges, judged);
  EXPECT_EQ(one.cut_size, cut);
  EXPECT_NEAR(one.cut_weight, cut_weight, 1e-9 * cut_weight);
  EXPECT_EQ(four.cut_weight, one.cut_weight);
  EXPECT_EQ(four.judged_weight, one.judged_weight);
}

}  // namespace
}  // namespace copse
