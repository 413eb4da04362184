// SPDX-License-Identifier: Apache-2.0
// Cesa-Bianchi, Gentile, Vitale & Zappella 2013, theorem 1: labellings that no algorithm can learn cheaply.
#include <cmath>

#include "copse/evaluation/protocols.hpp"
#include "copse/graph/components.hpp"
#include "copse/graph/subgraph.hpp"
#include "papers/experiment.hpp"
#include "papers/generators.hpp"
#include "papers/tree_cut.hpp"

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

ReportTable shape_table(const std::string& shape, const Results& results) {
  ReportTable table{shape + ": mistakes on K nodes labelled by coins, mean over draws", {"learner"}, {}, {}};
  const std::vector<double> all = results.places("mistakes", {{"graph", shape}});
  for (const double budget : all) table.columns.push_back("K = " + fixed(budget, 0));
  table.rows = {table_row("K / 2", all, [](double budget) { return fixed(budget / 2, 0); }),
                table_row("expected cut of a random tree", all, [&](double budget) {
                  return fixed(results.mean("expected_cut", {{"graph", shape}}, budget), 1);
                })};
  for (const std::string& learner : results.levels("learner", {{"graph", shape}}))
    table.rows.push_back(table_row(learner, all, [&](double budget) {
      return fixed(results.mean("mistakes", {{"graph", shape}, {"learner", learner}}, budget), 1);
    }));
  return table;
}

Chart shape_chart(const std::string& shape, const Results& results) {
  Chart chart{.title = shape,
              .x_title = "nodes labelled by coins, K",
              .y_title = "mistakes",
              .log_x = true,
              .log_y = true};
  for (const std::string& learner : results.levels("learner", {{"graph", shape}}))
    chart.series.push_back(
        results.series(learner, "mistakes", {{"graph", shape}, {"learner", learner}}, false));
  chart.series.push_back(reference_line("K / 2", results.places("mistakes", {{"graph", shape}}),
                                        [](double budget) { return budget / 2; }));
  return chart;
}

/// Means over the draws beside K / 2, over graphs, K and learners.
struct BesideHalf {
  std::size_t total = 0, below = 0;  // below: by more than three standard errors
  double excess = 0;                 // summed
  double lowest = 1e300;             // in standard errors
  std::string lowest_text;
};

BesideHalf beside_half(const Results& results) {
  BesideHalf found;
  for (const Shape& shape : shapes())
    for (const std::string& learner : results.levels("learner", {{"graph", shape.name}}))
      for (const double budget : results.places("mistakes", {{"graph", shape.name}})) {
        const std::vector<double> values =
            results.values("mistakes", {{"graph", shape.name}, {"learner", learner}}, budget);
        const double error =
            std::sqrt(budget) / 2 / std::sqrt(static_cast<double>(values.size()));  // of fair coins
        const double score = (mean(values) - budget / 2) / error;
        ++found.total;
        found.excess += mean(values) - budget / 2;
        found.below += score < -3;
        if (score >= found.lowest) continue;
        found.lowest = score;
        found.lowest_text =
            filled("{} on {}, K = {}: {}", {learner, shape.name, fixed(budget, 0), fixed(mean(values), 2)});
      }
  return found;
}

Finding cuts_fewer(const Results& results) {
  std::size_t fewer = 0, total = 0;
  for (const double budget : results.places("expected_cut"))
    for (const double cut : results.values("expected_cut", {}, budget)) ++total, fewer += cut < budget;
  return {"The labelling cuts fewer than K edges of a random spanning tree in expectation.",
          verdict_of(fewer == total),
          filled("in {} of {} labellings.", {std::to_string(fewer), std::to_string(total)})};
}

}  // namespace
}  // namespace lower_bound

std::vector<Trial> plan_lower_bound(const ExperimentSetup& setup, const Execution& execution) {
  using namespace lower_bound;
  std::vector<Trial> trials;
  for (const Shape& shape : shapes()) {
    const Lazy<Graph> graph([&shape, seed = execution.seed] {
      return largest_component(generate_any_graph(shape.family, shape.parameters, {seed}).graph);
    });
    for (const int budget : setup.quick ? std::vector{8, 32} : std::vector{4, 8, 16, 32, 64})
      for (const LearnerRow& learner : learner_rows())
        for (int draw = 0; draw < (setup.quick ? 2 : 40); ++draw)
          trials.push_back({{shape.name, std::to_string(budget), learner.name, std::to_string(draw)},
                            [=, &learner](const Execution& e) {
                              return play(graph(), budget, learner, static_cast<std::uint64_t>(draw), e);
                            }});
  }
  return trials;
}

Report report_lower_bound(const ExperimentSetup& setup, const Results& results) {
  using namespace lower_bound;
  Report report;
  report.title = "No learner errs less often than the lower bound says";
  report.setting = {
      {"labelling",
       "the K nodes with the fewest edges in a random spanning tree get labels by fair coins, all others one "
       "label"},
      {"game", "these K nodes, one after the other: predict, then be told"},
      {"draws", std::string(setup.quick ? "2" : "40") + " labellings per graph, K and learner"},
      {"graphs",
       "a path of 128, a grid of 12 x 12, cliques of 32 with 8 bridges, the largest component of R-MAT 2^8"},
      {"learners", "all of the registry, with their default options"}};
  for (const Shape& shape : shapes()) {
    report.tables.push_back(shape_table(shape.name, results));
    report.charts.push_back(shape_chart(shape.name, results));
  }
  const BesideHalf found = beside_half(results);
  report.findings = {
      {"Whatever the algorithm, K / 2 mistakes are forced in expectation.", verdict_of(found.below == 0),
       filled("{} of {} means are more than three standard errors below K / 2; the lowest, {}, is {} below.",
              {std::to_string(found.below), std::to_string(found.total), found.lowest_text,
               fixed(-found.lowest, 1)})},
      cuts_fewer(results)};
  report.agreement = filled(
      "{} A labelling that a random tree cuts K times can cost K / 2 mistakes, so that bounds in the "
      "expected cut, as WTA has up to a logarithm, can be improved by no more than that. Over all graphs, K "
      "and learners the mean is K / 2 and {} more: the first nodes are guessed before both labels have been "
      "seen.",
      {confirmed_text(report.findings), fixed(found.excess / static_cast<double>(found.total), 2)});
  return report;
}

}  // namespace copse
