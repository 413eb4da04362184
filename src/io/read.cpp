// SPDX-License-Identifier: Apache-2.0
#include "copse/io/read.hpp"

#include <string_view>

#include "copse/support/error.hpp"
#include "io/copse_file.hpp"
#include "graph/pair_error.hpp"
#include "io/readers.hpp"

namespace copse {
namespace {

// The first bytes cannot lie; the extension only speaks for formats that have no such bytes, or for a
// file that should have them, whose reader then says what is wrong.
GraphFormat detect_graph_format(ByteSource& source) {
  const std::span<const char> first = source.peek();
  const std::string_view bytes{first.data(), first.size()};
  if (bytes.starts_with(std::string_view(kCopseMagic, sizeof kCopseMagic))) return GraphFormat::copse;
  if (bytes.starts_with("PK\x03\x04")) return GraphFormat::npz;
  if (bytes.starts_with("%%MatrixMarket")) return GraphFormat::matrix_market;
  std::string_view name = source.name();
  for (const std::string_view compression : {".gz", ".zst", ".xz", ".bz2"})
    if (name.ends_with(compression)) name.remove_suffix(compression.size());
  if (name.ends_with(".graph") || name.ends_with(".metis")) return GraphFormat::metis;
  if (name.ends_with(".mtx")) return GraphFormat::matrix_market;
  if (name.ends_with(".npz")) return GraphFormat::npz;
  if (name.ends_with(".copse")) return GraphFormat::copse;
  return GraphFormat::edge_list;
}

ParsedEdges parse(ByteSource& source, GraphFormat format, const ReadOptions& options,
                  const Execution& execution) {
  switch (format) {
    case GraphFormat::matrix_market:
      return read_matrix_market(source, execution, options.is_signed);
    case GraphFormat::metis:
      return read_metis(source, execution, options.is_signed);
    case GraphFormat::npz:
      return read_npz(source, execution, options.is_signed);
    default:
      return read_edge_list(source, options, execution);
  }
}

}  // namespace

Graph build_graph(ParsedEdges& parsed, const BuildOptions& options, const Execution& execution,
                  const std::string& where, BuildReport* report) {
  if (parsed.collected == nullptr)
    return build_graph(std::move(parsed.chunks), parsed.num_nodes, options, execution, where, report);
  BuildReport own;
  if (report == nullptr) report = &own;
  *report = {};
  return parsed.collected->build(parsed.num_nodes, parsed.seen.get(), options, execution, where, *report);
}

NamedGraph read_graph(const std::string& path, const ReadOptions& options, const Execution& execution,
                      ReadReport* report) {
  ReadReport own;
  if (report == nullptr) report = &own;
  *report = {};
  ByteSource source = ByteSource::open(path, execution);
  const GraphFormat format =
      options.format == GraphFormat::automatic ? detect_graph_format(source) : options.format;
  report->format = format;
  if (!options.nodes_path.empty() && format != GraphFormat::edge_list)
    throw UsageError{
        options.nodes_path, "a file of nodes goes with an edge list only",
        "this graph's format already says how many nodes there are: leave the file of nodes out"};
  if (format == GraphFormat::copse) return open_copse(source, execution);

  ParsedEdges parsed = parse(source, format, options, execution);
  report->num_bytes = parsed.num_bytes;
  try {
    Graph graph = build_graph(parsed, {options.duplicates, options.is_signed}, execution, source.name(),
                              &report->build);
    return {std::move(graph), std::move(parsed.names)};
  } catch (const PairError& error) {
    throw error.with_names(quoted(parsed.names.name(error.u)), quoted(parsed.names.name(error.v)));
  }
}

}  // namespace copse
