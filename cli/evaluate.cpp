// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "choices.hpp"
#include "copse/evaluation/protocols.hpp"
#include "copse/graph/components.hpp"
#include "inputs.hpp"
#include "io/text.hpp"
#include "support/byte_source.hpp"

namespace copse::cli {
namespace {

struct EvaluateOptions {
  GraphInput graph;
  LabelsInput labels;
  std::string learners = "auto,wta";
  OptionValues values;  // flags, for every learner that has the option
  std::string train = "0.1";
  std::string sets;  // a file
  std::uint64_t num_splits = 10, per_class = 0, num_orders = 10;
  StrategyChoice strategy{.name = "", .values = {}};  // of --active
  std::string budget = "10";
  std::uint64_t batch = 1;
  std::string metrics;
  bool stratified = false, online = false, largest_component = false;
  Thresholds thresholds = Thresholds::f1;  // of --multi-label
};

void keep_largest_component(Session& session, const GraphView& graph, std::vector<Label>& labels) {
  const Components components = connected_components(graph, session.threads);
  if (components.count() < 2) return;
  const NodeId largest = components.largest();
  for (std::size_t node = 0; node < labels.size(); ++node)
    if (components.of_node[node] != largest) labels[node] = kNoLabel;
  const auto left = static_cast<std::uint64_t>(
      std::count_if(labels.begin(), labels.end(), [](Label l) { return l != kNoLabel; }));
  session.say("  {} in the largest of {} components", counted(left, "labelled node"),
              with_commas(components.count()));
}

std::vector<const MetricRow*> parse_metrics(const std::string& list) {
  std::vector<const MetricRow*> metrics;
  for (const std::string& name : split(list, ','))
    if (name != "error" && name != "macro_f1" && name != "per_class" &&
        name != "confusion")  // always there; tables
      metrics.push_back(&metric_row(name));
  return metrics;
}

// Tables of all splits of a round together, by class: how each fared, and what was taken for what.
struct ClassTables {
  bool per_class = false, confusion = false;
  std::string text;
  Json json = Json::object();

  explicit ClassTables(const std::string& metrics) {
    for (const std::string& name : split(metrics, ',')) {
      per_class |= name == "per_class";
      confusion |= name == "confusion";
    }
  }

  void add_classes(const std::string& learner, const std::string& given, const ClassNames& classes,
                   const std::vector<BinaryCounts>& counts) {
    const auto share = [](std::uint64_t part, std::uint64_t rest) {
      return part + rest == 0 ? 0 : static_cast<double>(part) / static_cast<double>(part + rest);
    };
    text += fmt::format("\n{}, {} given, by class:\n", learner, given);
    std::string table = "class\tnodes\tprecision\trecall\tf1\n";
    for (std::size_t c = 0; c < counts.size(); ++c) {
      const BinaryCounts& one = counts[c];
      const std::uint64_t nodes = one.true_positive + one.false_negative;
      const double precision = share(one.true_positive, one.false_positive);
      const double recall = share(one.true_positive, one.false_negative);
      const std::string& name = classes.name(static_cast<Label>(c));
      table += fmt::format("{}\t{}\t{:.4f}\t{:.4f}\t{:.4f}\n", name, nodes, precision, recall, one.f1());
      json["per_class"].push_back({{"learner", learner},
                                   {"train", given},
                                   {"class", name},
                                   {"nodes", nodes},
                                   {"precision", precision},
                                   {"recall", recall},
                                   {"f1", one.f1()}});
    }
    text += align(table);
  }

  void add_confusion(const std::string& learner, const std::string& given, const ClassNames& classes,
                     const Confusion& counts) {
    text += fmt::format("\n{}, {} given, rows the truth, columns the answers:\n", learner, given);
    std::string table = fmt::format("\t{}\n", fmt::join(classes.names(), "\t"));
    Json rows = Json::array();
    for (std::size_t truth = 0; truth < classes.size(); ++truth) {
      std::vector<std::uint64_t> row;
      for (std::size_t answer = 0; answer < classes.size(); ++answer)
        row.push_back(counts.count(static_cast<Label>(truth), static_cast<Label>(answer)));
      table += fmt::format("{}\t{}\n", classes.names()[truth], fmt::join(row, "\t"));
      rows.push_back(row);
    }
    text += align(table);
    json["confusion"].push_back(
        {{"learner", learner}, {"train", given}, {"classes", classes.names()}, {"rows_are_truth", rows}});
  }
};

constexpr char kSetShape[] = "a set is name<TAB>nodes with spaces between them, each of them labelled";

std::vector<NodeId> nodes_of(std::string_view line, const std::string& where, const NodeNames& names,
                             const std::vector<Label>& labels) {
  std::vector<NodeId> nodes;
  line.remove_prefix(std::min(line.find('\t'), line.size()));
  for (std::string_view name = next_word(line); !name.empty(); name = next_word(line)) {
    const auto node = names.find(name);
    if (!node || labels[*node] == kNoLabel)
      throw InputError{where, "node " + quoted(name) + (node ? " has no label" : " is not in the graph"),
                       kSetShape};
    nodes.push_back(*node);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  if (nodes.empty()) throw InputError{where, "no node after the name of the set", kSetShape};
  return nodes;
}

/// Sets of nodes whose labels are given, ascending, by their size: one line per set, `name<TAB>node node ...`
/// (the name is for people). InputError for a node that has no label.
std::map<std::size_t, std::vector<std::vector<NodeId>>> read_label_sets(const std::string& path,
                                                                        const NodeNames& names,
                                                                        const std::vector<Label>& labels,
                                                                        const Execution& execution) {
  std::map<std::size_t, std::vector<std::vector<NodeId>>> sets;
  ByteSource source = ByteSource::open(path, execution);
  TextLines lines(source, kSetShape);
  for (std::string_view line; lines.next_row(line);) {
    std::vector<NodeId> nodes = nodes_of(line, at(source.name(), lines.line_number()), names, labels);
    sets[nodes.size()].push_back(std::move(nodes));
  }
  if (sets.empty()) throw InputError{source.name(), "it holds no set", kSetShape};
  return sets;
}

/// Gives the labels of `nodes` and hides all others.
Split split_by_set(const std::vector<NodeId>& nodes, const std::vector<Label>& labels) {
  Split split{nodes, {}};
  for (NodeId node = 0; node < labels.size(); ++node) {
    if (labels[node] != kNoLabel && !std::binary_search(nodes.begin(), nodes.end(), node))
      split.test.push_back(node);
  }
  return split;
}

// Splits of one kind: what the rows call it, how many, and the one of an index.
struct Round {
  std::string given;
  std::uint64_t num_splits;
  std::function<Split(std::uint64_t)> split;
};

std::vector<Round> make_rounds(Session& session, const EvaluateOptions& options, const NamedGraph& graph,
                               const std::vector<Label>& labels) {
  std::vector<Round> rounds;
  const std::uint64_t seed = session.seed;
  if (!options.sets.empty()) {
    for (const auto& group : read_label_sets(options.sets, graph.names, labels, session.execution())) {
      const std::uint64_t count = std::min<std::uint64_t>(options.num_splits, group.second.size());
      rounds.push_back(
          {counted(group.first, "label"), count, [&labels, sets = group.second](std::uint64_t index) {
             return split_by_set(sets[index], labels);
           }});
    }
  } else if (options.per_class > 0) {
    rounds.push_back({fmt::format("{} a class", options.per_class), options.num_splits,
                      [&labels, &options, seed](std::uint64_t index) {
                        return per_class_split(labels, options.per_class, seed, index);
                      }});
  } else {
    for (const double fraction : parse_fractions(options.train))
      rounds.push_back({fmt::format("{:g}", fraction), options.num_splits,
                        [&labels, &options, seed, fraction](std::uint64_t index) {
                          return options.stratified ? stratified_split(labels, fraction, seed, index)
                                                    : random_split(labels, fraction, seed, index);
                        }});
  }
  return rounds;
}

/// Hidden labels that no answer can meet, as few given ones leave them: whoever reads the error should know.
std::optional<std::string> note_of_missing_classes(const Split& split, std::span<const Label> truth) {
  std::set<Label> given;
  for (const NodeId node : split.train) given.insert(truth[node]);
  const auto missing =
      std::ranges::count_if(split.test, [&](NodeId node) { return !given.contains(truth[node]); });
  if (missing == 0) return std::nullopt;
  return fmt::format("with {} given, {} of {} hidden ones (first split) are of classes that no given one has",
                     counted(split.train.size(), "label"), with_commas(static_cast<std::uint64_t>(missing)),
                     with_commas(split.test.size()));
}

std::vector<std::uint64_t> parse_budgets(const std::string& list) {
  std::vector<std::uint64_t> budgets;
  for (const std::string& text : split(list, ',')) {
    if (text.find_first_not_of("0123456789") != std::string::npos || text.size() > 18)
      throw UsageError("--budget", copse::quoted(text) + " is not a number of labels",
                       "for example --budget 0,5,10");
    budgets.push_back(std::stoull(text));
  }
  if (budgets.empty()) throw UsageError("--budget", "names no number", "for example --budget 0,5,10");
  return budgets;
}

/// The runs of a protocol: each a row of the table, all of one learner a line of the summary.
class Evaluation {
 public:
  Evaluation(Session& session, const EvaluateOptions& options, const NamedGraph& graph, GivenLabels& truth,
             const std::vector<Contestant>& all, Table& table)
      : tables(options.metrics),
        session_(session),
        options_(options),
        graph_(graph),
        truth_(truth),
        all_(all),
        table_(table),
        steps_(session.bar()) {}

  void batch() {
    const std::vector<Round> rounds = make_rounds(session_, options_, graph_, truth_.of_node());
    num_runs_ = all_.size();
    for (const Round& round : rounds) num_runs_ += all_.size() * round.num_splits;
    summary = "learner\toptions\ttrain\tsplits\terror\tmacro_f1\tseconds";
    for (const MetricRow* metric : parse_metrics(options_.metrics)) summary += "\t" + metric->name;
    summary += "\n";
    for (const Contestant& one : all_)
      repeat("evaluating " + one.row->name, 1, [&](std::uint64_t, const Execution& execution) {
        const Graph graph = prepare_for_splits(graph_.graph, *one.row, one.values, execution);
        for (const Round& round : rounds) play_round(one, graph, round);
      });
  }

  void online() {
    const Labels labels = truth_.as_classes();
    num_runs_ = all_.size() * options_.num_orders;
    summary = "learner\toptions\torders\terror\tseconds\n";
    for (const Contestant& one : all_) {
      Sample errors, seconds;
      repeat("evaluating " + one.row->name, options_.num_orders,
             [&](std::uint64_t index, const Execution& execution) {
               const std::vector<NodeId> order = random_order(labels.of_node, session_.seed, index);
               const std::unique_ptr<Learner> learner = one.row->make(graph_.graph, one.values, execution);
               const OnlineGame game = play_online(*learner, labels.of_node, order, execution);
               errors.values.push_back(error_of(game));
               seconds.values.push_back(game.seconds);
               table_.add(one.row->name, one.options, index, order.size(), game.mistakes(), error_of(game),
                          game.seconds);
             });
      if (!errors.values.empty())
        summary += fmt::format("{}\t{}\t{}\t{}\t{:.3g}\n", one.row->name, one.options, errors.values.size(),
                               errors.text(), seconds.mean());
    }
  }

  // The strategy asks once an order, for the largest budget: smaller ones are the beginning of that.
  void active() {
    const Labels labels = truth_.as_classes();
    const std::vector<std::uint64_t> budgets = parse_budgets(options_.budget);
    const StrategyChoice& strategy = options_.strategy;
    std::vector<std::vector<NodeId>> asked;
    num_runs_ = options_.num_orders * (1 + all_.size() * budgets.size());
    repeat("asking", options_.num_orders, [&](std::uint64_t, const Execution& execution) {
      const auto asks = strategy.row().make(graph_.graph, strategy.values, execution);
      asked.push_back(ask_labels(*asks, labels.of_node, *std::ranges::max_element(budgets), options_.batch));
    });
    if (asked.size() < options_.num_orders) return;
    summary = "learner\toptions\tstrategy\tbudget\torders\tmistakes\terror\n";
    for (const Contestant& one : all_)
      for (const std::uint64_t budget : budgets) {
        Sample mistakes, errors;
        repeat("evaluating " + one.row->name, asked.size(),
               [&](std::uint64_t index, const Execution& execution) {
                 const std::span<const NodeId> prefix =
                     std::span(asked[index]).first(std::min<std::size_t>(budget, asked[index].size()));
                 const std::unique_ptr<Learner> learner = one.row->make(graph_.graph, one.values, execution);
                 const OnlineGame game =
                     play_active(*learner, labels.of_node, prefix, session_.seed, index, execution);
                 mistakes.values.push_back(static_cast<double>(game.mistakes()));
                 errors.values.push_back(error_of(game));
                 table_.add(one.row->name, one.options, strategy.name, prefix.size(), index,
                            game.mistake.size(), game.mistakes(), error_of(game), game.seconds);
               });
        if (!errors.values.empty())
          summary += fmt::format("{}\t{}\t{}\t{}\t{}\t{:.1f} ± {:.1f}\t{}\n", one.row->name, one.options,
                                 strategy.name, budget, errors.values.size(), mistakes.mean(),
                                 mistakes.deviation(), errors.text());
      }
  }

  std::string summary;
  std::vector<std::string> notes;
  ClassTables tables;

 private:
  static double error_of(const OnlineGame& game) {
    return game.mistake.empty()
               ? 0
               : static_cast<double>(game.mistakes()) / static_cast<double>(game.mistake.size());
  }

  /// run(index, execution) for each index, until Ctrl-C: half a measurement is none, the rows before it
  /// stand. Other trees for every one, so that the spread shows their luck too.
  template <class Run>
  void repeat(const std::string& stage, std::uint64_t count, Run&& run) {
    for (std::uint64_t index = 0; index < count && !was_interrupted(); ++index) {
      steps_.begin(stage, num_done_++, num_runs_);
      try {
        run(index, Execution{session_.seed + index, session_.threads, &steps_});
      } catch (const Cancelled&) {
        return;
      }
      table_.flush();
    }
  }

  void play_round(const Contestant& one, const GraphView& graph, const Round& round) {
    const std::vector<const MetricRow*> metrics = parse_metrics(options_.metrics);
    Sample error, macro_f1, seconds;
    std::vector<Sample> of_metric(metrics.size());
    Confusion confusion(truth_.is_multi ? 0 : truth_.num_answers());
    std::vector<BinaryCounts> by_class(truth_.classes().size());
    repeat("evaluating " + one.row->name, round.num_splits,
           [&](std::uint64_t index, const Execution& execution) {
             const Split split = round.split(index);
             if (index == 0 && &one == &all_.front() && !truth_.is_multi)
               if (const auto note = note_of_missing_classes(split, truth_.of_node())) notes.push_back(*note);
             Answers answers;
             Confusion counts(0);
             OneVersusRest questions;
             const BatchScore score =
                 truth_.is_multi ? evaluate_split(graph, truth_.many, split, *one.row, one.values, execution,
                                                  &questions, options_.thresholds)
                                 : evaluate_split(graph, truth_.one, split, *one.row, one.values, execution,
                                                  &counts, metrics.empty() ? nullptr : &answers);
             if (!truth_.is_multi) {
               confusion += counts;
               questions.by_class = counts.by_class();
             }
             for (std::size_t c = 0; c < by_class.size(); ++c) by_class[c] += questions.by_class[c];
             error.values.push_back(score.error);
             macro_f1.values.push_back(score.macro_f1);
             seconds.values.push_back(score.seconds);
             for (const std::string& note : score.notes) {
               const std::string text = one.row->name + ": " + note;
               if (std::ranges::find(notes, text) == notes.end()) notes.push_back(text);
             }
             table_.row([&](RowBuffer& row) {
               row.add(one.row->name, one.options, round.given, index, score.error, score.macro_f1,
                       score.seconds);
               for (std::size_t m = 0; m < metrics.size(); ++m) {
                 of_metric[m].values.push_back(metrics[m]->of(answers));
                 row.number(of_metric[m].values.back());
               }
             });
           });
    if (error.values.empty()) return;
    if (tables.per_class) tables.add_classes(one.row->name, round.given, truth_.classes(), by_class);
    if (tables.confusion && !truth_.is_multi)
      tables.add_confusion(one.row->name, round.given, truth_.classes(), confusion);
    summary += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{:.3g}", one.row->name, one.options, round.given,
                           error.values.size(), error.text(), macro_f1.text(), seconds.mean());
    for (const Sample& metric : of_metric) summary += fmt::format("\t{:.4f}", metric.mean());
    summary += "\n";
  }

  Session& session_;
  const EvaluateOptions& options_;
  const NamedGraph& graph_;
  GivenLabels& truth_;
  const std::vector<Contestant>& all_;
  Table& table_;
  StepsOfRun steps_;
  std::uint64_t num_done_ = 0, num_runs_ = 0;
};

void check_combination(const EvaluateOptions& options) {
  const ClassTables tables(options.metrics);
  if ((tables.per_class || tables.confusion) && (options.online || !options.strategy.name.empty()))
    throw UsageError("--metrics", "tables of classes are of random splits",
                     "leave --online and --active away");
  if (tables.confusion && options.labels.multi_label)
    throw UsageError("--metrics confusion", "a node has one class there",
                     "with --multi-label take per_class");
  if (!parse_metrics(options.metrics).empty() &&
      (options.online || options.labels.multi_label || !options.strategy.name.empty()))
    throw UsageError(
        "--metrics", "are of random splits with one label per node",
        "leave --online, --active and --multi-label away; copse.evaluate in Python has them for several");
  if (!options.strategy.name.empty()) {
    options.strategy.row().check(options.strategy.values);
    parse_budgets(options.budget);
    if (options.stratified || options.per_class > 0 || options.online || !options.sets.empty())
      throw UsageError("--active", "asks for labels first and then plays through all others",
                       "leave --stratified, --per-class, --online and --sets away");
    if (options.batch == 0)
      throw UsageError("--batch", "0 questions at a time never end", "ask at least 1 at a time");
  }
  if (options.labels.multi_label && (options.stratified || options.per_class > 0))
    throw UsageError("--multi-label", "gives labels whatever their classes, because a node has several",
                     "leave --stratified and --per-class away");
  if (!options.sets.empty() && (options.stratified || options.per_class > 0 || options.online))
    throw UsageError("--sets", "says which labels are given",
                     "leave --stratified, --per-class and --online away");
  if (options.stratified && options.per_class > 0)
    throw UsageError("--per-class", "is a way to split of its own", "leave --stratified away");
  if (options.online && (options.stratified || options.per_class > 0))
    throw UsageError("--online", "plays through all labelled nodes and splits nothing",
                     "leave --stratified and --per-class away");
}

std::vector<std::string> batch_columns(const EvaluateOptions& options) {
  std::vector<std::string> columns{"learner", "options", "train", "split", "error", "macro_f1", "seconds"};
  for (const MetricRow* metric : parse_metrics(options.metrics)) columns.push_back(metric->name);
  return columns;
}

int evaluate(Session& session, const EvaluateOptions& options) {
  check_standard_input(options.graph, {options.labels.path});
  check_combination(options);
  const std::vector<Contestant> all = parse_contestants(options.learners, options.values);
  for (const Contestant& one : all) one.row->check(one.values);
  Output output(session.output);
  const NamedGraph graph = options.graph.read(session);
  GivenLabels truth = options.labels.read_any(session, graph.names);
  if (options.largest_component) keep_largest_component(session, graph.graph, truth.of_node());
  for (const Contestant& one : all)
    check_memory(*one.row, one.values, graph.graph, truth.num_answers(), session.threads);

  Json learners = Json::array();
  for (const Contestant& one : all) {
    Json entry{{"learner", one.row->name}};
    entry.update(effective_options(*one.row, one.values));
    learners.push_back(entry);
  }
  const Json about{{"verb", "evaluate"},
                   {"graph", options.graph.path},
                   {"labels", options.labels.path},
                   {"learners", learners},
                   {"train", options.train},
                   {"sets", options.sets},
                   {"num_splits", options.num_splits},
                   {"stratified", options.stratified},
                   {"per_class", options.per_class},
                   {"online", options.online},
                   {"active", options.strategy.name},
                   {"budget", options.budget},
                   {"multi_label", options.labels.multi_label},
                   {"largest_component", options.largest_component},
                   {"seed", session.seed}};
  using Columns = std::vector<std::string>;
  const bool is_active = !options.strategy.name.empty();
  if (is_active) check_memory(options.strategy, graph.graph, truth.num_answers(), session.threads);
  Table table(output, session, about,
              is_active ? Columns{"learner", "options", "strategy", "budget", "order", "trials", "mistakes",
                                  "error", "seconds"}
              : options.online
                  ? Columns{"learner", "options", "order", "trials", "mistakes", "error", "seconds"}
                  : batch_columns(options));
  Evaluation runs(session, options, graph, truth, all, table);
  if (is_active)
    runs.active();
  else if (options.online)
    runs.online();
  else
    runs.batch();
  if (was_interrupted()) runs.notes.emplace_back("interrupted: the rows so far are whole");
  runs.tables.json["notes"] = runs.notes;
  table.finish(runs.tables.json);
  session.say("");
  session.say("{}mean ± standard deviation, only hidden labels are scored, seed {}", align(runs.summary),
              session.seed);
  if (!runs.tables.text.empty()) session.say(runs.tables.text);
  for (const std::string& note : runs.notes) session.say("  " + note);
  return was_interrupted() ? kInterrupted : kDone;
}

}  // namespace

void add_evaluate(Program& program) {
  CLI::App* verb = add_verb(program.app, "evaluate",
                            "Hide labels, predict them, and count the errors\n\n"
                            "Over random splits, or over random orders online.",
                            {"copse evaluate graph.tsv --labels labels.tsv --train 0.1,0.5",
                             "copse evaluate graph.tsv --labels labels.tsv --learners "
                             "wta:num_trees=7,wta:num_trees=31,majority_vote --splits 3",
                             "copse evaluate graph.tsv --labels labels.tsv --online --orders 5 --json",
                             "copse evaluate graph.tsv --labels labels.tsv --active act_st --budget 0,2"});
  auto options = std::make_shared<EvaluateOptions>();
  add_graph_options(verb, options->graph)->required();
  add_labels_options(verb, options->labels)->required();
  add_option(verb, "--learners A,B,..", options->learners,
             "a list; options as name:key=value:key=value, or as flags for all");
  add_option(verb, "--train F,G,..", options->train, "shares of the labels that are given, a list");
  add_option(verb, "--splits N", options->num_splits,
             "random splits of each share; the first N sets of each size")
      ->check(positive());
  verb->add_flag("--stratified", options->stratified, "the share is given within each class");
  add_option(verb, "--per-class N", options->per_class, "give N labels of each class instead of a share");
  add_option(verb, "--sets FILE", options->sets,
             "a file of the sets of nodes whose labels are given, one a line: name<TAB>nodes");
  verb->add_flag("--online", options->online,
                 "predict and reveal all labelled nodes one by one, instead of splits");
  add_option(verb, "--budget N,M,..", options->budget, "labels that --active may ask for, a list");
  add_option(verb, "--batch N", options->batch, "questions that --active asks at a time");
  add_option(verb, "--orders N", options->num_orders, "random orders of the online game")->check(positive());
  add_option(verb, "--metrics A,B,..", options->metrics,
             "further columns: " + names_of(metric_rows()) + "; and two tables: per_class, confusion");
  verb->add_flag("--largest-component", options->largest_component,
                 "only labels in the largest component take part");
  add_multi_label_flag(verb, options->labels, "every class is a yes/no question");
  add_thresholds_option(verb, options->thresholds);
  add_option_flags(verb, mentioned_learners(program.mentioned, split(options->learners, ',')),
                   options->values);
  add_strategy_options(verb, "--active", options->strategy, program.mentioned);
  add_common(verb, program.session, kAllCommon);
  on_run(verb, program.session, options, evaluate);
}

}  // namespace copse::cli
