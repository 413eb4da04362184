// SPDX-License-Identifier: Apache-2.0
#include "papers/online_curves.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "copse/evaluation/protocols.hpp"

namespace copse {
namespace {

struct OnlineMethod {
  const char* name;
  const char* learner;
  OptionValues options;
  const char* strategy;  // empty: labels come at random
};

const std::vector<OnlineMethod>& methods() {
  static const OptionValues aggressive{{"aggressive", "true"}};
  static const std::vector<OnlineMethod> all{
      {"1-proj", "one_projection", {}, ""},
      {"C-proj", "cyclic_projection", {}, ""},
      {"MNI-ag", "min_norm_interpolation", {}, ""},
      {"Act-st", "one_projection", {}, "act_st"},
      {"Act-mu", "one_projection", {}, "act_mu"},
      {"1-proj, every label", "projection", aggressive, ""},
      {"Act-st, every label", "projection", aggressive, "act_st"},
  };
  return all;
}

using Asked = std::vector<NodeId>;

std::vector<Measurement> play_passive(const OnlineMethod& method, const OnlineTask& task,
                                      const std::vector<std::size_t>& places, std::uint64_t index,
                                      const Execution& execution) {
  const auto learner = learner_row(method.learner).make(task.graph, method.options, execution);
  const OnlineGame game =
      play_online(*learner, task.labels, random_order(task.labels, execution.seed, index), execution);
  std::vector<Measurement> measurements;
  for (const std::size_t place : places) {
    const auto from =
        game.mistake.begin() + static_cast<std::ptrdiff_t>(std::min(place, game.mistake.size()));
    measurements.push_back({"future_error", static_cast<double>(place),
                            static_cast<double>(std::count(from, game.mistake.end(), true))});
  }
  if (std::string_view(method.name) == "1-proj") {  // once a permutation will do
    const auto ones = std::count(task.labels.begin(), task.labels.end(), Label{1});
    const auto others = static_cast<std::ptrdiff_t>(task.labels.size()) - ones;
    measurements.push_back({"larger_class", 0, static_cast<double>(std::max(ones, others))});
  }
  return measurements;
}

/// A game of its own for every place, the rest in an order of its own (footnote 3 of the paper).
std::vector<Measurement> play_asking(const OnlineMethod& method, const OnlineTask& task, const Asked& asked,
                                     const std::vector<std::size_t>& places, std::uint64_t index,
                                     const Execution& execution) {
  constexpr std::uint64_t kSuffixes = std::uint64_t{1} << 40;  // away from the orders of passive games
  std::vector<Measurement> measurements;
  for (const std::size_t place : places) {
    const auto learner = learner_row(method.learner).make(task.graph, method.options, execution);
    const auto prefix = std::span(asked).first(std::min(place, asked.size()));
    const std::uint64_t order = kSuffixes + index * (task.labels.size() + 1) + place;
    const OnlineGame game = play_active(*learner, task.labels, prefix, execution.seed, order, execution);
    measurements.push_back(
        {"future_error", static_cast<double>(place), static_cast<double>(game.mistakes())});
  }
  return measurements;
}

}  // namespace

std::vector<std::string> online_methods() {
  std::vector<std::string> names;
  for (const OnlineMethod& method : methods()) names.emplace_back(method.name);
  return names;
}

std::vector<std::string> paper_online_methods() {
  std::vector<std::string> names = online_methods();
  names.resize(5);
  return names;
}

std::vector<Trial> online_trials(const OnlinePlan& plan, const Execution& execution) {
  std::vector<Trial> trials;
  const std::uint64_t seed = execution.seed;
  for (std::size_t draw = 0; draw < plan.draws.size(); ++draw) {
    const Lazy<OnlineTask> task = plan.draws[draw];
    const std::size_t budget = plan.places.back();
    std::map<std::string, Lazy<Asked>> asked;  // by strategy: what is asked does not depend on permutations
    for (const char* strategy : {"act_st", "act_mu"})
      asked.emplace(strategy, Lazy<Asked>([=] {
                      const auto asking = query_row(strategy).make(task().graph, {}, {seed});
                      return ask_labels(*asking, task().labels, budget);
                    }));
    for (const OnlineMethod& method : methods()) {
      for (std::size_t p = 0; p < plan.num_permutations; ++p) {
        const std::uint64_t index = draw * plan.num_permutations + p;
        Trial trial{{std::to_string(draw + 1), method.name, std::to_string(p + 1)}, {}};
        const std::vector<std::size_t> places = plan.places;
        if (*method.strategy == '\0')
          trial.run = [=, &method](const Execution& run) {
            return play_passive(method, task(), places, index, run);
          };
        else
          trial.run = [=, &method, order = asked.at(method.strategy)](const Execution& run) {
            return play_asking(method, task(), order(), places, index, run);
          };
        trials.push_back(std::move(trial));
      }
    }
  }
  return trials;
}

std::vector<double> future_error(const Results& results, const std::string& method, double at) {
  return results.values("future_error", {{"method", method}}, at);
}

double mean_future_error(const Results& results, const std::string& method, double at) {
  return results.mean("future_error", {{"method", method}}, at);
}

double nearest_place(const Results& results, double at) {
  double nearest = 0;
  for (const double place : results.places("future_error"))
    if (place <= at) nearest = place;
  return nearest;
}

namespace {

/// Passive methods meet the same permutations; games after questions have orders of their own.
Difference compare(const Results& results, const std::string& a, const std::string& b, double at) {
  const bool is_paired = !a.starts_with("Act") && !b.starts_with("Act");
  return difference(future_error(results, a, at), future_error(results, b, at),
                    is_paired ? Runs::paired : Runs::independent);
}

}  // namespace

Finding fewer_mistakes(const Results& results, const std::string& statement, const std::string& better,
                       const std::string& worse, double at) {
  const Difference found = compare(results, better, worse, at);
  return {
      statement, verdict_of(found.is_below(), found.is_above()),
      filled("from trial {} on {} ({}) against {} ({}) mistakes, difference {} ± {} (standard error)",
             {fixed(at, 0), fixed(mean_future_error(results, better, at)), better,
              fixed(mean_future_error(results, worse, at)), worse, fixed(found.mean), fixed(found.error)})};
}

Finding as_many_mistakes(const Results& results, const std::string& statement, const std::string& a,
                         const std::string& b, double at) {
  const Difference found = compare(results, a, b, at);
  const double of_a = mean_future_error(results, a, at), of_b = mean_future_error(results, b, at);
  const double smaller = std::min(of_a, of_b), apart = std::fabs(found.mean);
  return {
      statement, verdict_of(apart <= 0.1 * smaller, apart - 2 * found.error > 0.1 * smaller),
      filled("from trial {} on {} ({}) and {} ({}) mistakes: {} % apart, within a tenth counts as comparable",
             {fixed(at, 0), fixed(of_a), a, fixed(of_b), b, percent(apart / smaller, 0)})};
}

ReportTable online_table(const Results& results) {
  ReportTable table{"Future cumulative error: mistakes from trial t on", {"method"}, {}, ""};
  std::vector<double> places;
  for (const double place : results.places("future_error"))
    if (places.empty() || place == 5 || place >= 2 * places.back()) places.push_back(place);
  for (const double place : places) table.columns.push_back("t = " + fixed(place, 0));
  for (const std::string& method : results.levels("method"))
    table.rows.push_back(table_row(
        method, places, [&](double place) { return plus_minus(future_error(results, method, place)); }));
  table.note = filled(
      "Mean ± standard deviation over permutations{}. \"Every label\": the method learns from every label, "
      "not from mistakes only.",
      {results.levels("draw").size() > 1 ? " and draws" : ""});
  return table;
}

Chart online_chart(const Results& results, const std::string& title,
                   const std::vector<std::string>& methods) {
  Chart chart{.title = title, .x_title = "t", .y_title = "mistakes from trial t on"};
  for (const std::string& method : methods)
    chart.series.push_back(results.series(method, "future_error", {{"method", method}}));
  return chart;
}

}  // namespace copse
