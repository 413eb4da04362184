// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>

#include "copse/support/error.hpp"
#include "papers/experiment.hpp"

namespace copse {

void Results::add(const std::vector<std::string>& factors, const Measurement& measurement) {
  by_measure_[measurement.measure].push_back(rows_.size());
  rows_.push_back({factors, measurement});
}

std::vector<const Results::Row*> Results::rows(std::string_view measure, const Where& where) const {
  std::vector<std::pair<std::size_t, std::string_view>> wanted;
  for (const auto& [factor, value] : where) {
    const auto found = std::find(factors_.begin(), factors_.end(), factor);
    if (found == factors_.end())
      throw UsageError{"experiment", quoted(factor) + " is not a factor of it", "this is an error of copse"};
    wanted.emplace_back(found - factors_.begin(), value);
  }
  std::vector<const Row*> result;
  const auto indices = by_measure_.find(measure);
  if (indices == by_measure_.end()) return result;
  for (const std::size_t i : indices->second) {
    const Row& row = rows_[i];
    if (std::all_of(wanted.begin(), wanted.end(),
                    [&](const auto& want) { return row.factors[want.first] == want.second; }))
      result.push_back(&row);
  }
  return result;
}

std::vector<std::string> Results::levels(std::string_view factor, const Where& where) const {
  const auto column =
      static_cast<std::size_t>(std::find(factors_.begin(), factors_.end(), factor) - factors_.begin());
  std::vector<std::string> found;
  std::set<std::string_view> seen;
  for (const Row* row : rows("seconds", where))  // every trial has exactly one
    if (seen.insert(row->factors.at(column)).second) found.push_back(row->factors[column]);
  return found;
}

std::vector<double> Results::places(std::string_view measure, const Where& where) const {
  std::set<double> found;
  for (const Row* row : rows(measure, where)) found.insert(row->measurement.at);
  return {found.begin(), found.end()};
}

std::vector<double> Results::values(std::string_view measure, const Where& where, double at) const {
  std::vector<double> found;
  for (const Row* row : rows(measure, where))
    if (row->measurement.at == at) found.push_back(row->measurement.value);
  return found;
}

double Results::mean(std::string_view measure, const Where& where, double at) const {
  return copse::mean(values(measure, where, at));
}

namespace {

ChartPoint point_of(double x, std::span<const double> values, double unit, bool band) {
  ChartPoint point{x, unit * mean(values)};
  const double error = unit * deviation(values) / std::sqrt(static_cast<double>(values.size()));
  if (band && values.size() > 1) point.low = point.y - error, point.high = point.y + error;
  return point;
}

}  // namespace

ChartSeries Results::series(std::string name, std::string_view measure, const Where& where, bool band) const {
  std::map<double, std::vector<double>> by_place;
  for (const Row* row : rows(measure, where)) by_place[row->measurement.at].push_back(row->measurement.value);
  ChartSeries series{std::move(name), {}, false};
  for (const auto& [at, found] : by_place) series.points.push_back(point_of(at, found, 1, band));
  return series;
}

ChartSeries Results::percent_series(std::string name, std::string_view measure, std::string_view factor,
                                    const Where& where, double unit) const {
  ChartSeries series{std::move(name), {}, false};
  Where one = where;
  one.emplace_back(factor, "");
  for (const std::string& level : levels(factor, where)) {
    one.back().second = level;
    if (const std::vector<double> found = values(measure, one); !found.empty())
      series.points.push_back(point_of(unit * std::stod(level), found, 100, true));
  }
  return series;
}

}  // namespace copse
