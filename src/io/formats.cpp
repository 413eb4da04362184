// SPDX-License-Identifier: Apache-2.0
#include "io/formats.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "copse/support/error.hpp"
#include "io/other_files.hpp"
#include "io/text.hpp"
#include "support/decompress.hpp"

namespace copse {
namespace {

// What a reader of text formats leaves becomes a graph; nodes in errors get the names they have in the file.
NamedGraph build(ParsedEdges parsed, const std::string& where, const ReadOptions& options,
                 const Execution& execution, ReadReport& report) {
  report.num_bytes = parsed.num_bytes;
  report.columns = parsed.columns;
  try {
    const Duplicates duplicates =
        options.duplicates.value_or(parsed.has_no_weights ? Duplicates::max : Duplicates::sum);
    Graph graph = build_graph(parsed, {duplicates, options.is_signed}, execution, where, &report.build);
    return {std::move(graph), std::move(parsed.names)};
  } catch (const PairError& error) {
    throw error.with_names(quoted(parsed.names.name(error.u)), quoted(parsed.names.name(error.v)));
  }
}

template <ParsedEdges (*parse)(ByteSource&, const Execution&, bool is_signed)>
NamedGraph read(ByteSource& source, const ReadOptions& options, const Execution& execution,
                ReadReport& report) {
  return build(parse(source, execution, options.is_signed), source.name(), options, execution, report);
}

template <ParsedEdges (*parse)(ByteSource&, const ReadOptions&, const Execution&)>
NamedGraph read_told(ByteSource& source, const ReadOptions& options, const Execution& execution,
                     ReadReport& report) {
  return build(parse(source, options, execution), source.name(), options, execution, report);
}

NamedGraph open_file(ByteSource& source, const ReadOptions&, const Execution& execution, ReadReport&) {
  return open_copse(source, execution);
}

constexpr std::string_view kEdgeListEndings[] = {".tsv", ".csv", ".txt", ".edges"};
constexpr std::string_view kMatrixMarketEndings[] = {".mtx"};
constexpr std::string_view kMetisEndings[] = {".graph", ".metis"};
constexpr std::string_view kNpzEndings[] = {".npz"};
constexpr std::string_view kCopseEndings[] = {".copse"};
constexpr std::string_view kGraphmlEndings[] = {".graphml"};
constexpr std::string_view kGexfEndings[] = {".gexf"};
constexpr std::string_view kGmlEndings[] = {".gml"};
constexpr std::string_view kPajekEndings[] = {".net", ".pajek"};
constexpr std::string_view kJsonEndings[] = {".json"};
constexpr std::string_view kJsonLinesEndings[] = {".jsonl", ".ndjson"};
constexpr std::string_view kAdjacencyEndings[] = {".adjlist"};
constexpr std::string_view kDimacsEndings[] = {".col", ".clq", ".dimacs"};

constexpr std::string_view kEnds = "source target weight", kAttributes = "weight node",
                           kAll = "source target weight node";

constexpr FormatRow kRows[] = {
    {GraphFormat::edge_list, "edge_list", "", kEdgeListEndings, kEnds, read_told<read_edge_list>,
     write_edge_list},
    {GraphFormat::matrix_market, "matrix_market", "%%MatrixMarket", kMatrixMarketEndings, "",
     read<read_matrix_market>, write_matrix_market},
    {GraphFormat::metis, "metis", "", kMetisEndings, "", read<read_metis>, nullptr},
    {GraphFormat::npz, "npz", "PK\x03\x04", kNpzEndings, "", read<read_npz>, nullptr},
    {GraphFormat::copse,
     "copse",
     {kCopseMagic, sizeof kCopseMagic},
     kCopseEndings,
     "",
     open_file,
     write_copse},
    {GraphFormat::graphml, "graphml", "<graphml", kGraphmlEndings, kAttributes, read_told<read_graphml>,
     write_graphml},
    {GraphFormat::gexf, "gexf", "<gexf", kGexfEndings, kAttributes, read_told<read_gexf>, write_gexf},
    {GraphFormat::gml, "gml", "graph [", kGmlEndings, kAttributes, read_told<read_gml>, write_gml},
    {GraphFormat::pajek, "pajek", "*Vertices", kPajekEndings, kAttributes, read_told<read_pajek>,
     write_pajek},
    {GraphFormat::json, "json", "{", kJsonEndings, kAll, read_told<read_json>, write_json},
    {GraphFormat::json_lines, "json_lines", "", kJsonLinesEndings, kEnds, read_told<read_json_lines>,
     nullptr},
    {GraphFormat::adjacency_list, "adjacency_list", "", kAdjacencyEndings, "", read_told<read_adjacency_list>,
     nullptr},
    {GraphFormat::dimacs, "dimacs", "", kDimacsEndings, "", read_told<read_dimacs>, nullptr},
};

// Of a file's name, before that of a compression; empty if it has none, or is no file but a device.
std::string_view ending_of(std::string_view path) {
  std::string_view name = without_compression(path);
  if (path == "-" || name.starts_with("/dev/")) return "";
  if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view() : name.substr(dot);
}

// The first bytes cannot lie; the extension only speaks for formats that have no such bytes, or for a
// file that should have them, whose reader then says what is wrong. JSON lines begin as other JSON does.
// Anything else is an edge list.
const FormatRow& row_of(ByteSource& source, GraphFormat wanted) {
  const std::span<const char> bytes = source.peek();
  const std::string_view first(bytes.data(), bytes.size());
  const FormatRow* by_name = format_of_name(source.name());
  if (wanted == GraphFormat::automatic && by_name != nullptr && by_name->format == GraphFormat::json_lines)
    return *by_name;
  for (const FormatRow& row : kRows)
    if (wanted == GraphFormat::automatic ? begins_as(row, first) : row.format == wanted) return row;
  return by_name != nullptr ? *by_name : kRows[0];
}

void check_table_options(const TableOptions& table, const FormatRow& row, const std::string& name) {
  const std::string is_row = ", and this is " + std::string(row.name);
  if (row.format != GraphFormat::edge_list && (table.delimiter != '\0' || table.no_header))
    throw UsageError{name, "delimiters and headers are told of edge lists only" + is_row,
                     "leave --delimiter and --no-header out, or say --format edge_list"};
  for (const auto& [role, column] : table.columns)
    if (row.columns.find(role) == std::string_view::npos)
      throw UsageError{name, "there is no " + role + " to be told" + is_row,
                       row.columns.empty() ? "leave --columns out, or say --format edge_list"
                                           : "--columns takes these here: " + std::string(row.columns) +
                                                 (role == "node" ? "; for labels say --node-column" : "")};
}

#ifndef COPSE_WITH_PARSERS
[[noreturn]] void refuse_without_parsers(const ByteSource& source) {
  throw UsageError{source.name(), "this copse was built without XML and JSON",
                   "build with -DCOPSE_PARSERS=ON (pugixml, nlohmann/json), or convert to an edge list"};
}
#endif

}  // namespace

#ifndef COPSE_WITH_PARSERS
ParsedEdges read_graphml(ByteSource& source, const ReadOptions&, const Execution&) {
  refuse_without_parsers(source);
}
ParsedEdges read_gexf(ByteSource& source, const ReadOptions&, const Execution&) {
  refuse_without_parsers(source);
}
ParsedEdges read_json(ByteSource& source, const ReadOptions&, const Execution&) {
  refuse_without_parsers(source);
}
ParsedEdges read_json_lines(ByteSource& source, const ReadOptions&, const Execution&) {
  refuse_without_parsers(source);
}
#endif

// The root element of an XML file may stand behind a declaration and comments.
bool begins_as(const FormatRow& row, std::string_view first) {
  if (row.format == GraphFormat::npz && first.starts_with(row.magic)) return is_zip_of_arrays(first);
  constexpr std::string_view kBlanks = " \t\r\n";
  if (first.starts_with("\xEF\xBB\xBF")) first.remove_prefix(3);
  first.remove_prefix(std::min(first.find_first_not_of(kBlanks), first.size()));
  if (row.magic.starts_with('<') && first.starts_with('<'))
    return first.find(row.magic) != std::string_view::npos;
  return !row.magic.empty() && lower_case(first.substr(0, row.magic.size())) == lower_case(row.magic);
}

std::span<const FormatRow> format_rows() { return kRows; }

std::vector<std::pair<std::string, GraphFormat>> graph_formats() {
  std::vector<std::pair<std::string, GraphFormat>> names{{"automatic", GraphFormat::automatic}};
  for (const FormatRow& row : kRows) names.emplace_back(row.name, row.format);
  return names;
}

const FormatRow* format_of_name(std::string_view path) {
  const std::string_view name = without_compression(path);
  for (const FormatRow& row : kRows)
    for (const std::string_view ending : row.endings)
      if (name.ends_with(ending)) return &row;
  return nullptr;
}

GraphFormat format_of(ByteSource& source, GraphFormat wanted) { return row_of(source, wanted).format; }

Graph build_graph(ParsedEdges& parsed, const BuildOptions& options, const Execution& execution,
                  const std::string& where, BuildReport* report) {
  BuildReport own;
  if (report == nullptr) report = &own;
  *report = {};
  return parsed.edges->build(parsed.num_nodes, parsed.seen.get(), options, execution, where, *report);
}

NamedGraph read_graph(const std::string& path, const ReadOptions& options, const Execution& execution,
                      ReadReport* report) {
  ReadReport own;
  if (report == nullptr) report = &own;
  *report = {};
  ByteSource source = ByteSource::open(path, execution);
  const FormatRow& row = row_of(source, options.format);
  report->format = row.format;
  if (!options.nodes_path.empty() && row.format != GraphFormat::edge_list)
    throw UsageError{
        options.nodes_path, "a file of nodes goes with an edge list only",
        "this graph's format already says how many nodes there are: leave the file of nodes out"};
  check_table_options(options.table, row, source.name());
  return row.read(source, options, execution, *report);
}

void write_graph(const std::string& path, const NamedGraph& graph, const Execution& execution) {
  const FormatRow* row = format_of_name(path);
  const std::string_view ending = ending_of(path);
  if (row == nullptr && ending.empty()) row = &kRows[0];
  if (row == nullptr || row->write == nullptr)
    throw UsageError{path, "copse does not write graphs as " + std::string(ending),
                     "write .tsv or .csv (edge list), .copse (binary), .mtx, .graphml, .gexf, .gml, .net "
                     "(Pajek) or .json"};
  row->write(path, graph, execution);
}

}  // namespace copse
