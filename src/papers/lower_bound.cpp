// SPDX-License-Identifier: Apache-2.0
// Cesa-Bianchi, Gentile, Vitale & Zappella 2013, theorem 1: labellings that no algorithm can learn cheaply.
#include <cmath>

#include "papers/adversary.hpp"
#include "copse/evaluation/protocols.hpp"
#include "copse/graph/components.hpp"
#include "papers/generators.hpp"
#include "copse/graph/subgraph.hpp"
#include "papers/experiments.hpp"
#include "papers/findings.hpp"
#include "papers/lazy.hpp"

namespace copse {
namespace lower_bound {
namespace {

struct Shape {
  std::string name, family;
  std::vector<std::pair<std::string, double>> parameters;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"path", "path", {{"nodes", 128}}},
      {"grid", "grid", {{"rows", 12}, {"columns", 12}}},
      {"thick barbell", "thick_barbell", {{"clique", 32}, {"bridges", 8}}},
      {"R-MAT", "rmat", {{"scale", 8}, {"edge_factor", 4}}},
  };
  return all;
}

Graph largest_component(const GraphView& graph) {
  const Components components = connected_components(graph, 1);
  return component_subgraph(graph, components, components.largest()).graph;
}

std::vector<int> budgets(bool quick) { return quick ? std::vector{8, 32} : std::vector{4, 8, 16, 32, 64}; }

/// Only the nodes whose labels are coins are played: a mistake on another would be the learner's own.
std::vector<Measurement> play(const Graph& graph, int budget, const LearnerRow& learner, std::uint64_t draw,
                              const Execution& execution) {
  const Execution drawn{execution.seed + draw, 1, execution.progress};
  const Adversary adversary = adversarial_labelling(graph, static_cast<std::uint64_t>(budget), drawn);
  const auto player = learner.make(graph, {}, drawn);
  const OnlineGame game = play_online(*player, adversary.labels.of_node, adversary.budget, execution);
  return {{"mistakes", double(budget), double(game.mistakes())},
          {"expected_cut", double(budget), adversary.expected_cut}};
}

std::vector<Trial> plan(const ExperimentSetup& setup, const Execution& execution) {
  std::vector<Trial> trials;
  const std::uint64_t seed = execution.seed;
  for (const Shape& shape : shapes()) {
    const Lazy<Graph> graph([&shape, seed] {
      return largest_component(generate_any_graph(shape.family, shape.parameters, {seed}).graph);
    });
    for (const int budget : budgets(setup.quick))
      for (const LearnerRow& learner : learner_rows())
        for (int draw = 0; draw < (setup.quick ? 2 : 40); ++draw)
          trials.push_back({{shape.name, std::to_string(budget), learner.name, std::to_string(draw)},
                            [=, &learner](const Execution& e) {
                              return play(graph(), budget, learner, static_cast<std::uint64_t>(draw), e);
                            }});
  }
  return trials;
}

ReportTable shape_table(const std::string& shape, const Results& results) {
  ReportTable table{shape + ": mistakes on K nodes labelled by coins, mean over draws", {"learner"}, {}, {}};
  const std::vector<double> all = results.places("mistakes", {{"graph", shape}});
  for (const double budget : all) table.columns.push_back("K = " + fixed(budget, 0));
  std::vector<std::string> half = {"K / 2"}, cut = {"expected cut of a random tree"};
  for (const double budget : all) {
    half.push_back(fixed(budget / 2, 0));
    cut.push_back(fixed(results.mean("expected_cut", {{"graph", shape}}, budget), 1));
  }
  table.rows = {half, cut};
  for (const std::string& learner : results.levels("learner", {{"graph", shape}})) {
    std::vector<std::string> row = {learner};
    for (const double budget : all)
      row.push_back(fixed(results.mean("mistakes", {{"graph", shape}, {"learner", learner}}, budget), 1));
    table.rows.push_back(row);
  }
  return table;
}

Chart shape_chart(const std::string& shape, const Results& results) {
  Chart chart{.title = shape, .x_title = "nodes labelled by coins, K", .y_title = "mistakes"};
  for (const std::string& learner : results.levels("learner", {{"graph", shape}}))
    chart.series.push_back(
        results.series(learner, "mistakes", {{"graph", shape}, {"learner", learner}}, false));
  ChartSeries half{"K / 2", {}, true};
  for (const double budget : results.places("mistakes", {{"graph", shape}}))
    half.points.push_back({budget, budget / 2});
  chart.series.push_back(half);
  chart.log_x = chart.log_y = true;
  return chart;
}

Report report(const ExperimentSetup& setup, const Results& results) {
  Report report;
  report.title = "No learner errs less often than the lower bound says";
  report.setting = {
      {"labelling",
       "the K nodes with the fewest edges in a random spanning tree get labels by fair coins, "
       "all others one label"},
      {"game", "these K nodes, one after the other: predict, then be told"},
      {"draws", std::string(setup.quick ? "2" : "40") + " labellings a graph, K and learner"},
      {"graphs",
       "a path of 128, a grid of 12 x 12, cliques of 32 with 8 bridges, the largest component of R-MAT 2^8"},
      {"learners", "all of the registry, with their default options"}};
  std::size_t below = 0, total = 0, cuts = 0, cut_total = 0;
  std::string lowest_text;
  double lowest = 1e300, excess = 0;
  for (const Shape& shape : shapes()) {
    report.tables.push_back(shape_table(shape.name, results));
    report.charts.push_back(shape_chart(shape.name, results));
    for (const std::string& learner : results.levels("learner", {{"graph", shape.name}}))
      for (const double budget : results.places("mistakes", {{"graph", shape.name}})) {
        const std::vector<double> values =
            results.values("mistakes", {{"graph", shape.name}, {"learner", learner}}, budget);
        const double error =
            std::sqrt(budget) / 2 / std::sqrt(static_cast<double>(values.size()));  // of fair coins
        const double score = (mean(values) - budget / 2) / error;
        ++total;
        excess += mean(values) - budget / 2;
        below += score < -3;
        if (score < lowest) {
          lowest = score;
          lowest_text =
              learner + " on " + shape.name + ", K = " + fixed(budget, 0) + ": " + fixed(mean(values), 2);
        }
      }
    for (const double budget : results.places("expected_cut", {{"graph", shape.name}}))
      for (const double cut : results.values("expected_cut", {{"graph", shape.name}}, budget))
        ++cut_total, cuts += cut < budget;
  }
  report.findings = {{"Whatever the algorithm, K / 2 mistakes are forced in expectation.",
                      below == 0 ? Verdict::confirmed : Verdict::contradicted,
                      std::to_string(below) + " of " + std::to_string(total) +
                          " means are more than three standard errors below K / 2; the lowest, " +
                          lowest_text + ", is " + fixed(-lowest, 1) + " below."},
                     {"The labelling cuts fewer than K edges of a random spanning tree in expectation.",
                      cuts == cut_total ? Verdict::confirmed : Verdict::contradicted,
                      "in " + std::to_string(cuts) + " of " + std::to_string(cut_total) + " labellings."}};
  report.agreement = confirmed_text(report.findings) +
                     " A labelling that a random tree cuts K times can cost K / 2 mistakes, so that bounds "
                     "in the expected cut, as WTA "
                     "has up to a logarithm, can be improved by no more than that. Over all graphs, K and "
                     "learners the mean is K / 2 "
                     "and " +
                     fixed(excess / static_cast<double>(total), 2) +
                     " more: the first nodes are guessed before both labels have been seen.";
  return report;
}

}  // namespace
}  // namespace lower_bound

ExperimentRow lower_bound_experiment() {
  using namespace lower_bound;  // of its own: plan and report are in every one of these files
  return {"lower-bound",
          "Can any learner beat the lower bound: half of the nodes that an adversary labels by coins?",
          "Cesa-Bianchi, Gentile, Vitale & Zappella 2013, theorem 1",
          "makes its graphs itself",
          {"graph", "budget", "learner", "draw"},
          plan,
          report};
}

}  // namespace copse
