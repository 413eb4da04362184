// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "papers/experiment.hpp"
#include "table.hpp"

namespace copse::cli {

/// What is printed on a report besides what was found.
struct ReportFrame {
  std::string name, paper, question;  // of the experiment; what is empty is left out
  std::string command;                // that made it
  std::string runs;                   // "300 runs in 2 min 05 s, each in runs.tsv"
};

/// One page with everything in it: opens without a network.
std::string report_html(const Report& report, const ReportFrame& frame);
/// The same for a terminal, a wiki or docs/: tables, no charts.
std::string report_markdown(const Report& report, const ReportFrame& frame);
Json report_json(const Report& report, const ReportFrame& frame);

/// A Vega-Lite specification with its data.
Json vega_lite(const Chart& chart);

/// Vega, Vega-Lite and Vega-Embed, as they go into a report; empty in a program built without a network.
std::array<std::string_view, 3> chart_scripts();

}  // namespace copse::cli
