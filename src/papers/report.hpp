// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What an experiment found, as people read it, and how it comes to its verdicts.
namespace copse {

// --- the parts of a report; the program renders them as HTML and as Markdown. Texts are plain: no markup.

struct ReportTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // as wide as `columns`
  std::string note;                            // below the table; may be empty
};

struct ChartPoint {
  double x = 0, y = 0;
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;  // a band or bar; NaN: none
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;  // ascending in x
  bool is_reference = false;       // a bound or a published figure: dashed
};

/// A figure with one panel. Two charts with the same series names get the same colours.
struct Chart {
  enum class Kind { lines, points, bars };
  std::string title;
  Kind kind = Kind::lines;
  std::string x_title, y_title;
  std::vector<ChartSeries> series{};
  std::vector<std::string> x_names{};  // names of x = 0, 1, ... where the axis has no numbers (bars)
  bool log_x = false, log_y = false;
};

enum class Verdict { confirmed, contradicted, mixed };
const char* to_string(Verdict verdict);

/// A statement of the paper, in our words, and what the runs say about it.
struct Finding {
  std::string statement;
  Verdict verdict = Verdict::mixed;
  std::string evidence;  // with figures
};

struct Report {
  std::string title;
  std::vector<std::pair<std::string, std::string>> setting;  // "graph": "3 nearest neighbours, ..."
  std::string agreement;  // a paragraph: where we agree with the paper, where not, and why as far as known
  std::vector<Finding> findings;
  std::vector<ReportTable> tables;
  std::vector<Chart> charts;
  std::vector<std::pair<std::string, std::string>> pictures{};  // title and SVG
};

// --- figures in words

double mean(std::span<const double> values);       // NaN of none
double deviation(std::span<const double> values);  // standard deviation of a sample; 0 with fewer than two
double standard_error(std::span<const double> values);  // of their mean

std::string fixed(double value, int digits = 1);    // "-" where there is none
std::string percent(double share, int digits = 1);  // 0.123 as "12.3"
std::string plus_minus(std::span<const double> values, int digits = 1, double unit = 1);  // mean ± deviation

/// `text` with each {} replaced by the next of `values`.
std::string filled(std::string_view text, std::initializer_list<std::string> values);
/// "a, b, c"
std::string listed(const std::vector<std::string>& items, std::string_view separator = ", ");

/// A row of a table: `head`, then a cell for each of the columns.
template <class Columns, class Cell>
std::vector<std::string> table_row(const std::string& head, const Columns& columns, Cell&& cell) {
  std::vector<std::string> row{head};
  for (const auto& column : columns) row.push_back(cell(column));
  return row;
}

/// A dashed line through (x, y(x)).
template <class Y>
ChartSeries reference_line(std::string name, const std::vector<double>& xs, Y&& y) {
  ChartSeries series{std::move(name), {}, true};
  for (const double x : xs) series.points.push_back({x, y(x)});
  return series;
}

// --- verdicts

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
/// Of a statement that holds or does not.
inline Verdict verdict_of(bool holds) { return verdict_of(holds, !holds); }

/// Comparisons of one statement over data sets, sizes and shares.
struct Tally {
  std::size_t ahead = 0, level = 0, behind = 0;
  std::size_t total() const { return ahead + level + behind; }
  void add(const Difference& difference, bool less_is_better = true);
  void add(const Tally& more) { ahead += more.ahead, level += more.level, behind += more.behind; }
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
