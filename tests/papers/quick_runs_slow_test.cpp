// SPDX-License-Identifier: Apache-2.0
// Every experiment in its quick form, from plan to report: what tests/cli/reproduce_test.py sees of it, and
// more.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "oracle/temporary_directory.hpp"
#include "papers/experiment.hpp"

namespace copse {
namespace {

class QuickRun : public testing::TestWithParam<ExperimentRow> {};

void expect_sound(const ReportTable& table) {
  SCOPED_TRACE(table.title);
  EXPECT_FALSE(table.rows.empty());
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
}

void expect_sound(const Chart& chart) {
  SCOPED_TRACE(chart.title);
  EXPECT_FALSE(chart.series.empty());
  std::set<std::string> names;
  for (const ChartSeries& series : chart.series) {
    EXPECT_TRUE(names.insert(series.name).second) << series.name << " twice";
    EXPECT_FALSE(series.points.empty()) << series.name;
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      EXPECT_TRUE(std::isfinite(series.points[i].x) && std::isfinite(series.points[i].y)) << series.name;
      if (i > 0) {
        EXPECT_GT(series.points[i].x, series.points[i - 1].x) << series.name;
      }
    }
  }
}

TEST_P(QuickRun, ends_in_a_report_that_is_whole) {
  const ExperimentRow& row = GetParam();
  const ExperimentSetup setup{.data = "", .quick = true};
  const oracle::TemporaryDirectory directory;
  const ExperimentRun run = run_experiment(row, setup, directory.file("runs.tsv"), {.seed = 1, .threads = 2});
  EXPECT_FALSE(run.interrupted);
  EXPECT_GT(run.num_trials, 0u);
  const Report report = row.report(setup, run.results);
  EXPECT_FALSE(report.title.empty());
  EXPECT_FALSE(report.setting.empty());
  EXPECT_FALSE(report.agreement.empty());
  EXPECT_EQ(report.agreement.find("nan"), std::string::npos) << report.agreement;
  EXPECT_FALSE(report.findings.empty());
  for (const Finding& finding : report.findings)
    EXPECT_NE(finding.evidence.find_first_of("0123456789"), std::string::npos) << finding.statement;
  EXPECT_FALSE(report.tables.empty());
  for (const ReportTable& table : report.tables) expect_sound(table);
  EXPECT_FALSE(report.charts.empty());
  for (const Chart& chart : report.charts) expect_sound(chart);
}

INSTANTIATE_TEST_SUITE_P(Experiments, QuickRun, testing::ValuesIn(experiment_rows()), [](const auto& test) {
  std::string name = test.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace copse
