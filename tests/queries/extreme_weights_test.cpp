// SPDX-License-Identifier: Apache-2.0
// Any weight that a file may hold: the smallest float and the largest, and both in one graph.

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "learners/some_labels.hpp"
#include "oracle/graphs.hpp"
#include "oracle/promises.hpp"
#include "oracle/signed.hpp"

namespace copse {
namespace {

constexpr Weight kSmallest = std::numeric_limits<Weight>::denorm_min(),
                 kLargest = std::numeric_limits<Weight>::max();

struct WeightRange {
  const char* name;
  Weight low, high;
};
constexpr WeightRange kRanges[] = {
    {"the smallest", kSmallest, kSmallest},
    {"denormal", kSmallest, 1e-38F},
    {"1e-40", 1e-40F, 1e-40F},
    {"tiny", 1e-38F, 1e-30F},
    {"the largest", kLargest, kLargest},
    {"huge", 1e30F, kLargest},
    {"30 orders apart", 1e-15F, 1e15F},
    {"all there are", kSmallest, kLargest},
};

/// The ends of the range often, else log-uniform between them.
Weight draw_weight(const WeightRange& range, std::mt19937_64& random) {
  if (random() % 4 == 0) return range.low;
  if (random() % 3 == 0) return range.high;
  const double low = std::log2(double{range.low}), high = std::log2(double{range.high});
  const auto w =
      static_cast<Weight>(std::exp2(low + (high - low) * static_cast<double>(random() % 1001) / 1000));
  return std::clamp(w, range.low, range.high);
}

struct WeightedCase {
  std::string name;
  NodeId num_nodes;
  std::vector<Edge> edges;
  bool is_wide;
};

std::vector<WeightedCase> weighted_cases(std::uint64_t seed) {
  std::vector<WeightedCase> all;
  const auto of = [](const Graph& graph) {
    std::vector<Edge> edges;
    for (NodeId u = 0; u < graph.num_nodes(); ++u)
      for (const NodeId v : graph.view().neighbors_of(u))
        if (u < v) edges.push_back({u, v, 1});
    return edges;
  };
  for (const WeightRange& range : kRanges) {
    std::vector<WeightedCase> shapes = {
        {"path", 10, of(oracle::path(10)), false},
        {"cycle", 7, of(oracle::cycle(7)), false},
        {"grid", 9, of(oracle::grid(3, 3)), false},
        {"star", 6, of(oracle::star(6)), false},
        {"random", 10, oracle::random_connected_edges({.num_nodes = 10, .num_edges = 18, .seed = seed}),
         false},
        {"disconnected", 12, of(oracle::random_graph({.num_nodes = 12, .num_edges = 9, .seed = seed})),
         false}};
    std::mt19937_64 random(seed);
    for (WeightedCase& shape : shapes) {
      for (Edge& edge : shape.edges) edge.weight = draw_weight(range, random);
      all.push_back({shape.name + ", " + range.name, shape.num_nodes, std::move(shape.edges),
                     range.high / range.low > oracle::kWide});
    }
  }
  return all;
}

std::vector<Label> at_least_one_label(NodeId n, Label classes, std::uint64_t seed) {
  std::vector<Label> labels = some_labels(n, classes, 0.4, seed);
  labels[seed % n] = 0;
  labels[(seed + n / 2) % n] = 1;
  return labels;
}

class ExtremeWeights : public testing::TestWithParam<LearnerRow> {};

TEST_P(ExtremeWeights, every_node_gets_a_label_and_finite_scores) {
  for (const WeightedCase& c : weighted_cases(0)) {
    const Graph graph = graph_from_edges(c.num_nodes, c.edges);
    const auto labels = at_least_one_label(c.num_nodes, 3, 0);
    for (const OptionValues& options : oracle::option_sets(GetParam().options)) {
      if (c.is_wide && oracle::walks(GetParam().options, options)) continue;
      EXPECT_EQ(oracle::learner_fault(GetParam(), options, graph, labels, 3, {}), "")
          << c.name << oracle::text_of(options);
    }
  }
}

TEST_P(ExtremeWeights, so_it_does_where_edges_are_negative) {
  if (!GetParam().signed_graphs) return;
  for (const WeightedCase& c : weighted_cases(1)) {
    const Graph graph = graph_from_signed_edges(c.num_nodes, oracle::with_signs(c.edges, 1));
    const auto labels = at_least_one_label(c.num_nodes, 2, 1);
    for (const OptionValues& options : oracle::option_sets(GetParam().options)) {
      if (c.is_wide && oracle::walks(GetParam().options, options)) continue;
      EXPECT_EQ(oracle::learner_fault(GetParam(), options, graph, labels, 2, {}), "")
          << c.name << oracle::text_of(options);
    }
  }
}

TEST_P(ExtremeWeights, walks_that_cannot_leave_an_edge_still_give_trees) {
  const Graph graph =
      graph_from_edges(4, {{0, 1, kLargest}, {1, 2, kSmallest}, {2, 3, 1}, {0, 3, kSmallest}});
  const std::vector<Label> labels{0, kNoLabel, 1, kNoLabel};
  for (const OptionValues& options : oracle::option_sets(GetParam().options))
    if (oracle::walks(GetParam().options, options)) {
      EXPECT_EQ(oracle::learner_fault(GetParam(), options, graph, labels, 2, {}), "")
          << oracle::text_of(options);
    }
}

// All these weights have few digits, so that no power of two rounds any.
TEST_P(ExtremeWeights, all_weights_times_a_power_of_two_change_no_prediction) {
  for (const int shift : {-140, -120, -60, 60, 120}) {
    const auto edges = oracle::random_connected_edges({.num_nodes = 20, .num_edges = 45, .seed = 3});
    std::vector<Edge> one = edges, other = edges;
    std::mt19937_64 random(4);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      one[i].weight = static_cast<Weight>(1 + random() % 7);
      other[i].weight = std::ldexp(one[i].weight, shift);
    }
    const Graph a = graph_from_edges(20, one), b = graph_from_edges(20, other);
    const auto labels = at_least_one_label(20, 3, 5);
    for (const OptionValues& options : oracle::option_sets(GetParam().options)) {
      const auto x = GetParam().fit(a, labels, 3, options, {}), y = GetParam().fit(b, labels, 3, options, {});
      for (NodeId u = 0; u < 20; ++u) {
        const Prediction p = x.predictor->predict(u), q = y.predictor->predict(u);
        EXPECT_EQ(p.label, q.label) << "times 2^" << shift << oracle::text_of(options);
        EXPECT_NEAR(p.confidence, q.confidence, 1e-6) << "times 2^" << shift << oracle::text_of(options);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Learners, ExtremeWeights, testing::ValuesIn(learner_rows()),
                         [](const auto& row) { return row.param.name; });

class ExtremeWeightsQueries : public testing::TestWithParam<QueryRow> {};

TEST_P(ExtremeWeightsQueries, every_node_is_asked_about_once_with_a_finite_score) {
  for (const WeightedCase& c : weighted_cases(0)) {
    const Graph graph = graph_from_edges(c.num_nodes, c.edges);
    std::vector<Label> labels(c.num_nodes);
    for (NodeId u = 0; u < c.num_nodes; ++u) labels[u] = static_cast<Label>(u * 7 % 3);
    for (const OptionValues& options : oracle::option_sets(GetParam().options))
      if (!c.is_wide || !oracle::walks(GetParam().options, options)) {
        EXPECT_EQ(oracle::query_fault(GetParam(), options, graph, labels, {}), "")
            << c.name << oracle::text_of(options);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, ExtremeWeightsQueries, testing::ValuesIn(query_rows()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace copse
