// SPDX-License-Identifier: Apache-2.0
#include "choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace copse::cli {
namespace {

std::string value_of(const OptionInfo& info, const OptionValues& values) {
  const auto given = values.find(info.name);
  return given == values.end() ? info.default_value : given->second;
}

std::string placeholder(const OptionInfo& info) {
  if (info.type == "bool") return "true|false";
  if (info.type == "int") return "N";
  return info.type == "number" ? "X" : info.type;
}

}  // namespace

void add_option_flags(CLI::App* verb, const std::vector<const Described*>& rows, OptionValues& values) {
  std::set<std::string> done;
  for (const CLI::Option* option : verb->get_options())
    for (const std::string& name : option->get_lnames()) done.insert("--" + name);
  for (const Described* row : rows) {
    for (const OptionInfo& info : row->options) {
      std::string flag = "--" + info.name;
      std::replace(flag.begin(), flag.end(), '_', '-');
      if (!done.insert(flag).second) continue;
      verb->add_option_function<std::string>(
              flag, [&values, name = info.name](const std::string& text) { values[name] = text; },
              info.help + (info.range.empty() ? "" : ", " + info.range))
          ->type_name(placeholder(info))
          ->default_str(info.default_value)
          ->group("Options of " + row->name);
    }
  }
}

std::vector<const Described*> mentioned_learners(const Mentioned& mentioned,
                                                 const std::vector<std::string>& otherwise) {
  std::vector<const Described*> rows;
  if (mentioned.everything) {
    for (const LearnerRow& row : learner_rows()) rows.push_back(&row);
    return rows;
  }
  for (const std::string& name : mentioned.learners.empty() ? otherwise : mentioned.learners)
    rows.push_back(&learner_row(name));
  return rows;
}

const LearnerRow& LearnerChoice::row_for(const GraphView& graph) const {
  return graph.is_signed() && !is_given && !row().signed_graphs ? learner_row("wta") : row();
}

void add_learner_options(CLI::App* verb, LearnerChoice& choice, const Mentioned& mentioned) {
  add_option(verb, "--learner NAME", choice.name,
             "how to predict; `copse learners` lists all, with their options")
      ->each([&choice](const std::string&) { choice.is_given = true; });
  add_option_flags(verb, mentioned_learners(mentioned, {choice.name}), choice.values);
}

void add_strategy_options(CLI::App* verb, const std::string& flag, StrategyChoice& choice,
                          const Mentioned& mentioned) {
  verb->add_option(flag, choice.name,
                   choice.name.empty()
                       ? "ask for --budget labels by this strategy, then predict and reveal all others online"
                       : "how to choose nodes to ask about")
      ->type_name(names_of(query_rows(), "|"))
      ->default_str(choice.name);
  const std::string& chosen = mentioned.strategy.empty() ? choice.name : mentioned.strategy;
  std::vector<const Described*> rows;
  for (const QueryRow& row : query_rows())
    if (mentioned.everything || row.name == chosen) rows.push_back(&row);
  add_option_flags(verb, rows, choice.values);
}

std::string option_text(const Described& row, const OptionValues& values, const std::string& name) {
  const auto is_named = [&](const OptionInfo& info) { return info.name == name; };
  const auto info = std::ranges::find_if(row.options, is_named);
  return info == row.options.end() ? "" : value_of(*info, values);
}

Json effective_options(const Described& row, const OptionValues& values) {
  Json options = Json::object();
  for (const OptionInfo& info : row.options) {
    const std::string text = value_of(info, values);
    const bool is_plain = info.type == "int" || info.type == "number" || info.type == "bool";
    const Json parsed = is_plain ? Json::parse(text, nullptr, false) : Json(text);
    options[info.name] = parsed.is_discarded() ? Json(text) : parsed;
  }
  return options;
}

std::string described_text(const Described& row, const OptionValues& values) {
  std::string text;
  for (const OptionInfo& info : row.options)
    text += (text.empty() ? "" : ", ") + info.name + "=" + value_of(info, values);
  return row.name + (text.empty() ? "" : " (" + text + ")");
}

LeaveOneOut answers_left_out(const LearnerRow& learner, const Predictor& predictor, const std::string& flag,
                             const Execution& execution) {
  if (auto answers = predictor.leave_one_out(execution)) return std::move(*answers);
  throw UsageError(flag, learner.name + " does not say what it would answer without a label",
                   "take --learner auto, label_propagation, wta or embedding");
}

std::string strategies_text() {
  constexpr std::size_t kIndent = 17, kWidth = 100 - kIndent;
  std::string text;
  for (const QueryRow& row : query_rows())
    text += fmt::format("\n  {:<14} {}", row.name,
                        wrapped(row.idea + " (" + row.paper + "). Cost: " + row.cost, kWidth, kIndent));
  return text;
}

std::uint64_t available_memory() {
  std::uint64_t kib = 0, total = 0;
  if (std::FILE* file = std::fopen("/proc/meminfo", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, file) != nullptr)
      if (std::sscanf(line, "MemAvailable: %lu", &kib) == 1 || std::sscanf(line, "SwapFree: %lu", &kib) == 1)
        total += kib;
    std::fclose(file);
  }
  return total * 1024;
}

namespace {

void check_fits(const std::string& name, std::uint64_t needed, const std::string& remedy) {
  const std::uint64_t available = available_memory();
  if (available == 0 || needed <= available) return;
  throw UsageError(name,
                   fmt::format("needs about {} beside the graph, and {} are free", bytes_text(needed),
                               bytes_text(available)),
                   remedy);
}

/// Learners may work on the double cover of a signed graph, which comes on top of it.
ProblemSize with_cover(const GraphView& graph, std::size_t num_classes, int threads) {
  ProblemSize size = ProblemSize::of(graph, num_classes, threads);
  const std::uint64_t copies = graph.is_signed() ? 3 : 1;
  size.num_nodes *= copies;
  size.num_arcs *= copies;
  return size;
}

}  // namespace

void check_memory(const LearnerRow& row, const OptionValues& values, const GraphView& graph,
                  std::size_t num_classes, int threads) {
  check_fits(row.name, row.bytes(with_cover(graph, num_classes, threads), values),
             threads > 1 ? "--threads 1 works on one tree at a time; `copse estimate` tells what a run takes"
                         : "`copse estimate` tells what a run takes, with other options or another learner");
}

void check_online_memory(const LearnerRow& row, const OptionValues& values, const GraphView& graph,
                         int threads) {
  check_fits(row.name, row.online_bytes(with_cover(graph, 2, threads), values),
             option_text(row, values, "num_trees").empty()
                 ? "choose another learner; `copse learners` tells what each costs"
                 : "online every tree stays in memory: lower --num-trees");
}

void check_memory(const StrategyChoice& choice, const GraphView& graph, std::size_t num_classes,
                  int threads) {
  check_fits(choice.name, choice.row().bytes(ProblemSize::of(graph, num_classes, threads), choice.values),
             "--strategy random takes 5 bytes per node, cover with --goal hops little more");
}

namespace {

Contestant parse_contestant(const std::string& text, const OptionValues& flags) {
  const std::vector<std::string> parts = split(text, ':');
  Contestant one{&learner_row(parts.empty() ? text : parts[0]), {}, ""};
  for (const OptionInfo& info : one.row->options) {
    const auto given = flags.find(info.name);
    if (given != flags.end()) one.values.insert(*given);
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string::npos)
      throw UsageError("--learners",
                       copse::quoted(parts[i]) + " in " + copse::quoted(text) + " is not name=value",
                       "for example wta:num_trees=101");
    std::string name = parts[i].substr(0, equals);
    std::replace(name.begin(), name.end(), '-', '_');
    one.values[name] = parts[i].substr(equals + 1);
  }
  for (const auto& [name, value] : one.values) {
    if (!one.options.empty()) one.options += ':';
    one.options.append(name).append("=").append(value);
  }
  return one;
}

double parse_fraction(const std::string& text) {
  const std::optional<double> value = parse_number(text);
  if (!value || !(*value > 0 && *value < 1))
    throw UsageError("--train", copse::quoted(text) + " is not a fraction between 0 and 1",
                     "for example --train 0.05,0.1");
  return *value;
}

}  // namespace

std::vector<Contestant> parse_contestants(const std::string& list, const OptionValues& flags) {
  std::vector<Contestant> all;
  for (const std::string& text : split(list, ',')) all.push_back(parse_contestant(text, flags));
  if (all.empty())
    throw UsageError("--learners", "names no learner", "for example --learners wta,majority_vote");
  return all;
}

std::vector<double> parse_fractions(const std::string& list) {
  std::vector<double> values;
  for (const std::string& text : split(list, ',')) values.push_back(parse_fraction(text));
  if (values.empty()) throw UsageError("--train", "names no fraction", "for example --train 0.05,0.1");
  return values;
}

double Sample::mean() const {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double Sample::deviation() const {
  double sum = 0;
  for (const double value : values) sum += (value - mean()) * (value - mean());
  return values.size() < 2 ? 0 : std::sqrt(sum / static_cast<double>(values.size() - 1));
}

std::string Sample::text() const { return fmt::format("{:.4f} ± {:.4f}", mean(), deviation()); }

}  // namespace copse::cli
