// SPDX-License-Identifier: Apache-2.0
#include "copse/queries/query.hpp"

#include <fmt/format.h>

#include "choices.hpp"
#include "copse/evaluation/learning_curve.hpp"
#include "inputs.hpp"
#include "io/table.hpp"
#include "support/byte_source.hpp"

namespace copse::cli {
namespace {

struct QueryVerbOptions {
  GraphInput graph;
  LabelsInput labels;
  StrategyChoice strategy;
  std::int64_t count = 10;
  std::string candidates;
  bool curve = false;
  std::string learner = "wta";
};

// Ids, one a line; anything after a tab is left alone, so that a table with a column of ids will do. Its
// header is known by a name that is no node's.
std::vector<char> read_candidates(const std::string& path, const NodeNames& names,
                                  const Execution& execution) {
  std::vector<char> is_candidate(names.size());
  ByteSource source = ByteSource::open(path, execution);
  TableRows rows(source, "candidates are ids, one a line");
  bool is_first = true;
  while (rows.next()) {
    const std::string id(rows.fields()[0]);
    if (std::exchange(is_first, false) && is_name_of(Role::node, id) && !names.find(id)) continue;
    is_candidate[find_node(names, id, rows.where())] = 1;
  }
  return is_candidate;
}

Json curve_json(const LearningCurve& curve) {
  Json points = Json::array();
  for (const CurvePoint& point : curve.points)
    points.push_back({{"labels", point.num_labels},
                      {"error", point.error},
                      {"deviation", point.deviation},
                      {"expected", point.is_expected}});
  return {{"points", points}, {"hint", curve.hint}};
}

// Whether further labels pay, by the labels that are there.
Json estimate_curve(Session& session, const QueryVerbOptions& options, const GraphView& graph,
                    const Labels& labels) {
  const Contestant learner = parse_contestants(options.learner, {}).front();
  const LearningCurve curve = estimate_learning_curve(graph, labels, *learner.row, learner.values,
                                                      options.count, session.execution());
  std::string table = "labels\terror\t\n";
  for (const CurvePoint& point : curve.points)
    table += fmt::format("{}\t{:.4f}\t{}\n", point.num_labels, point.error,
                         point.is_expected ? "expected" : fmt::format("± {:.4f}", point.deviation));
  session.say("error of {} on labels held back:", learner.row->name);
  session.say(align(table) + curve.hint);
  return curve_json(curve);
}

int query(Session& session, const QueryVerbOptions& options) {
  check_standard_input(options.graph, {options.labels.path, options.candidates});
  const QueryRow& row = options.strategy.row();
  options.strategy.row().check(options.strategy.values);
  if (options.count < 1)
    throw UsageError("-k", std::to_string(options.count) + " nodes are no question", "ask for at least 1");
  const auto count = static_cast<std::uint64_t>(options.count);
  if (options.curve && options.labels.path.empty())
    throw UsageError("--curve", "there are no labels to hold back", "give --labels");
  for (const Contestant& one : parse_contestants(options.learner, {})) one.row->check(one.values);
  Output output(session.output);
  const NamedGraph graph = options.graph.read(session);
  const Labels labels = options.labels.read_any(session, graph.names).as_classes();
  std::vector<char> is_candidate;
  if (!options.candidates.empty())
    is_candidate = read_candidates(options.candidates, graph.names, session.execution());

  check_memory(options.strategy, graph.graph, std::max<std::size_t>(labels.classes.size(), 2),
               session.threads);
  const Stopwatch watch;
  const auto strategy = row.make(graph.graph, options.strategy.values, session.execution());
  strategy->start(labels.of_node);
  for (NodeId node = 0; node < is_candidate.size(); ++node)
    if (is_candidate[node] == 0) strategy->exclude(node);
  const std::vector<Query> queries = strategy->next(count);
  const double seconds = watch.seconds();
  session.bar().clear();

  Json about{{"verb", "query"},      {"graph", options.graph.path}, {"labels", options.labels.path},
             {"strategy", row.name}, {"k", options.count},          {"seed", session.seed}};
  about.update(effective_options(options.strategy.row(), options.strategy.values));
  Table table(output, session, about, {"node", "score"});
  table.rows(queries.size(), session.threads, [&](RowBuffer& cells, std::size_t i) {
    cells.name(graph.names, queries[i].node).number(queries[i].score).end_row();
  });
  session.say("{} to ask about, by {}, seed {}, in {}", counted(queries.size(), "node"),
              described_text(options.strategy.row(), options.strategy.values), session.seed,
              duration_text(seconds));
  if (queries.size() < count)
    session.say(queries.empty() ? "  every node that may be asked about has a label"
                                : "  no more are without a label");
  std::vector<std::string> notes = strategy->notes();
  for (const std::string& note : notes) session.say("  " + note);
  Json more{{"notes", notes}};
  try {
    if (options.curve) more["curve"] = estimate_curve(session, options, graph.graph, labels);
  } catch (const Error& error) {  // the rows stand
    session.say(std::string("no curve: ") + error.what());
    more["curve"] = nullptr;
  } catch (const Cancelled&) {
    table.finish(more);
    throw;
  }
  table.finish(more);
  return queries.empty() ? kAnswerIsNo : kDone;
}

}  // namespace

void add_query(Program& program) {
  CLI::App* verb = add_verb(
      program.app, "query",
      "Say which nodes to label next, the most useful first\n\nStrategies:" + strategies_text(),
      {"copse query graph.tsv --labels labels.tsv -k 5", "copse query graph.tsv --strategy cover -k 2",
       "copse query graph.tsv --labels labels.tsv --strategy disagreement --num-trees 101 "
       "--json"});
  auto options = std::make_shared<QueryVerbOptions>();
  add_graph_options(verb, options->graph)->required();
  add_labels_options(verb, options->labels);
  add_multi_label_flag(verb, options->labels, "a set of them counts as a class");
  add_strategy_options(verb, "--strategy", options->strategy, program.mentioned);
  add_option(verb, "-k,--count N", options->count, "how many nodes");
  add_option(verb, "--candidates FILE", options->candidates,
             "a file of ids, one a line: ask about no other nodes");
  verb->add_flag("--curve", options->curve,
                 "estimate, from labels held back, what further labels would gain: a hint when to stop");
  add_option(verb, "--learner NAME", options->learner, "whose error --curve estimates, as name:key=value");
  add_common(verb, program.session, kAllCommon);
  on_run(verb, program.session, options, query);
}

}  // namespace copse::cli
