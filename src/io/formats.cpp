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

constexpr std::string_view kEnds = "source target weight", kAttributes = "weight node",
                           kAll = "source target weight node";

constexpr FormatRow kRows[] = {
    {GraphFormat::edge_list, "edge_list", "", ".tsv .csv .txt .edges", kEnds, read_edge_list,
     write_edge_list},
    {GraphFormat::matrix_market, "matrix_market", "%%MatrixMarket", ".mtx", "", read_matrix_market,
     write_matrix_market},
    {GraphFormat::metis, "metis", "", ".graph .metis", "", read_metis, nullptr},
    {GraphFormat::npz, "npz", "PK\x03\x04", ".npz", "", read_npz, nullptr},
    {GraphFormat::copse, "copse", {kCopseMagic, sizeof kCopseMagic}, ".copse", "", nullptr, write_copse},
    {GraphFormat::graphml, "graphml", "<graphml", ".graphml", kAttributes, read_graphml, write_graphml},
    {GraphFormat::gexf, "gexf", "<gexf", ".gexf", kAttributes, read_gexf, write_gexf},
    {GraphFormat::gml, "gml", "graph [", ".gml", kAttributes, read_gml, write_gml},
    {GraphFormat::pajek, "pajek", "*Vertices", ".net .pajek", kAttributes, read_pajek, write_pajek},
    {GraphFormat::json, "json", "{", ".json", kAll, read_json, write_json},
    {GraphFormat::json_lines, "json_lines", "", ".jsonl .ndjson", kEnds, read_json_lines, nullptr},
    {GraphFormat::adjacency_list, "adjacency_list", "", ".adjlist", "", read_adjacency_list, nullptr},
    {GraphFormat::dimacs, "dimacs", "", ".col .clq .dimacs", "", read_dimacs, nullptr},
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

}  // namespace

#ifndef COPSE_WITH_PARSERS
ParsedEdges read_graphml(ByteSource& source, const ReadOptions&, const Execution&) {
  throw UsageError{source.name(), "this copse was built without XML and JSON",
                   "build with -DCOPSE_PARSERS=ON (pugixml, nlohmann/json), or convert to an edge list"};
}
ParsedEdges read_gexf(ByteSource& a, const ReadOptions& b, const Execution& c) {
  return read_graphml(a, b, c);
}
ParsedEdges read_json(ByteSource& a, const ReadOptions& b, const Execution& c) {
  return read_graphml(a, b, c);
}
ParsedEdges read_json_lines(ByteSource& a, const ReadOptions& b, const Execution& c) {
  return read_graphml(a, b, c);
}
#endif

ParsedEdges numbered(std::vector<EdgeChunk> chunks, std::uint64_t num_nodes, std::uint64_t first,
                     std::uint64_t num_bytes, const Execution& execution) {
  ParsedEdges parsed;
  parsed.edges = EdgeCollector::of(std::move(chunks), num_nodes, execution);
  parsed.num_nodes = num_nodes;
  parsed.num_bytes = num_bytes;
  parsed.names = NodeNames::numbered(num_nodes, first);
  return parsed;
}

void check_num_nodes(std::uint64_t num_nodes, const std::string& where, const std::string& kind) {
  if (num_nodes > kMaxNodes)
    throw InputError{where, with_commas(num_nodes) + " " + kind + " are more than copse can number",
                     "a graph may have up to " + with_commas(kMaxNodes) + " nodes"};
}

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
    for (std::string_view endings = row.endings, one = next_word(endings); !one.empty();
         one = next_word(endings))
      if (name.ends_with(one)) return &row;
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
  if (row.read == nullptr) return open_copse(source, execution);
  return build(row.read(source, options, execution), source.name(), options, execution, *report);
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
