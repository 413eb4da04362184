// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "copse/graph/build.hpp"
#include "copse/graph/names.hpp"
#include "copse/io/table.hpp"

namespace copse {

struct NamedGraph {
  Graph graph;
  NodeNames names;
};

enum class GraphFormat {
  automatic,
  edge_list,
  matrix_market,
  metis,
  npz,
  copse,
  graphml,
  gexf,
  gml,
  pajek,
  json,
  json_lines,
  adjacency_list,
  dimacs
};

/// All of them by name, in this order.
std::vector<std::pair<std::string, GraphFormat>> graph_formats();

struct ReadOptions {
  GraphFormat format = GraphFormat::automatic;  // by magic bytes, then by extension, else edge list
  /// By default weights of a pair that is listed again are added, and a pair of a list without weights counts
  /// once: the graph stays one without weights.
  std::optional<Duplicates> duplicates;
  bool is_signed =
      false;  // weights below 0 are negative edges (BuildOptions); .copse files say so themselves
  std::string nodes_path;  // a file with one node id per line: nodes that no edge may mention
  /// How an edge list is written. Of formats with attributes, columns name those for "weight" and "node" (what
  /// nodes are called by), of JSON lines also "source" and "target"; the others say all of it themselves.
  TableOptions table;
};

struct ReadReport {
  GraphFormat format = GraphFormat::automatic;
  BuildReport build;
  std::uint64_t num_bytes = 0;  // of text parsed, after decompression
  std::string columns;          // of a table with a header, or of attributes: "columns a -> b, weight amount"
};

/// Reads a graph from a file; "-" is standard input; compressed files (.gz, .zst, .xz, .bz2) are known
/// by their first bytes. Throws InputError with file and line. docs/formats.md describes every format.
NamedGraph read_graph(const std::string& path, const ReadOptions& options, const Execution& execution,
                      ReadReport* report = nullptr);

/// Writes aside, then renames: a failed write leaves nothing behind. The extension decides the format:
/// .copse, .mtx, .graphml, .gexf, .gml, .net (Pajek), .json (node-link), .tsv, .txt and .edges (an edge list
/// `u<TAB>v<TAB>w`, no third column when unweighted, each edge once), .csv (the same with commas); a name without an extension is an edge list, any other
/// UsageError; .gz, .zst, .xz and .bz2 on top of a text format compress. "-" is standard output (edge list).
/// Nodes without edges are lost in an edge list, the others keep them; .mtx has no place for names
/// and takes numbered nodes only (UsageError). A negative edge is written with a weight below 0.
void write_graph(const std::string& path, const NamedGraph& graph, const Execution& execution);

}  // namespace copse
