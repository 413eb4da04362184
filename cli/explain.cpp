// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "choices.hpp"
#include "copse/learners/multi_label.hpp"
#include "inputs.hpp"

namespace copse::cli {
namespace {

struct ExplainOptions {
  GraphInput graph;
  LabelsInput labels;
  std::string node;
  LearnerChoice learner;
};

// 27 of 31 trees, where the learner is a committee; otherwise the score.
std::string vote_text(const Learner& learner, double score) {
  const auto trees = static_cast<double>(learner.num_voters());
  if (trees == 0) return fmt::format("score {:.3g}", score);
  return fmt::format("{} of {} tree{}", std::llround(score * trees), trees, trees == 1 ? "" : "s");
}

int explain(Session& session, const ExplainOptions& options) {
  check_standard_input(options.graph, {options.labels.path});
  const OptionValues& values = options.learner.values;
  options.learner.row().check(values);
  Output output(session.output);
  const NamedGraph graph = options.graph.read(session);
  const LearnerRow& row = options.learner.row_for(graph.graph);
  const NodeId node = find_node(graph.names, options.node, "NODE");
  GivenLabels labels = options.labels.read_any(session, graph.names);
  if (graph.graph.view().is_signed() && labels.classes().size() < 2)
    throw InputError(options.labels.path, "there is one class only, and the graph has negative edges",
                     "a negative edge leads to the other class, which needs a name: label a node of it");
  const Label own = std::exchange(labels.of_node()[node], kNoLabel);
  check_online_memory(row, values, graph.graph, session.threads);
  const std::unique_ptr<Learner> learner = row.make(graph.graph, values, session.execution());
  learner->reveal_all(labels.of_node());

  const Prediction answer = learner->predict(node);
  const std::vector<Reason> reasons = learner->explain(node);
  std::vector<double> of_answers(std::max(learner->num_classes(), labels.num_answers()));
  learner->scores(node, of_answers);
  std::vector<double> scores = labels.class_scores(of_answers);
  AnsweredSet predicted{{answer.label}, answer.confidence};
  if (labels.is_multi) {  // as `copse predict` answers
    const BatchResult fitted =
        fit_multi(row, graph.graph, labels.many, scores.size(), values, session.execution());
    fitted.predictor->scores(node, scores);
    predicted = classes_above(
        scores, class_thresholds(*fitted.predictor, labels.many, Thresholds::f1, session.execution()));
  }

  if (own != kNoLabel)
    session.say("{} is labelled {}; without its own label:", options.node, copse::quoted(labels.text(own)));
  if (answer.label == kNoLabel) {
    session.say("nothing is predicted: there is no other label");
  } else {
    const std::string shown =
        copse::quoted(fmt::format("{}", fmt::join(labels.names(std::span(predicted.classes)), ",")));
    session.say(
        answer.reached
            ? fmt::format("{} is predicted {} ({}). The labelled nodes that decided:", options.node, shown,
                          vote_text(*learner, predicted.confidence))
            : fmt::format("{} is reached by no label: {} is the most frequent one", options.node, shown));
  }
  std::vector<Label> order(scores.size());
  for (std::size_t c = 0; c < order.size(); ++c) order[c] = static_cast<Label>(c);
  std::stable_sort(order.begin(), order.end(), [&](Label a, Label b) { return scores[a] > scores[b]; });
  Json votes = Json::object();
  std::string voted;
  for (const Label label : order) {
    if (scores[label] <= 0) continue;
    const std::string& name = labels.classes().name(label);
    votes[name] = scores[label];
    voted += fmt::format("{}{} {}", voted.empty() ? "" : ", ", name, vote_text(*learner, scores[label]));
  }

  Json about{{"verb", "explain"},    {"graph", options.graph.path}, {"labels", options.labels.path},
             {"node", options.node}, {"learner", row.name},         {"seed", session.seed}};
  about.update(effective_options(row, values));
  Table table(output, session, about, {"node", "label", "share", "resistance"}, Table::Size::small);
  for (const Reason& reason : reasons)
    table.row([&](RowBuffer& cells) {
      labels.write(cells.name(graph.names, reason.node), labels.names(reason.label));
      cells.number(reason.share).number(reason.resistance);
    });
  const auto json_of = [&](const std::vector<std::string_view>& names) {
    return labels.is_multi ? Json(names) : Json(names[0]);
  };
  table.finish(
      {{"predicted", answer.label == kNoLabel ? Json() : json_of(labels.names(std::span(predicted.classes)))},
       {"confidence", predicted.confidence},
       {"reached", answer.reached},
       {"given", own == kNoLabel ? Json() : json_of(labels.names(own))},
       {"votes", votes},
       {"notes", Json::array()}});
  if (!voted.empty()) session.say("votes: " + voted);
  return kDone;
}

}  // namespace

void add_explain(Program& program) {
  CLI::App* verb = add_verb(
      program.app, "explain",
      "Tell why a node is predicted as it is\n\n"
      "The labelled nodes that decided, their share of the vote and their resistance (distance) to it.\n"
      "A labelled node is explained as if it were not.",
      {"copse explain graph.tsv d --labels labels.tsv",
       "copse explain graph.tsv d --labels labels.tsv --num-trees 101 --json"});
  auto options = std::make_shared<ExplainOptions>();
  add_graph_options(verb, options->graph)->required();
  add_option(verb, "NODE ID", options->node, "id of the node to explain")->required();
  add_labels_options(verb, options->labels)->required();
  add_multi_label_flag(verb, options->labels, "votes are those of each class");
  add_learner_options(verb, options->learner, program.mentioned);
  add_common(verb, program.session, kAllCommon);
  on_run(verb, program.session, options, explain);
}

}  // namespace copse::cli
