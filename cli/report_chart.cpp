// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>

#include "report.hpp"

namespace copse::cli {
namespace {

Json values_of(const Chart& chart) {
  Json values = Json::array();
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      if (!std::isfinite(point.y) || (chart.log_y && point.y <= 0) || (chart.log_x && point.x <= 0)) continue;
      Json value{
          {"series", series.name}, {"y", point.y}, {"kind", series.is_reference ? "reference" : "run"}};
      if (chart.x_names.empty())
        value["x"] = point.x;
      else
        value["x"] = chart.x_names.at(static_cast<std::size_t>(point.x));
      if (std::isfinite(point.low) && std::isfinite(point.high)) {
        value["low"] = point.low;
        value["high"] = point.high;
      }
      values.push_back(std::move(value));
    }
  }
  return values;
}

Json scale(bool logarithmic, bool from_zero) {
  return logarithmic ? Json{{"type", "log"}, {"nice", false}} : Json{{"zero", from_zero}, {"nice", true}};
}

/// Figures that all lie far above 0 would be a band at the top of a chart that begins there.
bool begins_at_zero(const Chart& chart) {
  double least = 0, most = 0;
  bool any = false;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points) {
      if (!std::isfinite(point.y)) continue;
      least = any ? std::min(least, point.y) : point.y;
      most = any ? std::max(most, point.y) : point.y;
      any = true;
    }
  return least < most / 2;
}

/// Counts are shown where something was measured. Ticks at shares would be rounded to each other's numbers.
Json x_axis(const Chart& chart) {
  std::set<double> places;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points)
      if (!chart.log_x || point.x > 0) places.insert(point.x);
  Json axis{{"grid", false}, {"labelOverlap", "greedy"}};
  if (std::ranges::all_of(places, [](double x) { return x == std::floor(x); })) axis["values"] = places;
  return axis;
}

Json color(const Chart& chart) {
  Json color = Json::parse(R"({"field": "series", "type": "nominal", "title": null,
                               "legend": {"orient": "right", "labelLimit": 260, "symbolOpacity": 1}})");
  Json names = Json::array();
  for (const ChartSeries& series : chart.series) names.push_back(series.name);
  color["scale"] = {{"domain", names}, {"scheme", names.size() > 10 ? "tableau20" : "tableau10"}};
  return color;
}

Json tooltip(const Chart& chart) {
  const char* x_type = chart.x_names.empty() ? "quantitative" : "nominal";
  return {{{"field", "series"}, {"type", "nominal"}, {"title", "method"}},
          {{"field", "x"}, {"type", x_type}, {"title", chart.x_title.empty() ? "x" : chart.x_title}},
          {{"field", "y"}, {"type", "quantitative"}, {"title", chart.y_title}, {"format", ".4~g"}}};
}

/// Groups of bars side by side: a narrow panel per group, as every version of Vega-Lite can draw.
Json bars(const Chart& chart) {
  Json spec = Json::parse(R"({
    "mark": {"type": "bar", "tooltip": true}, "height": 260,
    "encoding": {
      "column": {"field": "x", "type": "nominal", "spacing": 8,
                 "header": {"labelLimit": 160, "labelOrient": "bottom", "titleOrient": "bottom"}},
      "x": {"field": "series", "type": "nominal", "axis": null},
      "y": {"field": "y", "type": "quantitative"}
    }})");
  Json& encoding = spec["encoding"];
  std::size_t longest = 0;  // a name must not run into the next one
  for (const std::string& name : chart.x_names) longest = std::max(longest, name.size());
  const std::size_t bars_width = 14 * chart.series.size();
  std::size_t width = std::max<std::size_t>({40, bars_width, 6 * longest});
  constexpr std::size_t kPage = 800;  // and a legend
  if (const std::size_t share = kPage / std::max<std::size_t>(chart.x_names.size(), 1); width > share) {
    width = std::max(bars_width, share - 8);
    encoding["column"]["header"].update({{"labelAngle", -25}, {"labelAlign", "right"}});
  }
  spec["width"] = width;
  encoding["column"].update({{"sort", chart.x_names}, {"title", chart.x_title}});
  encoding["y"]["title"] = chart.y_title;
  encoding["color"] = color(chart);
  encoding["x"]["sort"] = encoding["color"]["scale"]["domain"];
  encoding["tooltip"] = tooltip(chart);
  return spec;
}

/// Lines with a band of one standard error; references are dashed.
Json lines(const Chart& chart) {
  const bool are_lines = chart.kind == Chart::Kind::lines;
  Json x{{"field", "x"}, {"title", chart.x_title}};
  if (chart.x_names.empty())
    x.update({{"type", "quantitative"}, {"scale", scale(chart.log_x, false)}, {"axis", x_axis(chart)}});
  else
    x.update({{"type", "nominal"}, {"sort", chart.x_names}});
  const Json y{{"field", "y"},
               {"type", "quantitative"},
               {"title", chart.y_title},
               {"scale", scale(chart.log_y, begins_at_zero(chart))}};
  Json low = y;
  low["field"] = "low";
  Json main{{"mark", Json::parse(are_lines ? R"({"type": "line", "point": {"size": 25}})"
                                           : R"({"type": "point", "filled": true})")},
            {"encoding", {{"x", x}, {"y", y}, {"color", color(chart)}, {"tooltip", tooltip(chart)}}}};
  Json references = main;  // a published figure may be a single point, which no line shows
  references["transform"] = {{{"filter", "datum.kind == 'reference'"}}};
  references["mark"] =
      Json::parse(R"({"type": "point", "shape": "diamond", "filled": true, "size": 60, "opacity": 1})");
  if (are_lines)
    main["encoding"]["strokeDash"] = Json::parse(
        R"({"field": "kind", "type": "nominal", "legend": null,
            "scale": {"domain": ["run", "reference"], "range": [[1, 0], [6, 4]]}})");
  const Json band{{"transform", {{{"filter", "isValid(datum.low)"}}}},
                  {"mark", {{"type", are_lines ? "area" : "rule"}, {"opacity", 0.2}}},
                  {"encoding", {{"x", x}, {"y", low}, {"y2", {{"field", "high"}}}, {"color", color(chart)}}}};
  return {{"width", 560}, {"height", 320}, {"layer", {band, main, references}}};
}

}  // namespace

Json vega_lite(const Chart& chart) {
  Json spec = chart.kind == Chart::Kind::bars ? bars(chart) : lines(chart);
  spec["data"] = {{"values", values_of(chart)}};
  spec["title"] = {{"text", chart.title}, {"anchor", "start"}};
  spec["config"] = {{"view", {{"stroke", nullptr}}}, {"font", "system-ui, sans-serif"}};
  return spec;
}

}  // namespace copse::cli
