// SPDX-License-Identifier: Apache-2.0
// label_propagation, poisson and kernel_ridge beside their dense twins.

#include <gtest/gtest.h>

#include <random>

#include "copse/graph/generate.hpp"
#include "copse/learners/kernel_ridge.hpp"
#include "copse/learners/label_propagation.hpp"
#include "copse/learners/poisson.hpp"
#include "learners/balanced_offsets.hpp"
#include "oracle/graphs.hpp"
#include "oracle/solved.hpp"
#include "oracle/trees.hpp"
#include "some_labels.hpp"

namespace copse {
namespace {

using Shift = LabelPropagationOptions::Shift;

/// Solved to the digits that dense twins have.
LabelPropagationOptions exactly(Shift shift = Shift::mean) {
  return {.shift = shift, .solve = {.tolerance = 1e-8}};
}

Graph some_graph(std::uint64_t seed) {
  return oracle::random_graph({.num_nodes = static_cast<NodeId>(2 + seed * 7 % 60),
                               .num_edges = seed * 13 % 110,
                               .seed = seed,
                               .weighted = seed % 3 != 0});
}

std::vector<double> scores_of(const Predictor& predictor, NodeId node, std::size_t num_classes) {
  std::vector<double> scores(num_classes);
  predictor.scores(node, scores);
  return scores;
}

/// Calls body(graph, labels, seed) for many small graphs with at least one label.
template <class Body>
void for_each_case(Body&& body) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = some_graph(seed);
    const auto labels = some_labels(graph.num_nodes(), 3, 0.2, seed);
    if (std::ranges::any_of(labels, [](Label l) { return l != kNoLabel; })) body(graph, labels, seed);
  }
}

/// A labelled part of a block model, connected for all that matters.
struct Blocks {
  Graph graph;
  std::vector<Label> truth, given;
};
Blocks block_model(NodeId nodes, Label classes, std::uint64_t num_labels, std::uint64_t seed) {
  GeneratedGraph made = generate_graph("block_model",
                                       {{"nodes", nodes},
                                        {"classes", classes},
                                        {"degree_inside", 9},
                                        {"degree_outside", 3},
                                        {"weight_inside", 1},
                                        {"weight_outside", 0.5}},
                                       {.seed = seed});
  Blocks blocks{std::move(made.graph), made.labels.of_node, std::vector<Label>(nodes, kNoLabel)};
  std::mt19937_64 random(seed);
  for (std::uint64_t i = 0; i < num_labels;) {
    const auto u = static_cast<NodeId>(random() % nodes);
    if (blocks.given[u] != kNoLabel || blocks.truth[u] != i % classes) continue;
    blocks.given[u] = blocks.truth[u];
    ++i;
  }
  return blocks;
}
double accuracy(const Blocks& blocks, const BatchResult& result) {
  double right = 0, hidden = 0;
  for (NodeId u = 0; u < blocks.truth.size(); ++u) {
    if (blocks.given[u] != kNoLabel) continue;
    hidden += 1;
    right += result.predictor->predict(u).label == blocks.truth[u];
  }
  return right / hidden;
}
bool has_note(const BatchResult& result, const std::string& text) {
  return std::ranges::any_of(result.notes,
                             [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

TEST(LabelPropagation, without_shift_it_is_the_harmonic_function) {
  for_each_case([](const Graph& graph, const std::vector<Label>& labels, std::uint64_t) {
    const auto slow = oracle::harmonic(graph, labels, 3);
    const BatchResult fast = LabelPropagation::fit(graph, labels, 3, exactly(Shift::none), {});
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      EXPECT_EQ(fast.predictor->predict(u).reached, slow.reached[u]);
      if (!slow.reached[u]) continue;
      const auto scores = scores_of(*fast.predictor, u, 3);
      for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(scores[c], slow.scores(u, c), 1e-6) << u;
    }
  });
}

TEST(LabelPropagation, shifts_follow_their_formulas_in_large_components_only) {
  const NodeId n = 160;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    // A large component and a small one, nodes 150 to 159.
    auto edges =
        oracle::random_connected_edges({.num_nodes = 150, .num_edges = 400, .seed = seed, .weighted = true});
    for (NodeId u = 150; u + 1 < n; ++u) edges.push_back({u, u + 1, 1});
    const Graph graph = graph_from_edges(n, edges);
    auto labels = some_labels(n, 3, 0.08, seed);
    labels[0] = 0, labels[1] = 1, labels[2] = 2, labels[150] = 0, labels[159] = 1;
    const auto plain = oracle::harmonic(graph, labels, 3);
    double count = 0, mean[3] = {}, deviation = 0, of_labels = 0, prior[3] = {10, 10, 10}, total = 30;
    for (NodeId u = 0; u < 150; ++u) {
      if (labels[u] != kNoLabel) {
        prior[labels[u]] += 1;
        total += 1;
        continue;
      }
      count += 1;
      for (std::size_t c = 0; c < 3; ++c) mean[c] += plain.scores(u, c);
    }
    for (double& m : mean) of_labels += 2 * (m / count) * (1 - m / count), m /= count;
    for (NodeId u = 0; u < 150; ++u)
      for (std::size_t c = 0; c < 3; ++c)
        if (labels[u] == kNoLabel) deviation += std::fabs(plain.scores(u, c) - mean[c]) / count;
    const BatchResult shifted = LabelPropagation::fit(graph, labels, 3, exactly(), {}),
                      mass = LabelPropagation::fit(graph, labels, 3, exactly(Shift::mass), {});
    for (NodeId u = 0; u < n; ++u) {
      if (labels[u] != kNoLabel) continue;
      double by_mean[3], by_mass[3], mean_sum = 0, mass_sum = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        const double f = plain.scores(u, c);
        by_mean[c] = u >= 150 ? f : std::max(0.0, prior[c] / total + (f - mean[c]) * of_labels / deviation);
        by_mass[c] = u >= 150 ? f : f * prior[c] / total / mean[c];
        mean_sum += by_mean[c], mass_sum += by_mass[c];
      }
      const auto a = scores_of(*shifted.predictor, u, 3), b = scores_of(*mass.predictor, u, 3);
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR(a[c], by_mean[c] / mean_sum, 1e-5) << u;
        EXPECT_NEAR(b[c], by_mass[c] / mass_sum, 1e-5) << u;
      }
    }
  }
}

TEST(LabelPropagation, explains_by_the_probability_of_meeting_each_label_first) {
  for_each_case([](const Graph& graph, const std::vector<Label>& labels, std::uint64_t) {
    LabelPropagation learner(graph, exactly(Shift::none), {});
    for (NodeId u = 0; u < graph.num_nodes(); ++u)
      if (labels[u] != kNoLabel) learner.reveal(u, labels[u]);
    const auto slow = oracle::harmonic(graph, labels, 3);
    for (NodeId u = 0; u < graph.num_nodes(); u += 5) {
      const auto reasons = learner.explain(u);
      EXPECT_EQ(reasons.empty(), !slow.reached[u]);
      double share[3] = {};
      for (const Reason& reason : reasons) {
        EXPECT_EQ(reason.label, labels[reason.node]);
        share[reason.label] += reason.share;
      }
      for (std::size_t c = 0; c < 3 && slow.reached[u]; ++c) EXPECT_NEAR(share[c], slow.scores(u, c), 1e-6);
    }
  });
}

TEST(LabelPropagation, of_one_neighbour_the_resistance_is_that_of_the_edge) {
  const Graph graph = graph_from_edges(3, {{0, 1, 4}, {1, 2, 1}});
  LabelPropagation learner(graph, exactly(), {});
  learner.reveal(0, 0);
  learner.reveal(2, 1);
  const auto reasons = learner.explain(1);
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].node, 0u);
  EXPECT_NEAR(reasons[0].share, 0.8, 1e-9);
  EXPECT_NEAR(reasons[0].resistance, 0.25, 1e-9);
  EXPECT_NEAR(reasons[1].resistance, 1, 1e-9);
}

/// With a uniform prior potentials are divided by how many labels their class has (Calder et al. 2020,
/// section 2.2).
void expect_largest_potential(PriorKind prior) {
  int num_compared = 0;
  for_each_case([&](const Graph& graph, const std::vector<Label>& labels, std::uint64_t) {
    const auto slow = oracle::poisson(graph, labels, 3);
    const BatchResult fast = Poisson::fit(graph, labels, 3, {.prior = prior}, {});
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      const Prediction answer = fast.predictor->predict(u);
      EXPECT_EQ(answer.reached, slow.reached[u]);
      if (!slow.reached[u] || labels[u] != kNoLabel) continue;
      int count[3] = {};
      for (NodeId v = 0; v < graph.num_nodes(); ++v)
        if (labels[v] != kNoLabel && slow.component[v] == slow.component[u]) ++count[labels[v]];
      ASSERT_GT(count[answer.label], 0);
      const auto potential = [&](std::size_t c) {
        return slow.scores(u, c) / (prior == PriorKind::uniform ? count[c] : 1);
      };
      for (std::size_t c = 0; c < 3; ++c) {
        if (count[c] > 0) {
          EXPECT_GE(potential(answer.label) + 1e-6, potential(c)) << u;
        }
      }
      ++num_compared;
    }
  });
  EXPECT_GT(num_compared, 500);
}

TEST(Poisson, predicts_the_class_of_largest_potential) {
  expect_largest_potential(PriorKind::labels);
  expect_largest_potential(PriorKind::uniform);
}

TEST(Poisson, explains_with_effective_resistances) {
  for_each_case([](const Graph& graph, const std::vector<Label>& labels, std::uint64_t) {
    Poisson learner(graph, {}, {});
    for (NodeId u = 0; u < graph.num_nodes(); ++u)
      if (labels[u] != kNoLabel) learner.reveal(u, labels[u]);
    const auto inverse = oracle::pseudoinverse(oracle::laplacian(graph));
    for (NodeId u = 0; u < graph.num_nodes(); u += 7) {
      double total = 0;
      for (const Reason& reason : learner.explain(u)) {
        EXPECT_EQ(reason.label, labels[reason.node]);
        EXPECT_NEAR(reason.resistance, oracle::effective_resistance(inverse, u, reason.node),
                    1e-5 * (1 + reason.resistance));
        total += reason.share;
      }
      EXPECT_TRUE(total == 0 || std::fabs(total - 1) < 1e-9);
    }
  });
}

TEST(Poisson, balance_gives_each_class_what_the_prior_expects) {
  const Blocks blocks = block_model(3000, 4, 12, 5);
  const BatchResult result = Poisson::fit(blocks.graph, blocks.given, 4, {.balance = true}, {});
  std::vector<double> share(4);
  for (NodeId u = 0; u < 3000; ++u)
    if (blocks.given[u] == kNoLabel) share[result.predictor->predict(u).label] += 1.0 / (3000 - 12);
  for (const double s : share) EXPECT_NEAR(s, 0.25, 0.01);
}

TEST(BalancedOffsets, meet_uneven_shares_and_leave_out_classes_of_share_0) {
  std::mt19937_64 random(1);
  std::vector<double> values(3 * 4000);
  for (double& value : values) value = static_cast<double>(random() % 10000) / 5000;
  const std::vector<double> shares{0.7, 0.3, 0};
  const auto offsets = balanced_offsets(values, shares);
  double taken[3] = {};
  for (std::size_t i = 0; i < 4000; ++i) {
    std::size_t top = 0;
    for (std::size_t c = 1; c < 3; ++c)
      if (values[3 * i + c] + offsets[c] > values[3 * i + top] + offsets[top]) top = c;
    taken[top] += 1.0 / 4000;
  }
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(taken[c], shares[c], 0.01);
}

void expect_ridge(const BatchResult& fast, const oracle::DenseScores& slow,
                  const std::vector<Label>& labels) {
  for (NodeId u = 0; u < labels.size(); ++u) {
    EXPECT_EQ(fast.predictor->predict(u).reached, slow.reached[u]);
    if (!slow.reached[u] || labels[u] != kNoLabel) continue;
    double value[3], missing = 1, sum = 0, num_occurring = 0;
    bool occurs[3] = {};
    for (NodeId v = 0; v < labels.size(); ++v)
      if (labels[v] != kNoLabel && slow.component[v] == slow.component[u]) occurs[labels[v]] = true;
    for (std::size_t c = 0; c < 3; ++c) missing -= slow.scores(u, c), num_occurring += occurs[c];
    for (std::size_t c = 0; c < 3; ++c) {
      value[c] = occurs[c] ? std::max(0.0, slow.scores(u, c) + missing / num_occurring) : 0;
      sum += value[c];
    }
    const auto scores = scores_of(*fast.predictor, u, 3);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(scores[c], value[c] / sum, 1e-5) << u;
  }
}

double mean_weight(const GraphView& graph) {
  double sum = 0;
  for (EdgeIndex arc = 0; arc < graph.num_arcs(); ++arc) sum += graph.weight(arc);
  return graph.num_arcs() == 0 ? 1 : sum / static_cast<double>(graph.num_arcs());
}

TEST(KernelRidge, on_the_graph_it_is_the_dual_with_the_kernel_matrix) {
  for_each_case([](const Graph& graph, const std::vector<Label>& labels, std::uint64_t seed) {
    const KernelRidgeOptions options{.ridge = seed % 2 == 0 ? 0.1 : 1,
                                     .bias = seed % 4 < 2 ? 1 : 0.01,
                                     .diagonal = seed % 3 == 0 ? 0.5 : 0};
    expect_ridge(KernelRidge::fit(graph, labels, 3, options, {}),
                 oracle::kernel_ridge(graph, labels, 3, 1 / mean_weight(graph), options.ridge, options.bias,
                                      options.diagonal),
                 labels);
  });
}

TEST(KernelRidge, on_a_tree_it_is_the_same_with_the_kernel_of_that_tree) {
  for_each_case([](const Graph& graph, const std::vector<Label>& labels, std::uint64_t seed) {
    const KernelRidgeOptions options{
        .kernel = {.on = KernelOn::tree, .num_trees = 1}, .ridge = 0.3, .bias = 1};
    const Execution execution{.seed = seed};
    const SpanningForest forest = TreeSampler(graph, TreeKind::rst, execution).tree(0);
    expect_ridge(KernelRidge::fit(graph, labels, 3, options, execution),
                 oracle::kernel_ridge(oracle::as_graph(forest), labels, 3, 1 / mean_weight(graph), 0.3, 1, 0),
                 labels);
  });
}

TEST(KernelRidge, explains_a_single_label_by_the_way_to_it_and_the_ridge_behind_it) {
  const Graph graph = graph_from_edges(3, {{0, 1, 2}, {1, 2, 4}});  // of mean weight 3
  for (const auto on : {KernelOn::graph, KernelOn::tree}) {
    KernelRidgeOptions options;
    options.kernel.on = on;
    options.ridge = 0.5;
    options.diagonal = 0.25;
    KernelRidge learner(graph, options, {});
    learner.reveal(0, 0);
    const std::vector<Reason> reasons = learner.explain(2);
    ASSERT_EQ(reasons.size(), 1u);
    EXPECT_EQ(reasons[0].node, 0u);
    EXPECT_NEAR(reasons[0].share, 1, 1e-9);
    EXPECT_NEAR(reasons[0].resistance, 1.0 / 2 + 1.0 / 4 + (0.5 + 0.25) / 3, 1e-6);
  }
}

TEST(FewLabels, plain_harmonic_functions_collapse_say_so_and_have_two_cures) {
  const Blocks blocks = block_model(10'000, 5, 20, 3);
  const auto propagate = [&](Shift shift) {
    return LabelPropagation::fit(blocks.graph, blocks.given, 5, {.shift = shift}, {});
  };
  const BatchResult plain = propagate(Shift::none);
  EXPECT_LT(accuracy(blocks, plain), 0.6);
  EXPECT_TRUE(has_note(plain, "nearly constant"));
  EXPECT_TRUE(has_note(plain, "take shift=mean or poisson"));
  EXPECT_GT(accuracy(blocks, propagate(Shift::mean)), 0.9);
  EXPECT_GT(accuracy(blocks, Poisson::fit(blocks.graph, blocks.given, 5, {}, {})), 0.9);
  EXPECT_GT(accuracy(blocks, KernelRidge::fit(blocks.graph, blocks.given, 5, {}, {})), 0.9);

  const Blocks many = block_model(10'000, 5, 3000, 3);
  EXPECT_FALSE(has_note(LabelPropagation::fit(many.graph, many.given, 5, {}, {}), "nearly constant"));
}

TEST(SolvedLearners, leave_a_tie_of_the_graph_to_the_more_frequent_class_at_any_scale) {
  // Node 0 hangs on one label of either class; the second class has four labels.
  std::vector<Label> labels(8, kNoLabel);
  labels[1] = 0;
  for (NodeId u = 2; u <= 5; ++u) labels[u] = 1;
  for (const int power : {0, -100, -126, -139, 100}) {
    SCOPED_TRACE(power);
    const Weight w = std::ldexp(1.0F, power);
    const Graph graph =
        graph_from_edges(8, {{{4, 5, 6 * w}, {5, 6, 131 * w}, {5, 6, 5 * w}, {0, 1, w}, {0, 5, w}}});
    const Prediction answer = LabelPropagation::fit(graph, labels, 2, exactly(), {}).predictor->predict(0);
    EXPECT_EQ(answer.label, 1);
    EXPECT_NEAR(answer.confidence, 0.5, 1e-8);
  }
}

TEST(SolvedLearners, say_when_the_solver_did_not_converge) {
  const Blocks blocks = block_model(3000, 3, 12, 3);
  EXPECT_TRUE(
      has_note(LabelPropagation::fit(blocks.graph, blocks.given, 3, {.solve = {.max_iterations = 1}}, {}),
               "solver stopped"));
  EXPECT_TRUE(has_note(Poisson::fit(blocks.graph, blocks.given, 3, {.solve = {.max_iterations = 1}}, {}),
                       "solver stopped"));
  EXPECT_TRUE(has_note(
      KernelRidge::fit(blocks.graph, blocks.given, 3, {.kernel = {.solve = {.max_iterations = 1}}}, {}),
      "solver stopped"));
}

TEST(SolvedLearners, stop_when_asked_to) {
  struct Stopped final : Progress {
    void report(std::string_view, std::uint64_t, std::uint64_t) override {}
    bool cancelled() const override { return true; }
  } progress;
  const Blocks blocks = block_model(3000, 3, 12, 3);
  const Execution execution{.progress = &progress};
  EXPECT_THROW(LabelPropagation::fit(blocks.graph, blocks.given, 3, {}, execution), Cancelled);
  EXPECT_THROW(Poisson::fit(blocks.graph, blocks.given, 3, {}, execution), Cancelled);
  EXPECT_THROW(KernelRidge::fit(blocks.graph, blocks.given, 3, {.kernel = {.on = KernelOn::tree}}, execution),
               Cancelled);
}

}  // namespace
}  // namespace copse
