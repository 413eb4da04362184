// SPDX-License-Identifier: Apache-2.0
#include "papers/experiments.hpp"
#include "papers/tree_methods.hpp"
#include "papers/tree_reports.hpp"

// Cesa-Bianchi, Gentile, Vitale & Zappella 2013, section 7: what the weights of the edges are worth, in
// drawing a tree and in predicting on it.

namespace copse {
namespace weights_matter {
namespace {

TreeMethod without_weights(TreeMethod method) {
  method.name = "NW" + method.name;
  method.ignores_weights = true;
  return method;
}

std::vector<TreeMethod> methods() {
  std::vector<TreeMethod> all;
  for (const TreeKind kind : {TreeKind::rst, TreeKind::nwrst, TreeKind::mst})
    for (const bool weighted : {true, false}) all.push_back(wta_on(kind, weighted));
  for (const TreeKind kind : {TreeKind::rst, TreeKind::nwrst})
    for (const bool weighted : {true, false}) all.push_back(wta_committee(17, kind, weighted));
  for (const TreeMethod& method : {majority_method(), propagation_method()}) {
    all.push_back(method);
    all.push_back(without_weights(method));
  }
  for (TreeMethod& method : all) method.is_decided = false;
  return all;
}

std::vector<Trial> plan(const ExperimentSetup& setup, const Execution& execution) {
  TreePlan plan{tree_sets(setup, execution), methods(), {0.05, 0.1, 0.25, 0.5}};
  // Nothing to compare on a graph that has no weights; known by name, so that planning reads no file.
  std::erase_if(plan.sets, [](const SharedSet& set) { return set.name() == "rcv1_10k"; });
  if (setup.quick) {
    plan.shares = {0.1, 0.5};
    plan.num_permutations = 3;
    plan.num_instances = 3;
  }
  return tree_trials(plan);
}

Finding with_ahead(const Results& results, const std::string& statement, const std::string& with,
                   const std::string& without) {
  const Tally tally = compare_methods(results, "error", with, without);
  return {statement, tally.verdict(),
          tally.text() + "; mean error, %: " + overall_text(results, "error", {with, without})};
}

/// For every set, how much of the error without weights the weights save.
Chart savings_chart(const Results& results) {
  Chart chart{.title = "Error with weights as a share of that without, all training shares",
              .kind = Chart::Kind::bars,
              .x_title = "set",
              .y_title = "% of the error without weights",
              .series = {}};
  chart.x_names = results.levels("set");
  const std::pair<const char*, const char*> pairs[] = {{"WTA+RST", "WTA+NWRST"},
                                                       {"WTA+RST", "NWWTA+RST"},
                                                       {"WTA+RST", "NWWTA+NWRST"},
                                                       {"17*WTA+RST", "17*NWWTA+NWRST"},
                                                       {"LABPROP", "NWLABPROP"}};
  for (const auto& [with, without] : pairs) {
    ChartSeries series{std::string(with) + " / " + without, {}, false};
    for (std::size_t i = 0; i < chart.x_names.size(); ++i) {
      double a = 0, b = 0;
      for (const std::string& train : results.levels("train", {{"set", chart.x_names[i]}})) {
        a += mean(cell(results, "error", chart.x_names[i], train, with));
        b += mean(cell(results, "error", chart.x_names[i], train, without));
      }
      series.points.push_back({static_cast<double>(i), 100 * a / b});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

std::string agreement(const Results& results) {
  const Tally drawing = compare_methods(results, "error", "WTA+RST", "WTA+NWRST");
  const Tally both = compare_methods(results, "error", "WTA+RST", "NWWTA+NWRST");
  return "The paper's figure shows the difference between RST and NWRST under WTA; its text at hand gives no "
         "figures "
         "for it. Here, drawing the tree by weight rather than uniformly, with WTA on both: " +
         drawing.text() + " (mean error " + overall_text(results, "error", {"WTA+RST", "WTA+NWRST"}) +
         " %). Weights in the drawing and in the nearest-label rule against none at all: " + both.text() +
         " (" + overall_text(results, "error", {"WTA+RST", "NWWTA+NWRST"}) + " %). A committee of 17 has " +
         overall_text(results, "error", {"17*WTA+RST", "17*WTA+NWRST", "17*NWWTA+NWRST"}) +
         " %: what the committee gains is " +
         fixed(overall(results, "error", "WTA+RST") - overall(results, "error", "17*WTA+RST"), 2) +
         " points, what the weights gain within it " +
         fixed(overall(results, "error", "17*NWWTA+NWRST") - overall(results, "error", "17*WTA+RST"), 2) +
         ".";
}

Report report(const ExperimentSetup& setup, const Results& results) {
  Report report;
  report.title = "What the weights are worth";
  for (const SharedSet& set : tree_sets(setup, {}))
    if (set.name() != "rcv1_10k") report.setting.emplace_back(set.name(), set.text());
  report.setting.emplace_back("sizes", set_sizes(results));
  report.setting.emplace_back("protocol", "that of spanning-trees: the same splits and the same trees");
  report.setting.emplace_back(
      "names",
      "NWRST: drawn without regard to weights, which WTA then uses; NWWTA, NWWMV, NWLABPROP: "
      "every edge counts as 1; a minimum tree always goes by weight");
  report.agreement = agreement(results);
  report.findings = {
      with_ahead(results, "Random trees drawn by weight are ahead of uniform ones (WTA+RST, WTA+NWRST)",
                 "WTA+RST", "WTA+NWRST"),
      with_ahead(results, "The same in committees of 17", "17*WTA+RST", "17*WTA+NWRST"),
      with_ahead(results, "Weights carry information for the nearest-label rule (WTA+RST, NWWTA+RST)",
                 "WTA+RST", "NWWTA+RST"),
      with_ahead(results, "The same on the minimum tree", "WTA+MST", "NWWTA+MST"),
      with_ahead(results, "Weights in both are ahead of none (WTA+RST, NWWTA+NWRST)", "WTA+RST",
                 "NWWTA+NWRST"),
      with_ahead(results, "Weights matter to the harmonic function on the whole graph as well", "LABPROP",
                 "NWLABPROP"),
      with_ahead(results, "Weights matter to the vote of the neighbours as well", "WMV", "NWWMV"),
  };
  std::vector<std::string> all;
  for (const TreeMethod& method : methods()) all.push_back(method.name);
  for (const std::string& set : results.levels("set")) {
    report.tables.push_back(set_table(results, set, set, all, "error", "f_measure"));
    report.charts.push_back(
        set_chart(results, set, set, "error", {"WTA+RST", "WTA+NWRST", "NWWTA+RST", "NWWTA+NWRST"}));
  }
  report.tables.back().note =
      std::string("Percent; error ± standard deviation over the permutations. ") + kTallyRule;
  report.charts.push_back(savings_chart(results));
  return report;
}

}  // namespace
}  // namespace weights_matter

ExperimentRow weights_matter_experiment() {
  using namespace weights_matter;  // of its own: plan and report are in every one of these files
  return {"weights-matter",
          "What are the weights worth, in drawing a tree and in predicting on it?",
          "Cesa-Bianchi, Gentile, Vitale & Zappella 2013, section 7",
          kTreeSetFiles,
          tree_factors(),
          plan,
          report};
}

}  // namespace copse
