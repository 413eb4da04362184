// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "papers/generators.hpp"
#include "papers/experiments.hpp"
#include "papers/online_curves.hpp"

// Herbster, Pontil & Wainer 2005, section 6 and figure 2 (bottom): a random graph of clusters.

namespace copse {
namespace hierarchical_online {
namespace {

struct Sizes {
  std::size_t num_draws, clusters, num_permutations;
  std::vector<std::size_t> places;
};

Sizes sizes(bool quick) {
  if (quick) return {2, 14, 5, {0, 5, 10, 20, 50}};
  return {5, 26, 20, {0, 5, 10, 20, 30, 50, 100, 200, 300, 400}};
}

/// Draw number 0 is the graph of `copse graph generate hierarchical` with the same seed.
OnlineTask draw_task(std::size_t clusters, std::uint64_t draw, std::uint64_t seed) {
  constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;  // seeds of one run's draws, far from those of the next
  GeneratedGraph made = generate_any_graph(
      "hierarchical", {{"clusters", static_cast<double>(clusters)}, {"out", 2}}, {seed + draw * kStep});
  return {std::move(made.graph), std::move(made.labels.of_node)};
}

std::vector<Trial> plan(const ExperimentSetup& setup, const Execution& execution) {
  const Sizes size = sizes(setup.quick);
  OnlinePlan online{{}, size.num_permutations, size.places};
  for (std::size_t draw = 0; draw < size.num_draws; ++draw)
    online.draws.emplace_back(
        [=, seed = execution.seed, clusters = size.clusters] { return draw_task(clusters, draw, seed); });
  return online_trials(online, execution);
}

/// By draw: whether the order of two methods hangs on the graph.
ReportTable draws_table(const Results& results) {
  ReportTable table{
      "All mistakes, by draw", {"method"}, {}, "Mean ± standard deviation over the permutations."};
  for (const std::string& draw : results.levels("draw")) table.columns.push_back("graph " + draw);
  for (const std::string& method : paper_online_methods()) {
    if (method.rfind("Act", 0) == 0) continue;  // before any question these are 1-proj
    std::vector<std::string> row{method};
    for (const std::string& draw : results.levels("draw"))
      row.push_back(plus_minus(results.values("future_error", {{"method", method}, {"draw", draw}}, 0)));
    table.rows.push_back(std::move(row));
  }
  std::vector<std::string> sizes{"nodes of the larger class"};
  for (const std::string& draw : results.levels("draw"))
    sizes.push_back(fixed(results.mean("larger_class", {{"draw", draw}}), 0));
  table.rows.push_back(std::move(sizes));
  return table;
}

/// MNI-ag beside C-proj on the graph whose labels are split most evenly, and on that where they are least.
std::string balance_text(const Results& results, double nodes) {
  std::vector<std::string> draws = results.levels("draw");
  std::stable_sort(draws.begin(), draws.end(), [&](const std::string& a, const std::string& b) {
    return results.mean("larger_class", {{"draw", a}}) < results.mean("larger_class", {{"draw", b}});
  });
  const auto text = [&](const std::string& draw) {
    const auto count = [&](const char* method) {
      return fixed(results.mean("future_error", {{"method", method}, {"draw", draw}}));
    };
    return "(" + percent(results.mean("larger_class", {{"draw", draw}}) / nodes, 0) +
           " % in the larger class) it makes " + count("MNI-ag") + " mistakes, C-proj " + count("C-proj");
  };
  return "MNI-ag looks among functions whose values sum to 0. On the graph with the most even labels " +
         text(draws.front()) + "; on that with the least even " + text(draws.back()) + ".";
}

std::string agreement(const Sizes& size, const Results& results) {
  const double nodes = static_cast<double>(size.clusters * size.clusters);
  const double late = results.places("future_error").back();
  const auto count = [&](const char* method, double at) {
    return fixed(mean(future_error(results, method, at)));
  };
  return "The text gives no figures for this graph, only the order of the methods. Of " + fixed(nodes, 0) +
         " nodes 1-proj mistakes " + count("1-proj", 0) + ", C-proj " + count("C-proj", 0) + " and MNI-ag " +
         count("MNI-ag", 0) + ": " + percent(mean(future_error(results, "C-proj", 0)) / nodes, 0) +
         " % and " + percent(mean(future_error(results, "MNI-ag", 0)) / nodes, 0) +
         " % for the better two. After " + fixed(late, 0) + " questions Act-st still makes " +
         count("Act-st", late) + " mistakes and Act-mu " + count("Act-mu", late) +
         ", 1-proj after as many labels at random " + count("1-proj", late) +
         ". How hard the task is hangs on the noise of the diffusion, which the paper leaves to a report: 5 "
         "% of the "
         "steps flip the label here. " +
         balance_text(results, nodes);
}

Report report(const ExperimentSetup& setup, const Results& results) {
  const Sizes size = sizes(setup.quick);
  const double late = results.places("future_error").back(), middle = nearest_place(results, 50);
  const std::string q = std::to_string(size.clusters);
  Report report;
  report.title = "A hierarchical random graph, online";
  report.setting = {
      {"graph", q + " random graphs G_k-out of " + q + " nodes each, joined by a G_k-out of graphs, k = 2; " +
                    std::to_string(size.num_draws) + " graphs (the paper: one, of 26)"},
      {"labels",
       "noisy diffusion: one random node a cluster begins, half of them +1; then again and again a random "
       "unlabelled node next to a labelled one takes the label of a random labelled neighbour, or with "
       "probability 0.05 the other one"},
      {"methods", "as in digits-online"},
      {"repeats", std::to_string(size.num_permutations) + " permutations a graph"},
  };
  report.agreement = agreement(size, results);
  report.findings = {
      fewer_mistakes(results, "1-proj is the weaker method: C-proj is ahead of it", "C-proj", "1-proj", 0),
      fewer_mistakes(results, "1-proj is the weaker method: MNI-ag is ahead of it", "MNI-ag", "1-proj", 0),
      as_many_mistakes(results, "MNI-ag and C-proj perform similarly", "MNI-ag", "C-proj", 0),
      fewer_mistakes(results, "Asking is ahead of taking labels at random: Act-st", "Act-st", "1-proj",
                     middle),
      fewer_mistakes(results, "Asking is ahead of taking labels at random: Act-mu", "Act-mu", "1-proj",
                     middle),
      fewer_mistakes(results, "Act-st slightly improves over Act-mu when t increases", "Act-st", "Act-mu",
                     late),
  };
  report.tables = {online_table(results), draws_table(results)};
  report.charts = {
      online_chart(results, "Figure 2, bottom: hierarchical random graph", paper_online_methods()),
      online_chart(results, "What asking saves where every label is learned from",
                   {"1-proj", "1-proj, every label", "Act-st, every label"})};
  return report;
}

}  // namespace
}  // namespace hierarchical_online

ExperimentRow hierarchical_online_experiment() {
  using namespace hierarchical_online;  // of its own: plan and report are in every one of these files
  return {"hierarchical-online",
          "Do the same methods keep their order where the task is harder: clusters in a random graph, noisy "
          "labels?",
          "Herbster, Pontil & Wainer 2005, section 6, figure 2 (bottom)",
          "nothing: the graphs are made",
          online_factors(),
          plan,
          report};
}

}  // namespace copse
