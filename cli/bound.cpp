// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "choices.hpp"
#include "copse/evaluation/protocols.hpp"
#include "copse/graph/subgraph.hpp"
#include "inputs.hpp"
#include "papers/bounds.hpp"

namespace copse::cli {
namespace {

struct BoundVerbOptions {
  GraphInput graph;
  LabelsInput labels;
  std::string learners, rho;
  StrategyChoice strategy{.name = "", .values = {}};  // of --active
  std::int64_t budget = 10;
  std::int64_t num_orders = 3, num_trials = 1000, num_trees = BoundOptions{}.num_trees;
};

// The theorems speak of connected graphs: the component with most labels, and the labels that lie in it.
struct Arena {
  Subgraph part;
  std::vector<Label> labels;
};

Arena choose_arena(Session& session, const GraphView& graph, const std::vector<Label>& labels) {
  const Components components = connected_components(graph, session.threads);
  std::vector<std::uint64_t> count(components.count());
  std::uint64_t total = 0;
  for (std::size_t u = 0; u < labels.size(); ++u)
    if (labels[u] != kNoLabel) ++count[components.of_node[u]], ++total;
  const auto best = static_cast<NodeId>(std::max_element(count.begin(), count.end()) - count.begin());
  Arena arena{component_subgraph(graph, components, best), {}};
  for (const NodeId u : arena.part.nodes) arena.labels.push_back(labels[u]);
  if (components.count() > 1)
    session.say("  of {} components the one with most labels: {}, {} of {} labels",
                with_commas(components.count()), counted(arena.part.nodes.size(), "node"),
                with_commas(count[best]), with_commas(total));
  return arena;
}

struct Played {
  Sample mistakes;
  double worst = 0;
};

/// The games of a learner, by their index: play(index, execution) returns the mistakes. Until Ctrl-C.
template <class Play>
Played play_games(Session& session, std::int64_t count, const std::string& learner, Play&& play) {
  Played played;
  StepsOfRun steps(session.bar());
  const auto num_games = static_cast<std::uint64_t>(count);
  for (std::uint64_t index = 0; index < num_games && !was_interrupted(); ++index) {
    steps.begin("playing " + learner, index, num_games);
    try {
      const auto mistakes =
          static_cast<double>(play(index, Execution{session.seed + index, session.threads, &steps}));
      played.mistakes.values.push_back(mistakes);
      played.worst = std::max(played.worst, mistakes);
    } catch (const Cancelled&) {
      break;
    }
  }
  return played;
}

// Mistakes over random orders of the labelled nodes, at most --trials of them each.

class Games {
 public:
  Games(Session& session, const BoundVerbOptions& options, const Arena& arena)
      : session_(session), options_(options), arena_(arena) {}

  /// None where the registry has no such learner, or nothing is to be played.
  const Played* play(const std::string& learner) {
    if (learner.empty() || options_.num_orders == 0) return nullptr;
    auto found = played_.find(learner);
    if (found == played_.end()) found = played_.emplace(learner, play_orders(learner)).first;
    return found->second.mistakes.values.empty() ? nullptr : &found->second;
  }

 private:
  bool is_known(const std::string& learner) const {
    for (const LearnerRow& row : learner_rows())
      if (row.name == learner.substr(0, learner.find(':'))) return true;
    return false;
  }

  Played play_orders(const std::string& learner) {
    if (!is_known(learner)) return {};
    const Contestant one = parse_contestants(learner, {}).front();
    const auto play = [&](std::uint64_t index, const Execution& execution) {
      std::vector<NodeId> order = random_order(arena_.labels, session_.seed, index);
      order.resize(std::min(order.size(), static_cast<std::size_t>(options_.num_trials)));
      const auto player = one.row->make(arena_.part.graph, one.values, execution);
      return play_online(*player, arena_.labels, order, execution).mistakes();
    };
    return play_games(session_, options_.num_orders, one.row->name, play);
  }

  Session& session_;
  const BoundVerbOptions& options_;
  const Arena& arena_;
  std::map<std::string, Played> played_;
};

// Theorem 5.1: labels that a strategy asks for, the progress Z_A of the projection algorithm on them, and
// what is left of the bound for the others.
Bound active_bound(Session& session, const BoundVerbOptions& options, const Arena& arena,
                   const BoundReport& report, Played& played) {
  const Execution execution = session.execution();
  const GraphView& graph = arena.part.graph;
  const auto strategy = options.strategy.row().make(graph, options.strategy.values, execution);
  const std::vector<NodeId> asked =
      ask_labels(*strategy, arena.labels, static_cast<std::uint64_t>(options.budget));
  // Whatever chose the nodes, act_mu's hypothesis is that of the algorithm, and counts its progress.
  const auto hypothesis = query_row("act_mu").make(graph, {}, execution);
  std::vector<char> is_asked(arena.labels.size());
  for (const NodeId node : asked) {
    hypothesis->reveal(node, arena.labels[node]);
    is_asked[node] = 1;
  }
  std::vector<double> diagonal;
  for (std::size_t u = 0, i = 0; u < arena.labels.size(); ++u) {
    if (arena.labels[u] == kNoLabel) continue;
    if (is_asked[u] == 0) diagonal.push_back(report.diagonal[i]);
    ++i;
  }
  Bound bound;
  bound.name = fmt::format("projection after {} questions", asked.size());
  bound.source = "Herbster, Pontil & Wainer 2005, theorem 5.1";
  bound.learner = "one_projection";
  bound.value = std::isfinite(report.facts.interpolant_norm)
                    ? 1 + static_cast<double>(projection_bound(report.facts.interpolant_norm, diagonal,
                                                               hypothesis->progress()))
                    : report.facts.interpolant_norm;
  bound.made_of = fmt::format("||u||^2 - Z_A = {:.4g} - {:.4g}, by {}", report.facts.interpolant_norm,
                              hypothesis->progress(), options.strategy.name);
  played =
      play_games(session, options.num_orders, bound.learner, [&](std::uint64_t index, const Execution& each) {
        const auto learner = learner_row(bound.learner).make(graph, {}, execution);
        return play_active(*learner, arena.labels, asked, session.seed, index, each).mistakes();
      });
  return bound;
}

Json covering_numbers(Session& session, const std::vector<double>& resistances, const LabellingFacts& facts) {
  Json numbers = Json::array();
  for (const double rho : resistances) {
    const std::uint64_t count = covering_number(facts.cover_diameters, rho);
    numbers.push_back({{"rho", rho}, {"sets", count == 0 ? Json(nullptr) : Json(count)}});
    session.say(count == 0 ? fmt::format("  N({:g}) is above {}", rho, facts.cover_diameters.size())
                           : fmt::format("  N({:g}) <= {}", rho, count));
  }
  return numbers;
}

std::vector<double> parse_resistances(const std::string& list) {
  std::vector<double> values;
  for (const std::string& text : split(list, ',')) {
    const std::optional<double> value = parse_number(text);
    if (!value || !(*value >= 0))
      throw UsageError("--rho", copse::quoted(text) + " is not a resistance", "for example --rho 0.1,1");
    values.push_back(*value);
  }
  return values;
}

Json facts_json(const LabellingFacts& facts) {
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  const auto interval = [&](const Interval& value) { return Json{number(value.lower), number(value.upper)}; };
  const SeparatingCover& cover = facts.separating;
  return {{"num_nodes", facts.num_nodes},
          {"num_edges", facts.num_edges},
          {"num_labelled", facts.num_labelled},
          {"num_classes", facts.num_classes},
          {"cut_size", facts.cut_size},
          {"cut_weight", facts.cut_weight},
          {"expected_tree_cut", facts.expected_cut},
          {"expected_tree_cut_error", facts.expected_cut_error},
          {"shuffled_tree_cut", facts.shuffled_cut},
          {"expected_tree_resistance", facts.expected_resistance},
          {"balance", facts.balance},
          {"squared_norm", number(facts.squared_norm)},
          {"energy", number(facts.energy)},
          {"interpolant_norm", number(facts.interpolant_norm)},
          {"largest_diagonal", number(facts.largest_diagonal)},
          {"algebraic_connectivity", number(facts.algebraic_connectivity)},
          {"connectivity_ratio", number(facts.connectivity_ratio)},
          {"separation", cover.separation},
          {"separating_cover", {cover.least_sets, cover.most_sets}},
          {"component_separating_cover", {cover.least_components, cover.most_components}},
          {"resistance_diameter", interval(facts.resistance_diameter)},
          {"geodesic_diameter", interval(facts.geodesic_diameter)}};
}

std::string interval_text(const Interval& value) {
  return value.upper - value.lower <= 1e-9 * value.upper
             ? fmt::format("{:.5g}", value.upper)
             : fmt::format("{:.4g} to {:.4g}", value.lower, value.upper);
}

void say_facts(Session& session, const LabellingFacts& facts) {
  session.say("  cut: {} of {}, weight {:.5g}; of a random spanning tree {:.5g}{}",
              with_commas(facts.cut_size), counted(facts.num_edges, "edge"), facts.cut_weight,
              facts.expected_cut,
              facts.expected_cut_error > 0 ? fmt::format(" ± {:.2g}", facts.expected_cut_error) : "");
  session.say(
      "  norm ||u||^2 {:.5g}, smallest {:.5g}; balance {:.3g}; diameter in resistance {}, "
      "along paths {}",
      facts.squared_norm, facts.energy, facts.balance, interval_text(facts.resistance_diameter),
      interval_text(facts.geodesic_diameter));
  const auto count_text = [](std::uint64_t least, std::uint64_t most) {
    return with_commas(least) + (least < most ? " to " + with_commas(most) : "");
  };
  if (const SeparatingCover& cover = facts.separating; cover.most_sets > 0)
    session.say("  separating covers: N° {}, C° {} (labels differ at {:.4g} and beyond)",
                count_text(cover.least_sets, cover.most_sets),
                count_text(cover.least_components, cover.most_components), cover.separation);
}

void write_row(Table& table, const Bound& bound, const char* kind, const Played* played) {
  std::optional<double> value, mistakes, worst;
  if (std::isfinite(bound.value)) value = bound.value;
  if (played != nullptr) mistakes = played->mistakes.mean(), worst = played->worst;
  table.add(bound.name, bound.source, kind, value, bound.learner, mistakes, worst, bound.made_of);
}

void write_row(Table& table, const Bound& bound, const Played* played) {
  const char* kind = bound.is_lower         ? "at least, expected"
                     : bound.in_expectation ? "at most, expected"
                                            : "at most";
  write_row(table, bound, kind, played);
}

int bound(Session& session, const BoundVerbOptions& options) {
  check_standard_input(options.graph, {options.labels.path});
  for (const auto& [flag, value] : {std::pair("--orders", options.num_orders),
                                    {"--trials", options.num_trials - 1},
                                    {"--num-trees", options.num_trees - 1}})
    if (value < 0) throw UsageError(flag, "is too small", "leave it out for the default");
  const std::vector<double> resistances = parse_resistances(options.rho);
  const bool is_active = !options.strategy.name.empty();
  if (is_active) options.strategy.row().check(options.strategy.values);
  if (is_active && options.budget < 1)
    throw UsageError("--budget", "a strategy asks for at least 1 label", "for example --budget 10");
  std::vector<Contestant> wanted;
  if (!options.learners.empty()) wanted = parse_contestants(options.learners, {});
  for (const Contestant& one : wanted) one.row->check(one.values);
  Output output(session.output);
  const NamedGraph graph = options.graph.read(session);
  const Labels labels = options.labels.read(session, graph.names);
  const Arena arena = choose_arena(session, graph.graph, labels.of_node);
  BoundOptions how;
  how.num_trees = static_cast<int>(std::min<std::int64_t>(options.num_trees, 1 << 20));
  const BoundReport report = mistake_bounds(arena.part.graph, arena.labels, how, session.execution());

  Table table(output, session,
              {{"verb", "bound"},
               {"graph", options.graph.path},
               {"labels", options.labels.path},
               {"orders", options.num_orders},
               {"trials", options.num_trials},
               {"num_trees", how.num_trees},
               {"seed", session.seed}},
              {"bound", "source", "kind", "value", "learner", "mistakes", "worst", "made_of"},
              Table::Size::small);
  Games games(session, options, arena);
  for (const Bound& one : report.bounds) write_row(table, one, games.play(one.learner));
  if (is_active && report.facts.num_classes != 2)
    session.say("  theorem 5.1 speaks of two classes: no row for --active");
  else if (is_active) {
    Played played;
    const Bound one = active_bound(session, options, arena, report, played);
    write_row(table, one, played.mistakes.values.empty() ? nullptr : &played);
  }
  for (const std::string& name : split(options.learners, ',')) {
    Bound none;
    none.source = "no theorem";
    none.learner = name;
    none.value = INFINITY;
    write_row(table, none, "", games.play(name));
  }
  session.say("");
  say_facts(session, report.facts);
  Json facts = facts_json(report.facts);
  facts["covering_numbers"] = covering_numbers(session, resistances, report.facts);
  table.finish({{"facts", facts}, {"verdict", report.verdict}, {"notes", report.notes}});
  for (const std::string& note : report.notes) session.say("  " + note);
  for (const std::string& sentence : report.verdict) session.say(sentence);
  return was_interrupted() ? kInterrupted : kDone;
}

}  // namespace

void add_bound(Program& program) {
  CLI::App* verb =
      add_verb(program.app, "bound", "How predictable labels are: cuts, bounds on mistakes, mistakes made",
               {"copse bound graph.tsv --labels labels.tsv",
                "copse bound graph.tsv --labels labels.tsv --learner majority_vote --orders 5 --json"});
  auto options = std::make_shared<BoundVerbOptions>();
  add_graph_options(verb, options->graph)->required();
  add_labels_options(verb, options->labels)->required();
  add_option(verb, "--learner A,B,..", options->learners,
             "let these play as well: a list, options as name:key=value:key=value");
  add_option(verb, "--orders N", options->num_orders,
             "random orders in which learners play; 0: only the bounds");
  add_option(verb, "--trials N", options->num_trials,
             "labelled nodes of a game at most: bounds hold for any of them");
  add_option(verb, "--num-trees N", options->num_trees,
             "random spanning trees that the bounds of trees are the mean of");
  add_option(verb, "--rho X,Y,..", options->rho,
             "print covering numbers N(rho) for these resistances, a list");
  add_option(verb, "--budget N", options->budget, "labels that --active may ask for");
  add_strategy_options(verb, "--active", options->strategy, program.mentioned);
  add_common(verb, program.session, kAllCommon);
  on_run(verb, program.session, options, bound);
}

}  // namespace copse::cli
