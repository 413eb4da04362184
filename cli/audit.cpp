// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "choices.hpp"
#include "copse/evaluation/left_out.hpp"
#include "inputs.hpp"

namespace copse::cli {
namespace {

struct AuditOptions {
  GraphInput graph;
  LabelsInput labels;
  LearnerChoice learner;
  std::uint64_t top = 100;
};

constexpr std::size_t kReasonsShown = 3;

// Labelled nodes that speak against the given label: those that decide on spanning trees without it. Trees
// take a label back at once, which other learners do not.
class Reasons {
 public:
  Reasons(const NamedGraph& graph, const Labels& labels, const Execution& execution)
      : graph_(graph), labels_(labels), learner_(learner_row("wta").make(graph.graph, {}, execution)) {
    for (NodeId node = 0; node < labels.of_node.size(); ++node)
      if (labels.of_node[node] != kNoLabel) learner_->reveal(node, labels.of_node[node]);
  }

  /// "node (label)", the most important first.
  std::vector<std::string> without(NodeId node) {
    learner_->retract(node);
    std::vector<std::string> texts;
    for (const Reason& reason : learner_->explain(node)) {
      if (texts.size() == kReasonsShown) break;
      texts.push_back(graph_.names.name(reason.node) + " (" + labels_.classes.name(reason.label) + ")");
    }
    learner_->reveal(node, labels_.of_node[node]);
    return texts;
  }

 private:
  const NamedGraph& graph_;
  const Labels& labels_;
  std::unique_ptr<Learner> learner_;
};

int audit(Session& session, const AuditOptions& options) {
  check_standard_input(options.graph, {options.labels.path});
  options.learner.row().check(options.learner.values);
  Output output(session.output);
  const NamedGraph graph = options.graph.read(session);
  const LearnerRow& learner = options.learner.row_for(graph.graph);
  const Labels labels = options.labels.read(session, graph.names);
  const std::size_t num_classes = labels.classes.size();
  check_memory(learner, options.learner.values, graph.graph, num_classes, session.threads);
  const BatchResult result =
      learner.fit(graph.graph, labels.of_node, num_classes, options.learner.values, session.execution());
  const LeaveOneOut left_out = answers_left_out(learner, *result.predictor, "--learner", session.execution());
  const std::vector<DoubtedLabel> doubted = doubted_labels(left_out, labels.of_node, num_classes);
  session.bar().clear();

  Json about{{"verb", "audit"},
             {"graph", options.graph.path},
             {"labels", options.labels.path},
             {"learner", learner.name},
             {"seed", session.seed}};
  about.update(effective_options(learner, options.learner.values));
  Table table(output, session, about,
              {"node", "label", "suggested", "label_score", "suggested_score", "because"},
              Table::Size::small);
  const std::size_t shown = std::min<std::size_t>(options.top, doubted.size());
  Reasons reasons(graph, labels, session.execution());
  for (std::size_t i = 0; i < shown; ++i) {
    const DoubtedLabel& one = doubted[i];
    const std::vector<std::string> texts = reasons.without(one.node);
    const std::vector<std::string_view> because(texts.begin(), texts.end());
    table.row([&](RowBuffer& row) {
      row.name(graph.names, one.node)
          .text(labels.classes.name(one.given))
          .text(labels.classes.name(one.suggested))
          .number(one.given_score)
          .number(one.suggested_score)
          .list(because);
    });
  }
  table.finish({{"num_doubted", doubted.size()}, {"notes", result.notes}});
  session.say("{} of {} contradicted by what is around them, as {} sees it without them",
              with_commas(doubted.size()), counted(left_out.nodes.size(), "label"), learner.name);
  if (shown < doubted.size())
    session.say("  the first {} are shown; --top {} shows all", shown, doubted.size());
  for (const std::string& note : result.notes) session.say("  " + note);
  return kDone;
}

}  // namespace

void add_audit(Program& program) {
  CLI::App* verb =
      add_verb(program.app, "audit", "List the given labels that everything around them contradicts",
               {"copse audit graph.tsv --labels labels.tsv",
                "copse audit graph.tsv --labels labels.tsv --learner wta --top 10 --json"});
  auto options = std::make_shared<AuditOptions>();
  add_graph_options(verb, options->graph)->required();
  add_labels_options(verb, options->labels)->required();
  add_option(verb, "--top N", options->top, "show the first N")->check(positive());
  add_learner_options(verb, options->learner, program.mentioned);
  add_common(verb, program.session, kAllCommon);
  on_run(verb, program.session, options, audit);
}

}  // namespace copse::cli
