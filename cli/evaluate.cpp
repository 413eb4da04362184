// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "choices.hpp"
#include "contestants.hpp"
#include "copse/evaluation/protocols.hpp"
#include "copse/graph/components.hpp"
#include "inputs.hpp"
#include "label_sets.hpp"

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
  std::string thresholds = "f1";  // of --multi-label
};

void keep_largest_component(Session& session, const GraphView& graph, std::vector<Label>& labels) {
  const Components components = connected_components(graph, session.threads);
  if (components.count() < 2) return;
  const NodeId largest = components.largest();
  for (std::size_t node = 0; node < labels.size(); ++node)
    if (components.of_node[node] != largest) labels[node] = kNoLabel;
  const auto left = static_cast<std::uint64_t>(
      std::count_if(labels.begin(), labels.end(), [](Label l) { return l != kNoLabel; }));
  session.say(fmt::format("  {} in the largest of {} components", counted(left, "labelled node"),
                          with_commas(components.count())));
}

struct Scores {
  Sample error, macro_f1, seconds;
  std::vector<Sample> metrics;
};

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

StepsOfRun& steps_of(Session& session) {
  static StepsOfRun steps(session.bar());
  return steps;
}

// Other trees for every split, so that the spread shows their luck too.
Execution inner(Session& session, std::uint64_t index) {
  return {session.seed + index, session.threads, &steps_of(session)};
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
    for (const auto& group : read_label_sets(options.sets, graph.names, labels, inner(session, 0))) {
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

std::vector<std::string> evaluate_batch(Session& session, const EvaluateOptions& options,
                                        const NamedGraph& named, GivenLabels& truth,
                                        const std::vector<Contestant>& all, Table& table,
                                        std::string& summary, ClassTables& tables) {
  const std::vector<Round> rounds = make_rounds(session, options, named, truth.of_node());
  std::uint64_t total = 0, done = 0;
  for (const Round& round : rounds) total += all.size() * round.num_splits;
  std::vector<std::string> notes;
  const std::vector<const MetricRow*> metrics = parse_metrics(options.metrics);
  summary = "learner\toptions\ttrain\tsplits\terror\tmacro_f1\tseconds";
  for (const MetricRow* metric : metrics) summary += "\t" + metric->name;
  summary += "\n";
  for (const Contestant& one : all) {
    steps_of(session).begin("evaluating " + one.row->name, done, total + 1);
    const Graph graph = prepare_for_splits(named.graph, *one.row, one.values, inner(session, 0));
    for (const Round& round : rounds) {
      const std::string& given = round.given;
      Scores scores{{}, {}, {}, std::vector<Sample>(metrics.size())};
      Confusion confusion(truth.is_multi ? 0 : truth.num_answers());
      std::vector<BinaryCounts> by_class(truth.classes().size());
      for (std::uint64_t index = 0; index < round.num_splits && !was_interrupted(); ++index) {
        steps_of(session).begin("evaluating " + one.row->name, done++, total);
        const Split split = round.split(index);
        if (index == 0 && &one == &all.front() && !truth.is_multi)
          if (const auto note = note_of_missing_classes(split, truth.of_node())) notes.push_back(*note);
        BatchScore score;
        Answers answers;
        Confusion counts(0);
        OneVersusRest questions;
        try {
          score = truth.is_multi
                      ? evaluate_split(graph, truth.many, split, *one.row, one.values, inner(session, index),
                                       &questions, thresholds_of(options.thresholds))
                      : evaluate_split(graph, truth.one, split, *one.row, one.values, inner(session, index),
                                       &counts, metrics.empty() ? nullptr : &answers);
        } catch (const Cancelled&) {
          break;  // half a measurement is none; the rows before it stand
        }
        if (!truth.is_multi) {
          confusion += counts;
          questions.by_class = counts.by_class();
        }
        for (std::size_t c = 0; c < by_class.size(); ++c) by_class[c] += questions.by_class[c];
        scores.error.values.push_back(score.error);
        scores.macro_f1.values.push_back(score.macro_f1);
        scores.seconds.values.push_back(score.seconds);
        for (std::size_t m = 0; m < metrics.size(); ++m)
          scores.metrics[m].values.push_back(metrics[m]->of(answers));
        for (const std::string& note : score.notes) {
          const std::string text = one.row->name + ": " + note;
          if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
        }
        table.row([&](RowBuffer& row) {
          row.text(one.row->name)
              .text(one.options)
              .text(given)
              .count(index)
              .number(score.error)
              .number(score.macro_f1)
              .number(score.seconds);
          for (const Sample& metric : scores.metrics) row.number(metric.values.back());
        });
        table.flush();
      }
      if (scores.error.values.empty()) continue;
      if (tables.per_class) tables.add_classes(one.row->name, given, truth.classes(), by_class);
      if (tables.confusion && !truth.is_multi)
        tables.add_confusion(one.row->name, given, truth.classes(), confusion);
      summary += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{:.3g}", one.row->name, one.options, given,
                             scores.error.values.size(), scores.error.text(), scores.macro_f1.text(),
                             scores.seconds.mean());
      for (const Sample& metric : scores.metrics) summary += fmt::format("\t{:.4f}", metric.mean());
      summary += "\n";
    }
  }
  return notes;
}

void evaluate_online(Session& session, const EvaluateOptions& options, const GraphView& graph,
                     const Labels& labels, const std::vector<Contestant>& all, Table& table,
                     std::string& summary) {
  std::uint64_t done = 0;
  summary = "learner\toptions\torders\terror\tseconds\n";
  for (const Contestant& one : all) {
    Sample errors, seconds;
    for (std::uint64_t index = 0; index < options.num_orders && !was_interrupted(); ++index) {
      steps_of(session).begin("evaluating " + one.row->name, done++, all.size() * options.num_orders);
      const std::vector<NodeId> order = random_order(labels.of_node, session.seed, index);
      OnlineGame game;
      try {
        const std::unique_ptr<Learner> learner = one.row->make(graph, one.values, inner(session, index));
        game = play_online(*learner, labels.of_node, order, inner(session, index));
      } catch (const Cancelled&) {
        break;
      }
      const double error =
          order.empty() ? 0 : static_cast<double>(game.mistakes()) / static_cast<double>(order.size());
      errors.values.push_back(error);
      seconds.values.push_back(game.seconds);
      table.row([&](RowBuffer& row) {
        row.text(one.row->name)
            .text(one.options)
            .count(index)
            .count(order.size())
            .count(game.mistakes())
            .number(error)
            .number(game.seconds);
      });
      table.flush();
    }
    if (!errors.values.empty())
      summary += fmt::format("{}\t{}\t{}\t{}\t{:.3g}\n", one.row->name, one.options, errors.values.size(),
                             errors.text(), seconds.mean());
  }
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

// The strategy asks once an order, for the largest budget: smaller ones are the beginning of that.
void evaluate_active(Session& session, const EvaluateOptions& options, const GraphView& graph,
                     const Labels& labels, const std::vector<Contestant>& all, Table& table,
                     std::string& summary) {
  const std::vector<std::uint64_t> budgets = parse_budgets(options.budget);
  const std::uint64_t most = *std::max_element(budgets.begin(), budgets.end());
  std::vector<std::vector<NodeId>> asked;
  try {
    for (std::uint64_t index = 0; index < options.num_orders && !was_interrupted(); ++index) {
      steps_of(session).begin("asking", index, options.num_orders);
      const auto strategy =
          options.strategy.row().make(graph, options.strategy.values, inner(session, index));
      asked.push_back(ask_labels(*strategy, labels.of_node, most, options.batch));
    }
  } catch (const Cancelled&) {
    return;
  }
  summary = "learner\toptions\tstrategy\tbudget\torders\tmistakes\terror\n";
  std::uint64_t done = 0;
  for (const Contestant& one : all) {
    for (const std::uint64_t budget : budgets) {
      Sample mistakes, errors;
      for (std::uint64_t index = 0; index < asked.size() && !was_interrupted(); ++index) {
        steps_of(session).begin("evaluating " + one.row->name, done++,
                                all.size() * budgets.size() * asked.size());
        const std::span<const NodeId> prefix =
            std::span(asked[index]).first(std::min<std::size_t>(budget, asked[index].size()));
        OnlineGame game;
        try {
          const std::unique_ptr<Learner> learner = one.row->make(graph, one.values, inner(session, index));
          game = play_active(*learner, labels.of_node, prefix, session.seed, index, inner(session, index));
        } catch (const Cancelled&) {
          break;
        }
        const auto trials = static_cast<double>(game.mistake.size());
        mistakes.values.push_back(static_cast<double>(game.mistakes()));
        errors.values.push_back(trials == 0 ? 0 : mistakes.values.back() / trials);
        table.row([&](RowBuffer& row) {
          row.text(one.row->name)
              .text(one.options)
              .text(options.strategy.name)
              .count(prefix.size())
              .count(index)
              .count(game.mistake.size())
              .count(game.mistakes())
              .number(errors.values.back())
              .number(game.seconds);
        });
        table.flush();
      }
      if (!errors.values.empty())
        summary += fmt::format("{}\t{}\t{}\t{}\t{}\t{:.1f} ± {:.1f}\t{}\n", one.row->name, one.options,
                               options.strategy.name, budget, errors.values.size(), mistakes.mean(),
                               mistakes.deviation(), errors.text());
    }
  }
}

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
  check_standard_input({options.graph.path, options.labels.path, options.graph.nodes});
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
  std::string summary;
  std::vector<std::string> notes;
  ClassTables tables(options.metrics);
  if (is_active)
    evaluate_active(session, options, graph.graph, truth.as_classes(), all, table, summary);
  else if (options.online)
    evaluate_online(session, options, graph.graph, truth.as_classes(), all, table, summary);
  else
    notes = evaluate_batch(session, options, graph, truth, all, table, summary, tables);
  if (was_interrupted()) notes.emplace_back("interrupted: the rows so far are whole");
  tables.json["notes"] = notes;
  table.finish(tables.json);
  session.say("");
  session.say(align(summary) +
              fmt::format("mean ± standard deviation, only hidden labels are scored, seed {}", session.seed));
  if (!tables.text.empty()) session.say(tables.text);
  for (const std::string& note : notes) session.say("  " + note);
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
  verb->add_option("--learners", options->learners,
                   "a list; options as name:key=value:key=value, or as flags for all")
      ->type_name("A,B,..")
      ->default_str(options->learners);
  verb->add_option("--train", options->train, "shares of the labels that are given, a list")
      ->type_name("F,G,..")
      ->default_str(options->train);
  verb->add_option("--splits", options->num_splits,
                   "random splits of each share; the first N sets of each size")
      ->type_name("N")
      ->default_str(std::to_string(options->num_splits))
      ->check(CLI::PositiveNumber.description(""));
  verb->add_flag("--stratified", options->stratified, "the share is given within each class");
  verb->add_option("--per-class", options->per_class, "give N labels of each class instead of a share")
      ->type_name("N");
  verb->add_option("--sets", options->sets,
                   "a file of the sets of nodes whose labels are given, one a line: name<TAB>nodes")
      ->type_name("FILE");
  verb->add_flag("--online", options->online,
                 "predict and reveal all labelled nodes one by one, instead of splits");
  verb->add_option("--budget", options->budget, "labels that --active may ask for, a list")
      ->type_name("N,M,..")
      ->default_str(options->budget);
  verb->add_option("--batch", options->batch, "questions that --active asks at a time")
      ->type_name("N")
      ->default_str(std::to_string(options->batch));
  verb->add_option("--orders", options->num_orders, "random orders of the online game")
      ->type_name("N")
      ->default_str(std::to_string(options->num_orders))
      ->check(CLI::PositiveNumber.description(""));
  verb->add_option("--metrics", options->metrics,
                   "further columns: " + names_of(metric_rows()) + "; and two tables: per_class, confusion")
      ->type_name("A,B,..");
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
