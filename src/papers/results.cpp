// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>

#include "papers/experiment.hpp"
#include "copse/support/error.hpp"

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

double Results::deviation(std::string_view measure, const Where& where, double at) const {
  return copse::deviation(values(measure, where, at));
}

ChartSeries Results::series(std::string name, std::string_view measure, const Where& where, bool band) const {
  std::map<double, std::vector<double>> by_place;
  for (const Row* row : rows(measure, where)) by_place[row->measurement.at].push_back(row->measurement.value);
  ChartSeries series{std::move(name), {}, false};
  for (const auto& [at, found] : by_place) {
    ChartPoint point{at, copse::mean(found)};
    const double error = copse::deviation(found) / std::sqrt(static_cast<double>(found.size()));
    if (band && found.size() > 1) point.low = point.y - error, point.high = point.y + error;
    series.points.push_back(point);
  }
  return series;
}

double mean(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace copse
