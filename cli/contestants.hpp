// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "choices.hpp"
#include "copse/learners/registry.hpp"

namespace copse::cli {

/// One learner as `evaluate` is told it: wta:num_trees=101.
struct Contestant {
  const LearnerRow* row;
  OptionValues values;
  std::string options;  // only those that were given, num_trees=101:tree=rst
};

/// The learners of a comma-separated list; `flags` go to every learner that has the option.
std::vector<Contestant> parse_contestants(const std::string& list, const OptionValues& flags);

/// "0.05,0.1": numbers between 0 and 1.
std::vector<double> parse_fractions(const std::string& list);

/// Repeated measurements.
struct Sample {
  std::vector<double> values;
  double mean() const;
  double deviation() const;  // of a sample: n - 1
  std::string text() const;  // "0.1234 ± 0.0056"
};

}  // namespace copse::cli
