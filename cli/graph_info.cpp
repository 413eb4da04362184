// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "copse/graph/statistics.hpp"
#include "inputs.hpp"
#include "papers/tree_cut.hpp"

namespace copse::cli {
namespace {

struct InfoOptions {
  GraphInput graph;
  LabelsInput labels;
  std::uint64_t num_trees = 31;
};

int info(Session& session, const InfoOptions& options) {
  check_standard_input(options.graph, {options.labels.path});
  Output output(session.output);
  const NamedGraph graph = options.graph.read(session);
  Table table(output, session,
              {{"verb", "graph info"},
               {"graph", options.graph.path},
               {"labels", options.labels.path},
               {"num_trees", options.num_trees},
               {"seed", session.seed}},
              {"key", "value"}, Table::Size::small);
  const auto count = [&](const std::string& key, std::uint64_t value) {
    table.row([&](RowBuffer& row) { row.text(key).count(value); });
  };
  const auto number = [&](const std::string& key, double value) {
    table.row([&](RowBuffer& row) { row.text(key).number(value); });
  };

  const GraphStatistics facts = graph_statistics(graph.graph, session.threads);
  count("num_nodes", facts.num_nodes);
  count("num_edges", facts.num_edges);
  count("num_isolated", facts.num_isolated);
  count("num_components", facts.num_components);
  count("largest_component", facts.largest_component);
  count("min_degree", facts.min_degree);
  number("median_degree", facts.median_degree);
  number("mean_degree", facts.mean_degree);
  count("max_degree", facts.max_degree);
  table.row([&](RowBuffer& row) { row.text("is_weighted").text(facts.is_weighted ? "true" : "false"); });
  if (facts.is_weighted) {
    number("min_weight", facts.min_weight);
    number("median_weight", facts.median_weight);
    number("max_weight", facts.max_weight);
    number("total_weight", facts.total_weight);
    number("weight_range", facts.weight_range);
  }
  if (facts.is_signed) {
    count("num_negative", facts.num_negative);
    count("num_balanced_components", facts.num_balanced_components);
    count("num_frustrated", facts.num_frustrated);
    number("frustration", static_cast<double>(facts.num_frustrated) / static_cast<double>(facts.num_edges));
  }
  count("num_bytes", facts.num_bytes);
  if (!options.labels.path.empty()) {
    const GivenLabels given = options.labels.read_any(session, graph.names);
    const Labels labels = given.as_classes();
    const LabelStatistics about = label_statistics(graph.graph, labels.of_node, session.threads);
    count("num_labelled", about.num_labelled);
    count("num_classes", given.classes().size());
    if (given.is_multi) count("num_sets", given.many.sets.size());
    count("num_judged_edges", about.num_judged_edges);
    count("cut_size", about.cut_size);
    if (about.homophily()) number("homophily", *about.homophily());
    if (facts.is_weighted) number("cut_weight", about.cut_weight);
    if (facts.is_weighted && about.weighted_homophily())
      number("weighted_homophily", *about.weighted_homophily());
    if (options.num_trees > 0) {
      const ExpectedTreeCut cut =
          expected_tree_cut(graph.graph, labels.of_node, options.num_trees, session.execution());
      session.bar().clear();
      number("expected_tree_cut", cut.value);
      number("expected_tree_cut_error", cut.error);
      count("expected_tree_cut_trees", cut.num_trees);
    }
    const std::vector<double> counts =
        given.class_scores(std::vector<double>(about.class_counts.begin(), about.class_counts.end()));
    for (std::size_t c = 0; c < counts.size(); ++c)
      count("class " + given.classes().name(static_cast<Label>(c)), static_cast<std::uint64_t>(counts[c]));
  }
  table.finish();
  return kDone;
}

}  // namespace

void add_graph_info(Program& program, CLI::App& graph) {
  CLI::App* verb =
      add_verb(graph, "info", "Facts about a graph, and about labels on it",
               {"copse graph info graph.tsv", "copse graph info graph.tsv --labels labels.tsv --json"});
  auto options = std::make_shared<InfoOptions>();
  add_graph_options(verb, options->graph)->required();
  add_labels_options(verb, options->labels);
  add_multi_label_flag(verb, options->labels, "cuts are between different sets of them");
  add_option(verb, "--num-trees N", options->num_trees,
             "random spanning trees from which the expected cut of one is estimated where resistances "
             "would take "
             "too long; 0: leave it out");
  add_common(verb, program.session, kAllCommon);
  on_run(verb, program.session, options, info);
}

}  // namespace copse::cli
