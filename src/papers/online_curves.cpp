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
      {"C-proj, every label",
       "projection",
       {{"strategy", "all"}, {"cyclic", "true"}, {"aggressive", "true"}},
       ""},
      {"Act-st, every label", "projection", aggressive, "act_st"},
      {"Act-mu, every label", "projection", aggressive, "act_mu"},
  };
  return all;
}

using Asked = std::vector<NodeId>;

Execution with_columns(Execution execution, const OnlineTask& task) {
  execution.columns = task.columns.get();
  return execution;
}

std::vector<Measurement> play_passive(const OnlineMethod& method, const OnlineTask& task,
                                      const std::vector<std::size_t>& places, std::uint64_t index,
                                      const Execution& execution) {
  const auto learner =
      learner_row(method.learner).make(task.graph, method.options, with_columns(execution, task));
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
    const auto learner =
        learner_row(method.learner).make(task.graph, method.options, with_columns(execution, task));
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
                      const auto asking =
                          query_row(strategy).make(task().graph, {}, with_columns({seed}, task()));
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
  std::vector<double> means;
  for (const std::string& draw : results.levels("draw"))
    means.push_back(results.mean("future_error", {{"method", method}, {"draw", draw}}, at));
  return means;
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

Finding fewer_mistakes(const Results& results, const std::string& statement, const std::string& better,
                       const std::string& worse, double at) {
  const Difference found =
      difference(future_error(results, better, at), future_error(results, worse, at), Runs::paired);
  return {
      statement, verdict_of(found.is_below(), found.is_above()),
      filled("from trial {} on {} ({}) against {} ({}) mistakes, difference {} ± {} (standard error between "
             "draws)",
             {fixed(at, 0), fixed(mean_future_error(results, better, at)), better,
              fixed(mean_future_error(results, worse, at)), worse, fixed(found.mean), fixed(found.error)})};
}

Finding comparable(const Results& results, const std::string& statement, const std::string& a,
                   const std::string& b, const std::string& weaker, const std::vector<std::string>& draws) {
  std::vector<double> apart, ahead;  // of each other; of the weaker method
  double sums[3] = {};
  for (const std::string& draw : draws) {
    const auto mistakes = [&](const std::string& method) {
      return results.mean("future_error", {{"method", method}, {"draw", draw}});
    };
    const double of_a = mistakes(a), of_b = mistakes(b), of_weaker = mistakes(weaker);
    apart.push_back(std::fabs(of_a - of_b));
    ahead.push_back(of_weaker - std::max(of_a, of_b));
    sums[0] += of_a, sums[1] += of_b, sums[2] += of_weaker;
  }
  const Difference found = difference(apart, ahead, Runs::paired);
  const auto count = static_cast<double>(draws.size());
  return {
      statement, verdict_of(found.is_below(), found.is_above()),
      filled("{} ({}), {} ({}) and {} ({}) mistakes. Rule: as the paper uses the word, two methods are "
             "comparable where they lie closer to each other than to the one it calls weaker: {} apart, {} "
             "from it, by graph, difference {} ± {}",
             {fixed(sums[0] / count), a, fixed(sums[1] / count), b, fixed(sums[2] / count), weaker,
              fixed(mean(apart)), fixed(mean(ahead)), fixed(found.mean), fixed(found.error)})};
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
      "Mean ± standard deviation between the {} draws, each the mean over its permutations. \"Every label\": "
      "aggressive in every trial (table 1 as printed), not only while asking (footnote 2).",
      {std::to_string(results.levels("draw").size())});
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
