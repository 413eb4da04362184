// SPDX-License-Identifier: Apache-2.0
#include "papers/findings.hpp"

#include <cmath>
#include <cstdio>

namespace copse {

const char* const kTallyRule =
    "Ahead and behind mean beyond two standard errors. A statement is confirmed where it is ahead in at "
    "least "
    "three quarters of its comparisons, contradicted where it is behind in at least half, else mixed.";

std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string percent(double share, int digits) { return fixed(100 * share, digits); }

std::string plus_minus(std::span<const double> values, int digits, double unit) {
  if (values.empty()) return "-";
  return fixed(unit * mean(values), digits) + " ± " + fixed(unit * deviation(values), digits);
}

Difference difference(std::span<const double> a, std::span<const double> b, Runs runs) {
  if (a.empty() || b.empty()) return {};
  const auto count = [](std::span<const double> values) { return static_cast<double>(values.size()); };
  if (runs == Runs::paired && a.size() == b.size()) {
    std::vector<double> differences(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) differences[i] = a[i] - b[i];
    return {mean(differences), deviation(differences) / std::sqrt(count(a)), a.size()};
  }
  const double error_a = deviation(a) / std::sqrt(count(a)), error_b = deviation(b) / std::sqrt(count(b));
  return {mean(a) - mean(b), std::hypot(error_a, error_b), std::min(a.size(), b.size())};
}

Verdict verdict_of(bool is_for, bool is_against) {
  return is_for ? Verdict::confirmed : is_against ? Verdict::contradicted : Verdict::mixed;
}

void Tally::add(const Difference& difference, bool less_is_better) {
  if (difference.num_runs == 0) return;
  const bool is_ahead = less_is_better ? difference.is_below() : difference.is_above();
  const bool is_behind = less_is_better ? difference.is_above() : difference.is_below();
  ++(is_ahead ? ahead : is_behind ? behind : level);
}

Verdict Tally::verdict() const {
  return verdict_of(total() > 0 && 4 * ahead >= 3 * total(), total() > 0 && 2 * behind >= total());
}

std::string Tally::text() const {
  return "ahead in " + std::to_string(ahead) + " of " + std::to_string(total()) + " comparisons, level in " +
         std::to_string(level) + ", behind in " + std::to_string(behind);
}

std::string confirmed_text(const std::vector<Finding>& findings) {
  std::size_t counts[3] = {};
  for (const Finding& finding : findings) ++counts[static_cast<int>(finding.verdict)];
  const auto number = [&](Verdict verdict) { return counts[static_cast<int>(verdict)]; };
  const auto text = [](std::size_t count, const char* word) {
    return std::to_string(count) + (count == 1 ? " is " : " are ") + word;
  };
  std::string result = std::to_string(number(Verdict::confirmed)) + " of " + std::to_string(findings.size()) +
                       " statements are confirmed";
  for (const Verdict verdict : {Verdict::contradicted, Verdict::mixed})
    if (number(verdict) > 0) result += ", " + text(number(verdict), to_string(verdict));
  return result + ".";
}

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::confirmed:
      return "confirmed";
    case Verdict::contradicted:
      return "contradicted";
    case Verdict::mixed:
      break;
  }
  return "mixed";
}

}  // namespace copse
