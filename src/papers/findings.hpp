// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "papers/experiment.hpp"

/// How reports come to their verdicts, and how they write figures.
namespace copse {

std::string fixed(double value, int digits = 1);    // "-" where there is none
std::string percent(double share, int digits = 1);  // 0.123 as "12.3"
std::string plus_minus(std::span<const double> values, int digits = 1, double unit = 1);  // mean ± deviation

/// a - b, and the standard error of that.
struct Difference {
  double mean = 0, error = 0;
  std::size_t num_runs = 0;
  /// Beyond two standard errors; equal runs without any spread count as well.
  bool is_below() const { return num_runs > 0 && mean < -2 * error; }
  bool is_above() const { return num_runs > 0 && mean > 2 * error; }
};

enum class Runs {
  paired,       // run by run in the order of the plan: the same permutations under both
  independent,  // each with randomness of its own
};
Difference difference(std::span<const double> a, std::span<const double> b, Runs runs);

/// The rule of a single comparison: confirmed or contradicted beyond two standard errors, else mixed.
Verdict verdict_of(bool is_for, bool is_against);

/// Comparisons of one statement over data sets, sizes and shares.
struct Tally {
  std::size_t ahead = 0, level = 0, behind = 0;
  std::size_t total() const { return ahead + level + behind; }
  void add(const Difference& difference, bool less_is_better = true);
  /// Confirmed: ahead in three quarters of them at least. Contradicted: behind in half of them at least.
  Verdict verdict() const;
  /// "ahead in 30 of 32 comparisons, level in 2, behind in 0"
  std::string text() const;
};

/// What to write under a table of findings, once for all.
extern const char* const kTallyRule;

/// "5 of 6 statements are confirmed, 1 is mixed."
std::string confirmed_text(const std::vector<Finding>& findings);

}  // namespace copse
