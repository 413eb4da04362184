// SPDX-License-Identifier: Apache-2.0
#include "contestants.hpp"
#include "choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "program.hpp"

namespace copse::cli {

namespace {

Contestant parse_contestant(const std::string& text, const OptionValues& flags) {
  const std::vector<std::string> parts = split(text, ':');
  Contestant one{&learner_row(parts.empty() ? text : parts[0]), {}, ""};
  for (const OptionInfo& info : one.row->options) {
    const auto given = flags.find(info.name);
    if (given != flags.end()) one.values.insert(*given);
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string::npos)
      throw UsageError("--learners",
                       copse::quoted(parts[i]) + " in " + copse::quoted(text) + " is not name=value",
                       "for example wta:num_trees=101");
    std::string name = parts[i].substr(0, equals);
    std::replace(name.begin(), name.end(), '-', '_');
    one.values[name] = parts[i].substr(equals + 1);
  }
  for (const auto& [name, value] : one.values) {
    if (!one.options.empty()) one.options += ':';
    one.options.append(name).append("=").append(value);
  }
  return one;
}

double parse_fraction(const std::string& text) {
  const std::optional<double> value = parse_number(text);
  if (!value || !(*value > 0 && *value < 1))
    throw UsageError("--train", copse::quoted(text) + " is not a fraction between 0 and 1",
                     "for example --train 0.05,0.1");
  return *value;
}

}  // namespace

std::vector<Contestant> parse_contestants(const std::string& list, const OptionValues& flags) {
  std::vector<Contestant> all;
  for (const std::string& text : split(list, ',')) all.push_back(parse_contestant(text, flags));
  if (all.empty())
    throw UsageError("--learners", "names no learner", "for example --learners wta,majority_vote");
  return all;
}

std::vector<double> parse_fractions(const std::string& list) {
  std::vector<double> values;
  for (const std::string& text : split(list, ',')) values.push_back(parse_fraction(text));
  if (values.empty()) throw UsageError("--train", "names no fraction", "for example --train 0.05,0.1");
  return values;
}

double Sample::mean() const {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double Sample::deviation() const {
  double sum = 0;
  for (const double value : values) sum += (value - mean()) * (value - mean());
  return values.size() < 2 ? 0 : std::sqrt(sum / static_cast<double>(values.size() - 1));
}

std::string Sample::text() const { return fmt::format("{:.4f} ± {:.4f}", mean(), deviation()); }

}  // namespace copse::cli
