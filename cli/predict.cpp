// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <numeric>
#include <optional>

#include "choices.hpp"
#include "copse/evaluation/left_out.hpp"
#include "copse/learners/multi_label.hpp"
#include "inputs.hpp"
#include "streamed.hpp"

namespace copse::cli {
namespace {

struct PredictOptions {
  GraphInput graph;
  LabelsInput labels;
  HintsInput hints;
  LearnerChoice learner;
  MemoryChoice memory;
  std::string scores;  // "columns", "raw" or "long"; empty: none
  bool only_predicted = false;
  Thresholds thresholds = Thresholds::f1;  // of --multi-label
  double coverage = 0, abstain_below = 0;
  std::string ranked_class;
  std::uint64_t top = 0;
  bool sort = false;
};

struct Status {
  bool is_given, is_reached, is_abstained = false;
  std::string_view text() const {
    return is_given ? "given" : is_abstained ? "abstained" : is_reached ? "predicted" : "unreached";
  }
};

// How a row is written: which scores, and above which share a class belongs to the set of --coverage.
struct RowForm {
  bool with_scores = false, are_raw = false;
  std::optional<double> coverage_threshold;
  std::vector<double> class_thresholds;  // of --multi-label
};

std::vector<double> class_scores(const GivenLabels& given, const Predictor& predictor, NodeId node,
                                 bool raw) {
  std::vector<double> scores(predictor.num_classes());
  raw ? predictor.raw_scores(node, scores) : predictor.scores(node, scores);
  scores.resize(given.classes().size());  // a signed graph knows a class that nobody has named
  return scores;
}

// The classes that the truth is among, as often as was asked; of a given label that one.
void write_set(RowBuffer& row, const GivenLabels& given, const Predictor& predictor, NodeId node,
               Status status, double threshold) {
  std::vector<double> shares = class_scores(given, predictor, node, true);
  normalise_scores(shares);
  std::vector<std::string_view> names;
  for (std::size_t c = 0; c < shares.size(); ++c)
    if (status.is_given ? given.one.of_node[node] == c : shares[c] >= threshold)
      names.push_back(given.one.classes.name(static_cast<Label>(c)));
  row.list(names);
}

void write_one(RowBuffer& row, const GivenLabels& given, const Predictor& predictor, NodeId node,
               const Prediction& answer, Status status, const RowForm& form) {
  if (answer.label == kNoLabel || status.is_abstained)
    row.missing();
  else
    row.text(given.one.classes.name(answer.label));
  row.number(answer.confidence).text(status.text());
  if (form.coverage_threshold) write_set(row, given, predictor, node, status, *form.coverage_threshold);
  if (form.with_scores)
    row.numbers(given.classes().names(), class_scores(given, predictor, node, form.are_raw));
}

// A row per class: what other tools, and copse itself, read as a prior.
void write_long(RowBuffer& row, const NodeNames& names, const GivenLabels& given, const Predictor& predictor,
                NodeId node) {
  const std::vector<double> scores = class_scores(given, predictor, node, false);
  for (std::size_t c = 0; c < scores.size(); ++c) {
    row.name(names, node).text(given.classes().name(static_cast<Label>(c))).number(scores[c]);
    row.end_row();
  }
}

void write_many(RowBuffer& row, const GivenLabels& given, const Predictor& predictor, NodeId node,
                Status status, const RowForm& form) {
  const std::vector<double> scores = class_scores(given, predictor, node, false);
  const AnsweredSet answer = status.is_given ? AnsweredSet{given.many.sets[given.of_node()[node]], 1}
                                             : classes_above(scores, form.class_thresholds);
  row.list(given.names(std::span(answer.classes))).number(answer.confidence).text(status.text());
  if (form.with_scores)
    row.numbers(given.classes().names(), form.are_raw ? class_scores(given, predictor, node, true) : scores);
}

// The unlabelled nodes, those first that belong to the class most surely, or whose answer is surest.
std::vector<NodeId> ranked_nodes(const PredictOptions& options, const Session& session,
                                 const GivenLabels& given, const Predictor& predictor) {
  const Label of_class = given.classes().find(options.ranked_class);
  if (!options.ranked_class.empty() && of_class == kNoLabel)
    throw UsageError("--class", copse::quoted(options.ranked_class) + " is the label of no node",
                     "the classes are those of the label file, as they are written there");
  std::vector<NodeId> nodes;
  for (NodeId node = 0; node < given.of_node().size(); ++node)
    if (given.of_node()[node] == kNoLabel) nodes.push_back(node);
  std::vector<double> rank(nodes.size());
  parallel_blocks(session.threads, nodes.size(), std::size_t{1} << 12,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t i = begin; i < end; ++i)
                      rank[i] = of_class == kNoLabel
                                    ? predictor.predict(nodes[i]).confidence
                                    : class_scores(given, predictor, nodes[i], true)[of_class];
                  });
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return rank[a] > rank[b]; });
  if (options.top > 0 && options.top < order.size()) order.resize(options.top);
  std::vector<NodeId> ranked;
  for (const std::size_t i : order) ranked.push_back(nodes[i]);
  return ranked;
}

void check_combination(const PredictOptions& options) {
  const bool is_multi = options.labels.multi_label;
  if (is_multi && (options.coverage > 0 || options.abstain_below > 0))
    throw UsageError("--multi-label", "answers every class by itself",
                     "leave --coverage and --abstain-below away");
  if (is_multi && (options.sort || options.top > 0) && options.ranked_class.empty())
    throw UsageError("--multi-label", "answers every class by itself, and sorts by one of them",
                     "say which with --class NAME");
  if (is_multi && !options.hints.empty())
    throw UsageError("--multi-label", "takes no soft labels, priors and class sizes",
                     "leave one of them away");
  if (options.labels.path.empty() && options.hints.soft_labels.empty())
    throw UsageError("copse predict", "--labels is required", "or --soft-labels; see copse predict --help");
  if (options.scores == "long" && (options.coverage > 0 || options.abstain_below > 0))
    throw UsageError("--scores long", "has a row per class and no answer in it",
                     "leave --coverage and --abstain-below away");
}

// A threshold for --coverage, and what is to be said about it.
double threshold_for(const PredictOptions& options, const LearnerRow& learner, const GivenLabels& given,
                     const Predictor& predictor, const Execution& execution) {
  if (given.one.classes.size() == 1) return 0;
  const LeaveOneOut left_out = answers_left_out(learner, predictor, "--coverage", execution);
  return coverage_threshold(left_out, given.one.of_node, given.one.classes.size(), options.coverage);
}

std::vector<std::string> columns_of(const PredictOptions& options, const Session& session,
                                    const GivenLabels& given) {
  if (options.scores == "long") return {"node", "class", "probability"};
  std::vector<std::string> columns{"node", "label", "confidence", "status"};
  if (options.coverage > 0) columns.emplace_back("set");
  const std::vector<std::string>& classes = given.classes().names();
  if (!options.scores.empty() && session.json)
    columns.emplace_back("scores");
  else if (!options.scores.empty())
    columns.insert(columns.end(), classes.begin(), classes.end());
  return columns;
}

// The graph in memory, or with --memory its edges on disk until it is known whether they fit; and the labels.
struct Input {
  std::optional<EdgeStream> stream;
  bool is_text = true, listed_both_ways = false;
  NamedGraph graph;
  GivenLabels given;
  Hints hints;
  const NodeNames& names() const { return stream ? stream->names() : graph.names; }
};

Input read_input(Session& session, const PredictOptions& options) {
  Input input;
  if (options.memory.bytes == 0) {
    input.graph = options.graph.read(session);
  } else {
    ReadReport report;
    input.stream.emplace(options.graph.stream(session, options.memory.directory(), report));
    input.is_text = report.format != GraphFormat::copse;
    input.listed_both_ways = report.build.listed_both_ways;
  }
  input.given = options.labels.read_any(session, input.names());
  input.hints = options.hints.read(session, input.names(), input.given.one);
  return input;
}

// In memory where that fits, else streamed; says which and why. `choice` becomes the learner that answers.
BatchResult fit(Session& session, const PredictOptions& options, Input& input, LearnerChoice& choice) {
  const std::vector<Label>& labels = input.given.of_node();
  const std::size_t num_classes = input.given.num_answers();
  if (input.stream) {
    EdgeStream& stream = *input.stream;
    const RunSize size{stream.num_nodes(), stream.num_edges(), stream.names().bytes(), stream.is_weighted(),
                       input.listed_both_ways};
    const std::uint64_t needed =
        peak_bytes(size, input.is_text,
                   choice.row().bytes({size.nodes, size.arcs(), size.weighted, num_classes, session.threads},
                                      choice.values));
    const bool fits = needed <= options.memory.bytes;
    session.say("  {} in memory would take {}, and --memory allows {}: {}", choice.name, bytes_text(needed),
                bytes_text(options.memory.bytes),
                !fits                           ? "its edges are streamed"
                : options.memory.resume.empty() ? "it is read into memory"
                                                : "it is read into memory, without --resume");
    if (!fits) {
      if (!input.hints.empty())
        throw UsageError("--memory", "streamed committees take no soft labels, priors and class sizes",
                         "leave them away, or allow more memory");
      choice = streamed_learner(choice);
      stream.merge(session.execution());
      BatchResult result = fit_streamed(session, stream, labels, num_classes, choice, options.memory);
      if (input.given.is_multi)
        result.predictor =
            of_classes(std::move(result.predictor), input.given.many, input.given.classes().size());
      return result;
    }
    input.graph = std::move(stream).build(session.execution());
    input.stream.reset();
  }
  const LearnerRow& learner = choice.row_for(input.graph.graph);
  choice.name = learner.name;
  check_memory(learner, choice.values, input.graph.graph, num_classes, session.threads);
  if (input.given.is_multi)
    return fit_multi(learner, input.graph.graph, input.given.many, input.given.classes().size(),
                     choice.values, session.execution());
  return fit_with_hints(learner, input.graph.graph, labels, num_classes, input.hints, choice.values,
                        session.execution());
}

int predict(Session& session, const PredictOptions& options) {
  check_standard_input(options.graph, {options.labels.path, options.hints.soft_labels, options.hints.prior,
                                       options.hints.class_sizes});
  check_combination(options);
  options.learner.row().check(options.learner.values);
  Output output(session.output);  // a place that cannot be written is told before the work, not after it
  Input input = read_input(session, options);
  const GivenLabels& given = input.given;
  LearnerChoice choice = options.learner;
  const Stopwatch watch;
  const BatchResult result = fit(session, options, input, choice);
  const NodeNames& names = input.names();
  const LearnerRow& learner = choice.row();
  const Predictor& predictor = *result.predictor;
  RowForm form{!options.scores.empty(), options.scores == "raw", {}, {}};
  if (given.is_multi)
    form.class_thresholds = class_thresholds(predictor, given.many, options.thresholds, session.execution());
  if (options.coverage > 0)
    form.coverage_threshold = threshold_for(options, learner, given, predictor, session.execution());
  const bool is_ranking = options.sort || options.top > 0 || !options.ranked_class.empty();
  std::vector<NodeId> ranked;
  if (is_ranking) ranked = ranked_nodes(options, session, given, predictor);
  const double seconds = watch.seconds();
  session.bar().clear();

  Json about{{"verb", "predict"},
             {"graph", options.graph.path},
             {"labels", options.labels.path},
             {"multi_label", given.is_multi},
             {"learner", learner.name},
             {"seed", session.seed}};
  about.update(effective_options(learner, choice.values));
  Table table(output, session, about, columns_of(options, session, given));
  std::atomic<std::uint64_t> num_unreached{0}, num_given{0}, num_abstained{0};
  const std::size_t num_rows = is_ranking ? ranked.size() : names.size();
  table.rows(num_rows, session.threads, [&](RowBuffer& row, std::size_t i) {
    const auto node = is_ranking ? ranked[i] : static_cast<NodeId>(i);
    const Prediction answer = predictor.predict(node);
    const bool is_given = given.of_node()[node] != kNoLabel;
    const Status status{is_given, answer.reached, !is_given && answer.confidence < options.abstain_below};
    const auto count = [](std::atomic<std::uint64_t>& of) { of.fetch_add(1, std::memory_order_relaxed); };
    if (status.is_given)
      count(num_given);
    else if (!status.is_reached)
      count(num_unreached);
    if (status.is_abstained) count(num_abstained);
    if (status.is_given && options.only_predicted) return;
    if (options.scores == "long") return write_long(row, names, given, predictor, node);
    row.name(names, node);
    if (given.is_multi)
      write_many(row, given, predictor, node, status, form);
    else
      write_one(row, given, predictor, node, answer, status, form);
    row.end_row();
  });

  std::vector<std::string> notes = result.notes;
  if (result.interrupted)
    notes.insert(notes.begin(),
                 fmt::format("interrupted after {} of {} trees", result.units_done, result.units_asked));
  if (form.coverage_threshold)
    notes.push_back(*form.coverage_threshold == 0
                        ? "too few labels for sets that hold the truth so often: they hold all classes"
                        : "sets hold the truth that often where the given labels are a random sample");
  if (num_abstained > 0)
    notes.push_back(fmt::format("{} abstained from: their confidence is below {}",
                                counted(num_abstained, "node"), options.abstain_below));
  Json more{{"notes", notes}, {"interrupted", result.interrupted}};
  for (std::size_t c = 0; c < form.class_thresholds.size(); ++c)
    more["thresholds"][given.classes().name(static_cast<Label>(c))] = form.class_thresholds[c];
  table.finish(more);
  if (input.stream && !options.memory.resume.empty() && !result.interrupted)
    std::filesystem::remove(options.memory.resume);

  session.say("{} predicted by {}, seed {}, in {}", counted(num_rows - num_given, "node"),
              described_text(learner, choice.values), session.seed, duration_text(seconds));
  if (num_unreached > 0)
    session.say("  {} unreached: no label lies in their component, so they get the most frequent one",
                with_commas(num_unreached));
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
  add_labels_options(verb, options->labels);
  add_hints_options(verb, options->hints);
  add_option(verb, "--scores columns|raw|long", options->scores,
             "columns: one per class with its score (the default); raw: the same, neither clipped nor\n"
             "divided by their sum; long: rows \"node class probability\" instead")
      ->expected(0, 1)
      ->default_str("columns")
      ->check(one_of({"columns", "raw", "long"}));
  add_option(verb, "--class NAME", options->ranked_class,
             "unlabelled nodes only, those first that belong to this class most surely");
  add_option(verb, "--top N", options->top, "of these, or of those with the surest answers, the first N")
      ->check(positive());
  verb->add_flag("--sort", options->sort, "unlabelled nodes only, the surest answers first");
  add_option(verb, "--coverage P", options->coverage,
             "a column with the set of classes that holds the truth with this probability")
      ->check(in_range(0.01, 0.999));
  add_option(verb, "--abstain-below P", options->abstain_below, "no label where the confidence is below P")
      ->check(in_range(0.0, 1.0));
  verb->add_flag("--only-predicted", options->only_predicted, "leave out the nodes whose label was given");
  add_multi_label_flag(verb, options->labels, "answers are lists between commas");
  add_thresholds_option(verb, options->thresholds);
  add_memory_options(verb, options->memory, true);
  add_learner_options(verb, options->learner, program.mentioned);
  add_common(verb, program.session, kAllCommon);
  on_run(verb, program.session, options, predict);
}

}  // namespace copse::cli
