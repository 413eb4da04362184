// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace copse {

/// What an experiment found, as people read it; the program renders it as HTML and as Markdown. Texts are
/// plain: no markup.
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
  std::vector<ChartSeries> series;
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
};

}  // namespace copse
