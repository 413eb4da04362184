// SPDX-License-Identifier: Apache-2.0
#include "strategies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "help.hpp"
#include "inputs.hpp"

namespace copse::cli {

namespace {

std::string value_of(const OptionInfo& info, const OptionValues& values) {
  const auto given = values.find(info.name);
  return given == values.end() ? info.default_value : given->second;
}

}  // namespace

void StrategyChoice::check() const { row().bytes(1, 0, false, 1, values, 1); }

void StrategyChoice::check_memory(const GraphView& graph, std::size_t num_classes, int threads) const {
  const std::uint64_t available = available_memory();
  const std::uint64_t needed =
      row().bytes(graph.num_nodes(), graph.num_arcs(), graph.is_weighted(), num_classes, values, threads);
  if (available == 0 || needed <= available) return;
  throw UsageError(name,
                   fmt::format("needs about {} beside the graph, and {} are free", bytes_text(needed),
                               bytes_text(available)),
                   "--strategy random takes a byte a node, cover with --goal hops little more");
}

Json StrategyChoice::effective() const {
  Json options = Json::object();
  for (const OptionInfo& info : row().options) {
    const std::string text = value_of(info, values);
    const bool is_plain = info.type == "int" || info.type == "number" || info.type == "bool";
    const Json parsed = is_plain ? Json::parse(text, nullptr, false) : Json(text);
    options[info.name] = parsed.is_discarded() ? Json(text) : parsed;
  }
  return options;
}

std::string StrategyChoice::text() const {
  std::string options;
  for (const OptionInfo& info : row().options)
    options += (options.empty() ? "" : ", ") + info.name + "=" + value_of(info, values);
  return name + (options.empty() ? "" : " (" + options + ")");
}

void add_strategy_options(CLI::App* verb, const std::string& flag, StrategyChoice& choice,
                          const Mentioned& mentioned) {
  verb->add_option(flag, choice.name,
                   choice.name.empty()
                       ? "ask for --budget labels by this strategy, then predict and reveal all others online"
                       : "how to choose nodes to ask about")
      ->type_name([] {
        std::string names;
        for (const QueryRow& row : query_rows()) names += (names.empty() ? "" : "|") + row.name;
        return names;
      }())
      ->default_str(choice.name);
  std::set<std::string> done;
  for (const CLI::Option* option : verb->get_options())
    for (const std::string& name : option->get_lnames()) done.insert("--" + name);
  for (const QueryRow& row : query_rows()) {
    const bool is_chosen =
        mentioned.strategy.empty() ? row.name == choice.name : row.name == mentioned.strategy;
    if (!is_chosen && !mentioned.everything) continue;
    for (const OptionInfo& info : row.options) {
      std::string name = "--" + info.name;
      std::replace(name.begin(), name.end(), '_', '-');
      if (!done.insert(name).second) continue;
      verb->add_option_function<std::string>(
              name, [&choice, key = info.name](const std::string& text) { choice.values[key] = text; },
              info.help + (info.range.empty() ? "" : ", " + info.range))
          ->type_name(info.type == "int"      ? "N"
                      : info.type == "number" ? "X"
                                              : info.type)
          ->default_str(info.default_value)
          ->group("Options of " + row.name);
    }
  }
}

std::string strategies_text() {
  constexpr std::size_t kIndent = 17, kWidth = 100 - kIndent;
  std::string text;
  for (const QueryRow& row : query_rows())
    text += fmt::format("\n  {:<14} {}", row.name,
                        wrapped(row.idea + " (" + row.paper + "). Cost: " + row.cost, kWidth, kIndent));
  return text;
}

}  // namespace copse::cli
