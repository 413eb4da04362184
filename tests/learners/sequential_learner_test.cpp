// SPDX-License-Identifier: Apache-2.0
// What learners that are corrected by mistakes have in common.

#include "copse/learners/sequential_learner.hpp"

#include <gtest/gtest.h>

#include <map>

#include "copse/laplacian/resistance.hpp"
#include "copse/learners/fit_order.hpp"
#include "copse/learners/graph_perceptron.hpp"
#include "copse/learners/pounce.hpp"
#include "copse/learners/projection.hpp"
#include "copse/learners/registry.hpp"
#include "learners/kernel_games.hpp"
#include "learners/online_games.hpp"
#include "oracle/pounce.hpp"
#include "oracle/trees.hpp"
#include "some_labels.hpp"

namespace copse {
namespace {

/// Every row whose answers depend on the order, on the graph and on trees where it can be.
struct Variant {
  const LearnerRow* row;
  OptionValues options;
};
std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const LearnerRow& row : learner_rows()) {
    if (!row.depends_on_order || row.name == "online_pool") continue;  // which has its own tests
    all.push_back({&row, {}});
    for (const char* tree : {"rst", "mst", "spt", "dfst", "bfst", "random_key", "nwrst"})
      all.push_back({&row, {{"on", "tree"}, {"num_trees", "3"}, {"tree", tree}}});
  }
  return all;
}

TEST(SequentialLearner, forgets_a_label_as_if_it_had_never_been_told) {
  for (const Variant& variant : variants()) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(variant.row->name + " game " + std::to_string(seed));
      const RandomGame game = random_game(seed);
      const auto learner = variant.row->make(game.graph, variant.options, {});
      const auto other = variant.row->make(game.graph, variant.options, {});
      const NodeId forgotten = game.trials[seed % game.trials.size()].first;
      for (const auto& [node, label] : game.trials) {
        learner->reveal(node, label);
        if (node != forgotten) other->reveal(node, label);
      }
      learner->retract(forgotten);
      learner->retract(forgotten);  // twice is once
      expect_same_answers(*learner, *other, game.graph.num_nodes());
    }
  }
}

TEST(SequentialLearner, fits_a_set_of_labels_in_the_documented_order) {
  const Graph graph = oracle::random_graph({.num_nodes = 40, .num_edges = 60, .seed = 3, .weighted = true});
  std::mt19937_64 random(2);
  std::vector<Label> labels(40, kNoLabel);
  for (Label& label : labels)
    if (random() % 2 == 0) label = static_cast<Label>(random() % 3);
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.row->name + (variant.options.empty() ? "" : " on " + variant.options.at("tree")));
    const Execution execution{.seed = 7};
    const auto online = variant.row->make(graph, variant.options, execution);
    for (int epoch = 1; epoch <= 5; ++epoch) {
      OptionValues options = variant.options;
      options["epochs"] = std::to_string(epoch);
      const auto batch = variant.row->fit(graph, labels, 3, options, execution);
      for (const NodeId node : fit_order(labels, execution.seed)) online->reveal(node, labels[node]);
      expect_same_answers(*batch.predictor, *online, 40);
    }
  }
}

TEST(SequentialLearner, passes_over_the_labels_end_with_the_first_that_finds_no_mistake) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = 30, .num_edges = 60, .seed = 5});
  std::vector<Label> labels(30, kNoLabel);
  for (NodeId u = 0; u < 12; ++u) labels[u] = u % 3 == 0 ? 1 : 0;
  GraphPerceptronOptions options;
  options.diagonal = 1;  // any labels can be met
  options.kernel.epochs = 10000;
  const BatchResult met = GraphPerceptron::fit(graph, labels, 2, options, {});
  GraphPerceptron online(graph, options, {});
  std::uint64_t before = 0;
  do {
    before = online.num_updates();
    for (const NodeId node : fit_order(labels, 1)) online.reveal(node, labels[node]);
  } while (online.num_updates() > before);
  EXPECT_LT(online.num_trials(), 12u * 1000);
  expect_same_answers(*met.predictor, online, 30);
  for (NodeId u = 0; u < 12; ++u) EXPECT_EQ(online.guess(u).label, labels[u]);
}

TEST(SequentialLearner, is_the_same_on_any_number_of_threads) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 60, .num_edges = 120, .seed = 4, .weighted = true});
  for (const Variant& variant : variants()) {
    SCOPED_TRACE(variant.row->name);
    const auto one = variant.row->make(graph, variant.options, {.threads = 1});
    const auto four = variant.row->make(graph, variant.options, {.threads = 4});
    for (NodeId u = 0; u < 60; u += 2) {
      one->reveal(u, u % 3 == 0);
      four->reveal(u, u % 3 == 0);
    }
    expect_same_answers(*one, *four, 60);
  }
}

TEST(SequentialLearner, lets_a_committee_of_trees_vote_each_as_its_own_twin) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomGame game = random_game(seed);
    for (auto& trial : game.trials) trial.second %= 2;  // three trees and two classes do not tie
    const TreeSampler sampler(game.graph, TreeKind::random_key, {.seed = seed});
    GraphPerceptron perceptron(
        game.graph, {.kernel = {.on = KernelOn::tree, .tree = TreeKind::random_key, .num_trees = 3}},
        {.seed = seed});
    Pounce pounce(game.graph,
                  {.kernel = {.on = KernelOn::tree, .tree = TreeKind::random_key, .num_trees = 3}},
                  {.seed = seed});
    std::vector<Graph> trees;
    for (std::uint64_t t = 0; t < 3; ++t) trees.push_back(oracle::as_graph(sampler.tree(t)));
    // On trees, the mean weight is still that of the graph: compare where it is 1.
    if (game.graph.view().is_weighted()) continue;
    std::vector<oracle::OnlineKernelTwin> twins;
    std::vector<oracle::PounceTwin> pounces;
    for (const Graph& tree : trees) {
      twins.emplace_back(tree, oracle::KernelGame{.b = 1});
      pounces.emplace_back(tree, true, 1e-12);
    }
    const auto majority = [](const auto& all, NodeId node) {
      int ones = 0;
      for (const auto& twin : all) ones += twin.guess(node) == 1;
      return ones >= 2 ? 1 : 0;
    };
    for (const auto& [node, label] : game.trials) {
      perceptron.reveal(node, label);
      pounce.reveal(node, label);
      for (auto& twin : twins) twin.reveal(node, label);
      for (auto& twin : pounces) twin.reveal(node, label);
      for (NodeId u = 0; u < game.graph.num_nodes(); ++u) {
        const Prediction answer = perceptron.guess(u);
        if (!answer.reached) continue;
        ASSERT_EQ(answer.label, majority(twins, u)) << u;
        ASSERT_EQ(pounce.guess(u).label, majority(pounces, u)) << u;
      }
    }
  }
}

TEST(GraphPerceptron, takes_the_resistance_diameter_as_bias) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 12, .num_edges = 20, .seed = 2, .weighted = true});
  double mean = 0;
  for (const Weight w : graph.view().weights) mean += w;
  mean /= static_cast<double>(graph.view().weights.size());
  GraphPerceptronOptions named, number;
  named.bias.kind = KernelBias::Kind::resistance_diameter;
  number.bias.number = mean * resistance_diameter(graph, {}, {}).lower;
  GraphPerceptron a(graph, named, {}), b(graph, number, {});
  std::vector<double> x(2), y(2);
  for (NodeId u = 0; u < 12; ++u) {
    a.reveal(u, u % 2);
    b.reveal(u, u % 2);
    a.margins(3, std::span(x).first(a.num_classes()));
    b.margins(3, std::span(y).first(b.num_classes()));
    EXPECT_EQ(x, y);
  }
}

TEST(GraphPerceptron, reads_its_bias_as_a_number_or_a_word) {
  const LearnerRow& row = learner_row("graph_perceptron");
  const Graph graph = oracle::path(3);
  for (const char* good : {"1", "0.25", "1e-6", "1/n2", "resistance_diameter"})
    EXPECT_NO_THROW(row.make(graph, {{"bias", good}}, {})) << good;
  for (const char* bad : {"0", "-1", "inf", "nan", "", "1/n", "1e999", "Resistance_Diameter"})
    EXPECT_THROW(row.make(graph, {{"bias", bad}}, {}), UsageError) << bad;
  try {
    row.make(graph, {{"bias", "much"}}, {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("resistance_diameter"), std::string::npos);
  }
}

TEST(Projection, refuses_to_interpolate_on_trees) {
  EXPECT_THROW(learner_row("projection").make(oracle::path(3), {{"on", "tree"}, {"strategy", "all"}}, {}),
               UsageError);
}

TEST(Projection, says_when_sweeps_were_cut_short) {
  // A whole component of one class: functions that sum to 0 cannot be positive everywhere.
  const Graph graph = oracle::path(3);
  Projection learner(graph, cyclic_projection(), {});
  for (NodeId u = 0; u < 3; ++u) learner.reveal(u, 0);
  learner.reveal(1, 0);
  ASSERT_EQ(learner.notes().size(), 1u);
  EXPECT_NE(learner.notes()[0].find("max_sweeps"), std::string::npos);
}

TEST(Projection, presets_are_rows_with_fewer_options) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = 20, .num_edges = 40, .seed = 6});
  std::vector<Label> labels(20, kNoLabel);
  for (NodeId u = 0; u < 20; u += 2) labels[u] = u % 3 == 0;
  const std::pair<const char*, OptionValues> presets[] = {
      {"one_projection", {}},
      {"cyclic_projection", {{"strategy", "all"}, {"cyclic", "true"}}},
      {"min_norm_interpolation", {{"strategy", "all"}, {"aggressive", "true"}}}};
  for (const auto& [name, options] : presets) {
    SCOPED_TRACE(name);
    const auto preset = learner_row(name).fit(graph, labels, 2, {}, {});
    const auto general = learner_row("projection").fit(graph, labels, 2, options, {});
    expect_same_answers(*preset.predictor, *general.predictor, 20);
  }
}

TEST(Projection, a_third_class_takes_nothing_from_the_reasons_of_the_second) {
  // Two classes share one function; with the third the second gets its own, and all that it was corrected by.
  const Graph graph = oracle::path(7);
  Projection learner(graph, {.aggressive = true}, {});
  const auto shares = [&] {
    std::map<NodeId, double> share;
    for (const Reason& reason : learner.explain(3)) share[reason.node] = reason.share;
    return share;
  };
  learner.reveal(0, 0);
  learner.reveal(2, 1);
  learner.reveal(4, 1);
  auto before = shares();
  learner.reveal(6, 2);
  auto after = shares();
  ASSERT_EQ(learner.predict(3).label, 1);
  for (const NodeId node : {2, 4}) {
    ASSERT_GT(before[node], 0);
    ASSERT_GT(after[node], 0);
  }
  EXPECT_NEAR(after[2] / after[4], before[2] / before[4], 1e-9);
}

TEST(Projection, learns_from_a_label_it_asked_for_even_if_it_was_right) {
  const Graph graph = oracle::path(6);
  Projection learner(graph, one_projection(), {});
  learner.reveal_queried(2, 0);
  learner.reveal_queried(3, 1);
  std::vector<double> margins(2);
  learner.margins(3, margins);
  EXPECT_NEAR(margins[1], 1, 1e-6);
  learner.reveal(2, 0);
  EXPECT_EQ(learner.num_updates(), 2u);
}

}  // namespace
}  // namespace copse
