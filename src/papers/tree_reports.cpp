// SPDX-License-Identifier: Apache-2.0
#include "papers/tree_reports.hpp"

#include <cmath>

#include "copse/support/error.hpp"
#include "papers/tree_methods.hpp"

namespace copse {

std::vector<double> cell(const Results& results, const std::string& measure, const std::string& set,
                         const std::string& train, const std::string& method) {
  return results.values(measure, {{"set", set}, {"train", train}, {"method", method}});
}

void for_each_cell(const Results& results,
                   const std::function<void(const std::string&, const std::string&)>& body) {
  for (const std::string& set : results.levels("set"))
    for (const std::string& train : results.levels("train", {{"set", set}})) body(set, train);
}

Tally compare_methods(const Results& results, const std::string& measure, const std::string& better,
                      const std::string& worse) {
  Tally tally;
  for_each_cell(results, [&](const std::string& set, const std::string& train) {
    tally.add(difference(cell(results, measure, set, train, better),
                         cell(results, measure, set, train, worse), Runs::paired));
  });
  return tally;
}

void add(Tally& sum, const Tally& part) {
  sum.ahead += part.ahead;
  sum.level += part.level;
  sum.behind += part.behind;
}

double overall(const Results& results, const std::string& measure, const std::string& method) {
  std::vector<double> means;
  for_each_cell(results, [&](const std::string& set, const std::string& train) {
    means.push_back(100 * mean(cell(results, measure, set, train, method)));
  });
  return mean(means);
}

std::string overall_text(const Results& results, const std::string& measure,
                         const std::vector<std::string>& methods) {
  std::string text;
  for (const std::string& method : methods)
    text += (text.empty() ? "" : ", ") + method + " " + fixed(overall(results, measure, method), 2);
  return text;
}

ReportTable set_table(const Results& results, const std::string& set, const std::string& title,
                      const std::vector<std::string>& methods, const std::string& error,
                      const std::string& f) {
  ReportTable table{title, {"method"}, {}, ""};
  const std::vector<std::string> shares = results.levels("train", {{"set", set}});
  for (const std::string& train : shares) table.columns.push_back(share_heading(train) + ", error");
  for (const std::string& train : shares) table.columns.push_back(share_heading(train) + ", F");
  for (const std::string& method : methods) {
    std::vector<std::string> row{method};
    for (const std::string& train : shares)
      row.push_back(plus_minus(cell(results, error, set, train, method), 2, 100));
    for (const std::string& train : shares)
      row.push_back(percent(mean(cell(results, f, set, train, method))));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Chart set_chart(const Results& results, const std::string& set, const std::string& title,
                const std::string& measure, const std::vector<std::string>& methods) {
  Chart chart{.title = title,
              .x_title = "training labels, % of the nodes",
              .y_title = "error, %",
              .series = {},
              .log_x = true};
  for (const std::string& method : methods) {
    ChartSeries series{method, {}, false};
    for (const std::string& train : results.levels("train", {{"set", set}})) {
      const std::vector<double> values = cell(results, measure, set, train, method);
      if (values.empty()) continue;
      const double y = 100 * mean(values);
      const double error = 100 * deviation(values) / std::sqrt(static_cast<double>(values.size()));
      series.points.push_back({100 * std::stod(train), y, y - error, y + error});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

std::string set_sizes(const Results& results) {
  std::string text;
  for (const std::string& set : results.levels("set")) {
    const auto count = [&](const char* measure) {
      return with_commas(
          static_cast<std::uint64_t>(results.mean(measure, {{"set", set}, {"method", "WMV"}})));
    };
    text += (text.empty() ? "" : "; ") + set + ": " + count("nodes") + " nodes, " + count("edges") +
            " edges, " + count("classes") + " classes";
  }
  return text;
}

}  // namespace copse
