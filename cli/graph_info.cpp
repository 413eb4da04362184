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
  const GraphStatistics facts = graph_statistics(graph.graph, session.threads);
  table.add("num_nodes", facts.num_nodes);
  table.add("num_edges", facts.num_edges);
  table.add("num_isolated", facts.num_isolated);
  table.add("num_components", facts.num_components);
  table.add("largest_component", facts.largest_component);
  table.add("min_degree", facts.min_degree);
  table.add("median_degree", facts.median_degree);
  table.add("mean_degree", facts.mean_degree);
  table.add("max_degree", facts.max_degree);
  table.add("is_weighted", facts.is_weighted ? "true" : "false");
  if (facts.is_weighted) {
    table.add("min_weight", facts.min_weight);
    table.add("median_weight", facts.median_weight);
    table.add("max_weight", facts.max_weight);
    table.add("total_weight", facts.total_weight);
    table.add("weight_range", facts.weight_range);
  }
  if (facts.is_signed) {
    table.add("num_negative", facts.num_negative);
    table.add("num_balanced_components", facts.num_balanced_components);
    table.add("num_frustrated", facts.num_frustrated);
    table.add("frustration",
              static_cast<double>(facts.num_frustrated) / static_cast<double>(facts.num_edges));
  }
  table.add("num_bytes", facts.num_bytes);
  if (!options.labels.path.empty()) {
    const GivenLabels given = options.labels.read_any(session, graph.names);
    const Labels labels = given.as_classes();
    const LabelStatistics about = label_statistics(graph.graph, labels.of_node, session.threads);
    table.add("num_labelled", about.num_labelled);
    table.add("num_classes", given.classes().size());
    if (given.is_multi) table.add("num_sets", given.many.sets.size());
    table.add("num_judged_edges", about.num_judged_edges);
    table.add("cut_size", about.cut_size);
    if (about.homophily()) table.add("homophily", *about.homophily());
    if (facts.is_weighted) table.add("cut_weight", about.cut_weight);
    if (facts.is_weighted && about.weighted_homophily())
      table.add("weighted_homophily", *about.weighted_homophily());
    if (options.num_trees > 0) {
      const ExpectedTreeCut cut =
          expected_tree_cut(graph.graph, labels.of_node, options.num_trees, session.execution());
      session.bar().clear();
      table.add("expected_tree_cut", cut.value);
      table.add("expected_tree_cut_error", cut.error);
      table.add("expected_tree_cut_trees", cut.num_trees);
    }
    const std::vector<double> counts =
        given.class_scores(std::vector<double>(about.class_counts.begin(), about.class_counts.end()));
    for (std::size_t c = 0; c < counts.size(); ++c)
      table.add("class " + given.classes().name(static_cast<Label>(c)),
                static_cast<std::uint64_t>(counts[c]));
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
