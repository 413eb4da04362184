// SPDX-License-Identifier: Apache-2.0
#include "papers/tree_methods.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "copse/evaluation/protocols.hpp"

namespace copse {
namespace {

/// Macro-averages over yes/no questions, and what it took to learn and to answer them.
struct Score {
  double error = 0, f_measure = 0, seconds = 0;
};

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// What a trial is about.
struct TreeTrial {
  const SharedSet& shared;
  const TreeSet& set;
  Split split;
  std::size_t permutation, num_instances;
  Execution execution;
};

Score binary_score(const GraphView& graph, const TreeTrial& ask, const std::string& learner,
                   const OptionValues& options) {
  const double start = thread_seconds();
  const BatchScore score =
      evaluate_split(graph, ask.set.labels, ask.split, learner_row(learner), options, ask.execution);
  return {score.error, score.macro_f1, thread_seconds() - start};
}

/// One class per node: a wrong answer is wrong in two of the questions.
Score decided_score(const GraphView& graph, const TreeTrial& ask, const std::string& learner,
                    const OptionValues& options) {
  if (!ask.set.single) return binary_score(graph, ask, learner, options);
  Confusion confusion(0);
  const BatchScore score = evaluate_split(graph, *ask.set.single, ask.split, learner_row(learner), options,
                                          ask.execution, &confusion);
  return {2 * score.error / static_cast<double>(confusion.num_classes()), score.macro_f1};
}

/// On a tree that is its own only spanning tree.
Score wta_score(const TreeMethod& method, const TreeTrial& ask) {
  OptionValues options = method.options;
  options["tree"] = "mst";
  options["num_trees"] = "1";
  Score sum;
  const std::size_t count = num_instances(method.tree, ask.num_instances);
  for (std::size_t instance = 0; instance < count; ++instance) {
    const Score score = binary_score(ask.shared.tree(method.tree, instance), ask, "wta", options);
    sum.error += score.error / static_cast<double>(count);
    sum.f_measure += score.f_measure / static_cast<double>(count);
    sum.seconds += score.seconds / static_cast<double>(count);
  }
  return sum;
}

/// A perceptron per class, as the paper has it: passes over the training labels in random order, each tree
/// with one of the permutations.
Score perceptron_score(const TreeMethod& method, const TreeTrial& ask) {
  const Graph& tree = ask.shared.tree(method.tree, ask.permutation);
  OptionValues options = method.options;
  options.insert({{"on", "tree"}, {"tree", "mst"}, {"num_trees", "1"}});
  const double start = thread_seconds();
  const MultiLabels& labels = ask.set.labels;
  OneVersusRest counts{std::vector<BinaryCounts>(labels.classes.size())};
  for (std::size_t c = 0; c < labels.classes.size(); ++c) {
    const auto has_class = [&](NodeId node) {
      const std::vector<Label>& set = labels.sets[labels.set_of_node[node]];
      return std::binary_search(set.begin(), set.end(), static_cast<Label>(c));
    };
    std::vector<Label> visible(labels.set_of_node.size(), kNoLabel);
    for (const NodeId node : ask.split.train) visible[node] = has_class(node) ? 1 : 0;
    const BatchResult result = learner_row("graph_perceptron").fit(tree, visible, 2, options, ask.execution);
    if (result.interrupted) throw Cancelled{};
    for (const NodeId node : ask.split.test)
      counts.by_class[c].add(has_class(node), result.predictor->predict(node).label == 1);
  }
  return {counts.error(), counts.macro_f1(), thread_seconds() - start};
}

std::vector<Measurement> measured(const Score& score) {
  return {{"error", 0, score.error}, {"f_measure", 0, score.f_measure}, {"answer_seconds", 0, score.seconds}};
}

std::vector<Measurement> run_fit(const TreeMethod& method, const TreeTrial& ask) {
  GraphView graph = ask.set.graph;
  if (method.ignores_weights) graph.weights = {};
  std::vector<Measurement> measurements;
  if (method.is_binary) measurements = measured(binary_score(graph, ask, method.learner, method.options));
  if (method.is_decided) {
    const Score score = decided_score(graph, ask, method.learner, method.options);
    measurements.push_back({"decided_error", 0, score.error});
    measurements.push_back({"decided_f", 0, score.f_measure});
  }
  if (method.name == "WMV") {
    measurements.push_back({"nodes", 0, static_cast<double>(graph.num_nodes())});
    measurements.push_back({"edges", 0, static_cast<double>(graph.num_edges())});
    measurements.push_back({"classes", 0, static_cast<double>(ask.set.labels.classes.size())});
  }
  return measurements;
}

std::vector<Measurement> run_method(const TreeMethod& method, const TreeTrial& ask) {
  switch (method.run) {
    case TreeMethod::Run::wta:
      return measured(wta_score(method, ask));
    case TreeMethod::Run::perceptron:
      return measured(perceptron_score(method, ask));
    case TreeMethod::Run::fit:
      break;
  }
  return run_fit(method, ask);
}

}  // namespace

TreeMethod wta_on(TreeKind kind, bool weighted) {
  return {.name = std::string(weighted ? "WTA+" : "NWWTA+") + upper(to_string(kind)),
          .run = TreeMethod::Run::wta,
          .tree = kind,
          .options = {{"weighted", weighted ? "true" : "false"}}};
}

TreeMethod perceptron_on(TreeKind kind, const std::string& bias, int passes) {
  const std::string count = passes == 1 ? "" : std::to_string(passes);
  return {.name = "GPA" + count + (bias == "1" ? "+" : "(" + bias + ")+") + upper(to_string(kind)),
          .run = TreeMethod::Run::perceptron,
          .tree = kind,
          .options = {{"bias", bias}, {"epochs", std::to_string(passes)}}};
}

TreeMethod wta_committee(int num_trees, TreeKind kind, bool weighted) {
  const std::string count = std::to_string(num_trees);
  return {.name = count + (weighted ? "*WTA+" : "*NWWTA+") + upper(to_string(kind)),
          .learner = "wta",
          .options = {
              {"num_trees", count}, {"tree", to_string(kind)}, {"weighted", weighted ? "true" : "false"}}};
}

TreeMethod majority_method() { return {.name = "WMV", .learner = "majority_vote"}; }

TreeMethod propagation_method() {
  return {.name = "LABPROP", .learner = "label_propagation", .options = {{"shift", "none"}}};
}

std::vector<Trial> tree_trials(const TreePlan& plan) {
  constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;  // every permutation has trees and orders of its own
  std::vector<Trial> trials;
  for (const SharedSet& set : plan.sets) {
    const auto shared = std::make_shared<const SharedSet>(set);
    for (const double share : plan.shares)
      for (const TreeMethod& method : plan.methods) {
        const auto kept = std::make_shared<const TreeMethod>(method);
        for (std::size_t p = 0; p < plan.num_permutations; ++p)
          trials.push_back({{set.name(), fixed(share, 2), method.name, std::to_string(p + 1)},
                            [=, instances = plan.num_instances](const Execution& execution) {
                              const TreeSet& data = (*shared)();
                              Split split = random_split(data.labels.set_of_node, share, execution.seed, p);
                              Execution own = execution;
                              own.seed += p * kStep;
                              return run_method(*kept, {*shared, data, std::move(split), p, instances, own});
                            }});
      }
  }
  return trials;
}

std::string share_heading(const std::string& train) { return fixed(100 * std::stod(train), 0) + " %"; }

OptionValues paper_kernel(const GraphView& graph, double unit) {
  double sum = 0;
  for (const Weight weight : graph.weights) sum += weight;
  char mean_weight[40];
  std::snprintf(mean_weight, sizeof mean_weight, "%.17g",
                unit * sum / static_cast<double>(graph.weights.size()));
  return {{"bias", mean_weight}, {"diagonal", mean_weight}};
}

}  // namespace copse
