// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/generate.hpp"

#include <algorithm>
#include <cmath>

#include "copse/support/options.hpp"
#include "graph/generate_parts.hpp"

namespace copse {
namespace {

// 1000000 as "1000000", 0.57 as "0.57".
std::string short_number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return std::to_string(static_cast<std::int64_t>(value));
  std::string text = std::to_string(value);
  while (text.back() == '0') text.pop_back();
  return text;
}

std::string parameter_list(const GeneratorRow& row) {
  std::string list = row.name + " takes";
  for (const GeneratorParameter& parameter : row.parameters) {
    list += (&parameter == &row.parameters.front() ? " " : ", ") + parameter.name + " (" + parameter.help +
            "; " + (parameter.is_whole ? "whole, " : "") + short_number(parameter.low) + " to " +
            short_number(parameter.high) + ", default " + short_number(parameter.default_value) + ")";
  }
  return list;
}

void check_value(const GeneratorRow& row, const GeneratorParameter& parameter, double value) {
  const bool is_fit = value >= parameter.low && value <= parameter.high;  // false for NaN
  if (is_fit && (!parameter.is_whole || value == std::floor(value))) return;
  const std::string kind = parameter.is_whole ? "a whole number" : "a number";
  throw UsageError{row.name + " parameter " + parameter.name,
                   short_number(value) + " is not " + kind + " from " + short_number(parameter.low) + " to " +
                       short_number(parameter.high),
                   parameter_list(row)};
}

}  // namespace

const std::vector<GeneratorRow>& generator_rows() {
  static const std::vector<GeneratorRow> rows = [] {
    std::vector<GeneratorRow> all = classic_generators();
    const std::vector<GeneratorRow> more = random_generators();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return rows;
}

GeneratedGraph generate_graph(const std::string& name,
                              const std::vector<std::pair<std::string, double>>& parameters,
                              const Execution& execution, const std::vector<GeneratorRow>& rows) {
  const GeneratorRow& row = find_row(rows, name, "graph family");
  std::vector<double> values;
  for (const GeneratorParameter& parameter : row.parameters) values.push_back(parameter.default_value);
  for (const auto& given : parameters) {
    const auto found =
        std::find_if(row.parameters.begin(), row.parameters.end(),
                     [&](const GeneratorParameter& known) { return known.name == given.first; });
    if (found == row.parameters.end()) {
      throw UsageError{row.name, "there is no parameter " + copse::quoted(given.first), parameter_list(row)};
    }
    check_value(row, *found, given.second);
    values[static_cast<std::size_t>(found - row.parameters.begin())] = given.second;
  }
  return row.make(values, execution);
}

}  // namespace copse
