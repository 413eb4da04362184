// SPDX-License-Identifier: Apache-2.0
#include "papers/report.hpp"

#include <cassert>
#include <cmath>
#include <cstdio>

namespace copse {

const char* const kTallyRule =
    "Ahead and behind mean beyond two standard errors. A statement is confirmed where it is ahead in at "
    "least three quarters of its comparisons, contradicted where it is behind in at least half, else mixed.";

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

double standard_error(std::span<const double> values) {
  return deviation(values) / std::sqrt(static_cast<double>(values.size()));
}

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

std::string filled(std::string_view text, std::initializer_list<std::string> values) {
  std::string result;
  for (const std::string& value : values) {
    const std::size_t gap = text.find("{}");
    assert(gap != text.npos);
    result.append(text.substr(0, gap)).append(value);
    text.remove_prefix(gap + 2);
  }
  assert(text.find("{}") == text.npos);
  return result.append(text);
}

std::string listed(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (const std::string& item : items) text.append(&item == &items.front() ? "" : separator).append(item);
  return text;
}

Difference difference(std::span<const double> a, std::span<const double> b, Runs runs) {
  if (a.empty() || b.empty()) return {};
  if (runs == Runs::paired && a.size() == b.size()) {
    std::vector<double> differences(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) differences[i] = a[i] - b[i];
    return {mean(differences), standard_error(differences), a.size()};
  }
  return {mean(a) - mean(b), std::hypot(standard_error(a), standard_error(b)), std::min(a.size(), b.size())};
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
  return filled(
      "ahead in {} of {} comparisons, level in {}, behind in {}",
      {std::to_string(ahead), std::to_string(total()), std::to_string(level), std::to_string(behind)});
}

std::string confirmed_text(const std::vector<Finding>& findings) {
  std::size_t counts[3] = {};
  for (const Finding& finding : findings) ++counts[static_cast<int>(finding.verdict)];
  std::string result =
      filled("{} of {} statements are confirmed",
             {std::to_string(counts[static_cast<int>(Verdict::confirmed)]), std::to_string(findings.size())});
  for (const Verdict verdict : {Verdict::contradicted, Verdict::mixed})
    if (const std::size_t count = counts[static_cast<int>(verdict)]; count > 0)
      result += filled(", {} {} {}", {std::to_string(count), count == 1 ? "is" : "are", to_string(verdict)});
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
