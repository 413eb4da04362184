// SPDX-License-Identifier: Apache-2.0
#include "io/formats.hpp"

#include <string>
#include <string_view>

#include "copse/support/error.hpp"
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

NamedGraph read_list(ByteSource& source, const ReadOptions& options, const Execution& execution,
                     ReadReport& report) {
  return build(read_edge_list(source, options, execution), source.name(), options, execution, report);
}

NamedGraph open_file(ByteSource& source, const ReadOptions&, const Execution& execution, ReadReport&) {
  return open_copse(source, execution);
}

constexpr std::string_view kEdgeListEndings[] = {".tsv", ".csv", ".txt", ".edges"};
constexpr std::string_view kMatrixMarketEndings[] = {".mtx"};
constexpr std::string_view kMetisEndings[] = {".graph", ".metis"};
constexpr std::string_view kNpzEndings[] = {".npz"};
constexpr std::string_view kCopseEndings[] = {".copse"};

constexpr FormatRow kRows[] = {
    {GraphFormat::edge_list, "edge_list", "", kEdgeListEndings, read_list, write_edge_list},
    {GraphFormat::matrix_market, "matrix_market", "%%MatrixMarket", kMatrixMarketEndings,
     read<read_matrix_market>, write_matrix_market},
    {GraphFormat::metis, "metis", "", kMetisEndings, read<read_metis>, nullptr},
    {GraphFormat::npz, "npz", "PK\x03\x04", kNpzEndings, read<read_npz>, nullptr},
    {GraphFormat::copse, "copse", {kCopseMagic, sizeof kCopseMagic}, kCopseEndings, open_file, write_copse},
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
// file that should have them, whose reader then says what is wrong. Anything else is an edge list.
const FormatRow& row_of(ByteSource& source, GraphFormat wanted) {
  const std::span<const char> first = source.peek();
  for (const FormatRow& row : kRows) {
    if (wanted == GraphFormat::automatic
            ? !row.magic.empty() && std::string_view(first.data(), first.size()).starts_with(row.magic)
            : row.format == wanted)
      return row;
  }
  const FormatRow* by_name = format_of_name(source.name());
  return by_name != nullptr ? *by_name : kRows[0];
}

}  // namespace

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
  const TableOptions& table = options.table;
  if (row.format != GraphFormat::edge_list &&
      (table.delimiter != '\0' || table.no_header || !table.columns.empty()))
    throw UsageError{
        source.name(),
        "columns and delimiters are told of edge lists only, and this is " + std::string(row.name),
        "leave --columns, --delimiter and --no-header out, or say --format edge_list"};
  return row.read(source, options, execution, *report);
}

void write_graph(const std::string& path, const NamedGraph& graph, const Execution& execution) {
  const FormatRow* row = format_of_name(path);
  const std::string_view ending = ending_of(path);
  if (row == nullptr && ending.empty()) row = &kRows[0];
  if (row == nullptr || row->write == nullptr)
    throw UsageError{path, "copse does not write graphs as " + std::string(ending),
                     "write .tsv or .csv (edge list), .mtx (Matrix Market) or .copse (binary)"};
  row->write(path, graph, execution);
}

}  // namespace copse
