// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>

#include "choices.hpp"
#include "inputs.hpp"

namespace copse::cli {
namespace {

struct PredictOptions {
  GraphInput graph;
  LabelsInput labels;
  LearnerChoice learner;
  bool scores = false;
  bool only_predicted = false;
  bool multi_label = false;
};

// A class of a multi-label set is answered "yes" above one half; sums of scores have rounding errors, and an
// exact half is a tie, which is no (as in the evaluation).
constexpr double kYes = 0.5 + 1e-12;

// Scores of the sets that occur, added up into scores of the classes.
void class_scores(const MultiLabels& labels, const Predictor& predictor, NodeId node,
                  std::vector<double>& of_sets, std::vector<double>& of_classes) {
  of_sets.assign(labels.sets.size(), 0);
  predictor.scores(node, std::span(of_sets).first(std::min(of_sets.size(), predictor.num_classes())));
  of_classes.assign(labels.classes.size(), 0);
  for (std::size_t set = 0; set < of_sets.size(); ++set)
    for (const Label label : labels.sets[set]) of_classes[label] += of_sets[set];
}

struct Status {
  bool is_given, is_reached;
  std::string_view text() const { return is_given ? "given" : is_reached ? "predicted" : "unreached"; }
};

// What the rows are made from, whether a node has one label or several.
struct Given {
  Labels one;
  MultiLabels many;
  bool is_multi = false;
  const std::vector<Label>& of_node() const { return is_multi ? many.set_of_node : one.of_node; }
  std::size_t num_classes() const { return is_multi ? many.sets.size() : one.classes.size(); }
  const ClassNames& classes() const { return is_multi ? many.classes : one.classes; }
};

void write_one(RowBuffer& row, const Given& given, const Predictor& predictor, NodeId node,
               const Prediction& answer, Status status, bool with_scores) {
  if (answer.label == kNoLabel)
    row.missing();
  else
    row.text(given.one.classes.name(answer.label));
  row.number(answer.confidence).text(status.text());
  if (!with_scores) return;
  std::vector<double> scores(given.one.classes.size());
  predictor.scores(node, scores);
  row.numbers(given.classes().names(), scores);
}

void write_many(RowBuffer& row, const Given& given, const Predictor& predictor, NodeId node, Status status,
                bool with_scores) {
  std::vector<double> of_sets, scores;
  class_scores(given.many, predictor, node, of_sets, scores);
  const auto top = static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
  std::vector<std::string_view> names;
  double confidence = scores[top];
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (scores[c] <= kYes && (c != top || scores[top] > kYes)) continue;
    names.push_back(given.many.classes.name(static_cast<Label>(c)));
    confidence = std::min(confidence, scores[c]);
  }
  row.list(names).number(confidence).text(status.text());
  if (!with_scores) return;
  row.numbers(given.classes().names(), scores);
}

int predict(Session& session, const PredictOptions& options) {
  check_standard_input({options.graph.path, options.labels.path, options.graph.nodes});
  const LearnerRow& learner = options.learner.row();
  learner.check(options.learner.values);
  Output output(session.output);  // a place that cannot be written is told before the work, not after it
  const NamedGraph graph = options.graph.read(session);
  Given given;
  given.is_multi = options.multi_label;
  if (options.multi_label)
    given.many = options.labels.read_multi(session, graph);
  else
    given.one = options.labels.read(session, graph);

  const Stopwatch watch;
  check_memory(learner, options.learner.values, graph.graph, given.num_classes(), session.threads);
  const BatchResult result = learner.fit(graph.graph, given.of_node(), given.num_classes(),
                                         options.learner.values, session.execution());
  const double seconds = watch.seconds();
  session.bar().clear();

  std::vector<std::string> columns{"node", "label", "confidence", "status"};
  const std::vector<std::string>& classes = given.classes().names();
  if (options.scores && session.json)
    columns.emplace_back("scores");
  else if (options.scores)
    columns.insert(columns.end(), classes.begin(), classes.end());
  Json about{{"verb", "predict"},
             {"graph", options.graph.path},
             {"labels", options.labels.path},
             {"multi_label", options.multi_label},
             {"learner", learner.name},
             {"seed", session.seed}};
  about.update(effective_options(learner, options.learner.values));
  Table table(output, session, about, columns);
  std::atomic<std::uint64_t> num_unreached{0}, num_given{0};
  table.rows(graph.graph.num_nodes(), session.threads, [&](RowBuffer& row, std::size_t i) {
    const auto node = static_cast<NodeId>(i);
    const Prediction answer = result.predictor->predict(node);
    const Status status{given.of_node()[node] != kNoLabel, answer.reached};
    if (status.is_given)
      num_given.fetch_add(1, std::memory_order_relaxed);
    else if (!status.is_reached)
      num_unreached.fetch_add(1, std::memory_order_relaxed);
    if (status.is_given && options.only_predicted) return;
    row.name(graph.names, node);
    if (options.multi_label)
      write_many(row, given, *result.predictor, node, status, options.scores);
    else
      write_one(row, given, *result.predictor, node, answer, status, options.scores);
    row.end_row();
  });

  std::vector<std::string> notes = result.notes;
  if (result.interrupted)
    notes.insert(notes.begin(),
                 fmt::format("interrupted after {} of {} trees", result.units_done, result.units_asked));
  table.finish({{"notes", notes}, {"interrupted", result.interrupted}});

  session.say(
      fmt::format("{} predicted by {}, seed {}, in {}", counted(graph.graph.num_nodes() - num_given, "node"),
                  described_text(learner, options.learner.values), session.seed, duration_text(seconds)));
  if (num_unreached > 0)
    session.say(
        fmt::format("  {} unreached: no label lies in their component, so they get the most frequent one",
                    with_commas(num_unreached)));
  for (const std::string& note : notes) session.say("  " + note);
  return result.interrupted ? kInterrupted : kDone;
}

}  // namespace

void add_predict(Program& program) {
  CLI::App* verb =
      add_verb(program.app, "predict", "Predict every node's label from the labels that are known",
               {"copse predict graph.tsv --labels labels.tsv",
                "copse predict graph.tsv --labels labels.tsv --num-trees 101 --scores -o predictions.tsv",
                "cat graph.tsv | copse predict - --labels labels.tsv --only-predicted --json"});
  auto options = std::make_shared<PredictOptions>();
  add_graph_options(verb, options->graph)->required();
  add_labels_options(verb, options->labels)->required();
  verb->add_flag("--scores", options->scores, "one column per class with its score");
  verb->add_flag("--only-predicted", options->only_predicted, "leave out the nodes whose label was given");
  verb->add_flag(
      "--multi-label", options->multi_label,
      "nodes may have several labels: all classes with a score above 0.5, or else the best, comma-separated");
  add_learner_options(verb, options->learner, program.mentioned);
  add_common(verb, program.session, kAllCommon);
  on_run(verb, program.session, options, predict);
}

}  // namespace copse::cli
