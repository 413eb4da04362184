// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "io/graph_text.hpp"
#include "report.hpp"

namespace copse::cli {
namespace {

/// JSON inside <script>: nothing in it may end the script.
std::string script_json(const Json& json) {
  std::string text = json.dump();
  for (std::size_t at = 0; (at = text.find("</", at)) != text.npos; at += 3) text.replace(at, 2, "<\\/");
  return text;
}

bool looks_numeric(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.,+-%eE±() ") == text.npos;
}

std::string html_table(const ReportTable& table) {
  std::string html = "<h3>" + xml_text(table.title) + "</h3>\n<table><thead><tr>";
  for (const std::string& column : table.columns) html += "<th>" + xml_text(column) + "</th>";
  html += "</tr></thead>\n<tbody>";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& cell : row)
      html += (looks_numeric(cell) ? "<td class=\"number\">" : "<td>") + xml_text(cell) + "</td>";
    html += "</tr>\n";
  }
  html += "</tbody></table>\n";
  if (!table.note.empty()) html += "<p class=\"note\">" + xml_text(table.note) + "</p>\n";
  return html;
}

std::string html_findings(const std::vector<Finding>& findings) {
  std::string html =
      "<table class=\"findings\"><thead><tr><th>statement</th><th></th><th>we "
      "find</th></tr></thead><tbody>";
  for (const Finding& finding : findings)
    html += fmt::format("<tr><td>{}</td><td><span class=\"{}\">{}</span></td><td>{}</td></tr>\n",
                        xml_text(finding.statement), to_string(finding.verdict), to_string(finding.verdict),
                        xml_text(finding.evidence));
  return html + "</tbody></table>\n";
}

constexpr const char* kStyle = R"(
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2321; max-width: 62rem; margin: 2.5rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin-bottom: .2rem; }
h2 { font-size: 1.2rem; margin-top: 2.4rem; border-bottom: 1px solid #d8ddd9; padding-bottom: .25rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .5rem; }
p.paper, p.note, footer { color: #5b6660; font-size: .9rem; }
table { border-collapse: collapse; font-size: .88rem; display: block; overflow-x: auto; }
th { text-align: left; border-bottom: 2px solid #1c2321; padding: .25rem .8rem .25rem 0; vertical-align: bottom; }
td { border-bottom: 1px solid #e6eae7; padding: .25rem .8rem .25rem 0; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; font-size: .92rem; }
dt { color: #5b6660; } dd { margin: 0; }
.confirmed, .contradicted, .mixed { border-radius: .8rem; padding: .05rem .6rem; font-size: .8rem; white-space: nowrap; }
.confirmed { background: #d6efdc; color: #14532d; } .contradicted { background: #fbdcd7; color: #7f1d1d; }
.mixed { background: #fdf0c9; color: #713f12; }
code { background: #f1f4f2; padding: .1rem .35rem; border-radius: .25rem; }
.chart { margin: 1.2rem 0; overflow-x: auto; }
)";

}  // namespace

std::string report_html(const Report& report, const ReportFrame& frame) {
  const auto scripts = chart_scripts();
  const bool has_charts = !scripts[0].empty();
  std::string html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width\">\n";
  html += "<title>" + xml_text(report.title) + "</title>\n<style>" + kStyle + "</style>\n";
  if (has_charts && !report.charts.empty()) {
    html +=
        "<!-- Vega, Vega-Lite and Vega-Embed: BSD-3-Clause, University of Washington Interactive Data Lab "
        "and contributors -->\n";
    for (const std::string_view script : scripts) html += "<script>" + std::string(script) + "</script>\n";
  }
  html += "</head><body>\n<h1>" + xml_text(report.title) + "</h1>\n";
  if (!frame.paper.empty()) html += "<p class=\"paper\">" + xml_text(frame.paper) + "</p>\n";
  html += "<p>" + xml_text(frame.question) + "</p>\n<h2>Figures</h2>\n";
  if (!has_charts)
    html += "<p class=\"note\">This copse was built without charts (tools/fetch_charts).</p>\n";
  for (std::size_t i = 0; has_charts && i < report.charts.size(); ++i)
    html += fmt::format("<div class=\"chart\" id=\"chart{}\"></div>\n", i);
  for (const auto& [title, svg] : report.pictures) html += "<h3>" + xml_text(title) + "</h3>\n" + svg + "\n";
  if (!report.findings.empty()) html += "<h2>Findings</h2>\n" + html_findings(report.findings);
  if (!report.agreement.empty()) html += "<p>" + xml_text(report.agreement) + "</p>\n";
  html += "<h2>Tables</h2>\n";
  for (const ReportTable& table : report.tables) html += html_table(table);
  html += "<h2>Setting</h2>\n<dl>";
  for (const auto& [name, value] : report.setting)
    html += "<dt>" + xml_text(name) + "</dt><dd>" + xml_text(value) + "</dd>\n";
  html += "</dl>\n<footer><p><code>" + xml_text(frame.command) + "</code> " + xml_text(frame.runs) +
          "</p></footer>\n";
  if (has_charts && !report.charts.empty()) {
    html += "<script>\n";
    for (std::size_t i = 0; i < report.charts.size(); ++i)
      html += fmt::format(
          "vegaEmbed('#chart{}', {}, {{actions: {{export: true, source: false, compiled: false, editor: "
          "false}}}});\n",
          i, script_json(vega_lite(report.charts[i])));
    html += "</script>\n";
  }
  return html + "</body></html>\n";
}

std::string report_markdown(const Report& report, const ReportFrame& frame) {
  const auto cell = [](std::string text) {  // a bar would end the cell
    for (std::size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) text.insert(at, 1, '\\');
    return text;
  };
  const auto row = [&](const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const std::string& text : cells) line += " " + cell(text) + " |";
    return line + "\n";
  };
  const auto table = [&](const std::vector<std::string>& columns,
                         const std::vector<std::vector<std::string>>& rows) {
    std::string text = row(columns) + "|";
    for (std::size_t i = 0; i < columns.size(); ++i) text += " --- |";
    text += "\n";
    for (const auto& cells : rows) text += row(cells);
    return text + "\n";
  };
  std::string text = fmt::format("# {}\n\n{}. {}\n\n`{}`  \n{}\n\n", report.title, frame.paper,
                                 frame.question, frame.command, frame.runs);
  std::vector<std::vector<std::string>> findings;
  for (const Finding& finding : report.findings)
    findings.push_back({finding.statement, to_string(finding.verdict), finding.evidence});
  text += table({"statement", "", "we find"}, findings) + report.agreement + "\n\n";
  for (const ReportTable& each : report.tables) {
    text += "**" + each.title + "**\n\n" + table(each.columns, each.rows);
    if (!each.note.empty()) text += each.note + "\n\n";
  }
  for (const auto& [name, value] : report.setting) text += fmt::format("- {}: {}\n", name, value);
  return text;
}

Json report_json(const Report& report, const ReportFrame& frame) {
  Json findings = Json::array(), tables = Json::array(), setting = Json::object(), charts = Json::array();
  for (const Finding& finding : report.findings)
    findings.push_back({{"statement", finding.statement},
                        {"verdict", to_string(finding.verdict)},
                        {"evidence", finding.evidence}});
  for (const ReportTable& table : report.tables)
    tables.push_back(
        {{"title", table.title}, {"columns", table.columns}, {"rows", table.rows}, {"note", table.note}});
  for (const auto& [name, value] : report.setting) setting[name] = value;
  for (const Chart& chart : report.charts) charts.push_back(vega_lite(chart));
  return {{"experiment", frame.name},      {"title", report.title}, {"paper", frame.paper},
          {"command", frame.command},      {"setting", setting},    {"findings", findings},
          {"agreement", report.agreement}, {"tables", tables},      {"charts", charts}};
}

}  // namespace copse::cli
