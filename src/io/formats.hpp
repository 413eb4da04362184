// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "copse/io/read.hpp"
#include "graph/edge_collector.hpp"
#include "support/atomic_file.hpp"
#include "support/byte_source.hpp"

// The file formats of graphs: one reader each, in a file of its own, and one row.

namespace copse {

/// What a reader leaves: the edges in buckets, on their way into rows.
struct ParsedEdges {
  std::unique_ptr<EdgeCollector> edges;
  std::unique_ptr<const SeenIds> seen;  // numbers the ids of the edges, unless they are nodes already
  std::uint64_t num_nodes = 0;
  NodeNames names;
  std::uint64_t num_bytes = 0;  // of text, after decompression
  bool has_no_weights = false;  // a list of pairs only
  std::string columns;          // what a table's header was taken for, as the user is told
};

Graph build_graph(ParsedEdges& parsed, const BuildOptions& options, const Execution& execution,
                  const std::string& where, BuildReport* report = nullptr);  // formats.cpp

using EdgeReader = ParsedEdges(ByteSource& source, const ReadOptions& options, const Execution& execution);
using GraphWriter = void(const std::string& path, const NamedGraph& graph, const Execution& execution);

// Each in the file of its name.
EdgeReader read_edge_list;
EdgeReader read_matrix_market;
EdgeReader read_metis;
EdgeReader read_npz;
EdgeReader read_graphml;
EdgeReader read_gexf;
EdgeReader read_gml;
EdgeReader read_pajek;
EdgeReader read_json;        // json_graph.cpp
EdgeReader read_json_lines;  // json_graph.cpp
EdgeReader read_adjacency_list;
EdgeReader read_dimacs;

inline constexpr char kCopseMagic[8] = {'\x89', 'c', 'o', 'p', 's', 'e', '\r', '\n'};
/// Mapped, not read: costs no parsing and no copy when the source is a plain file.
NamedGraph open_copse(ByteSource& source, const Execution& execution);  // copse_file.cpp
GraphWriter write_copse;                                                // copse_file.cpp
GraphWriter write_edge_list, write_matrix_market;                       // write.cpp
GraphWriter write_graphml, write_gexf, write_gml, write_pajek, write_json;
/// Whoever compresses takes a second for some megabytes: it is asked in between whether to go on.
void write_in_pieces(AtomicFile& file, std::string_view bytes, const Execution& execution);  // write.cpp

/// A file format of graphs. To add one: its reader in a file of its own, its name in GraphFormat, its row in
/// formats.cpp. The program, Python and detection read the rows.
struct FormatRow {
  GraphFormat format;
  std::string_view name;
  std::string_view magic;    // the first bytes of every such file; empty if there are none
  std::string_view endings;  // of names, before that of a compression, between blanks
  std::string_view columns;  // the roles that --columns may name
  EdgeReader* read;          // nullptr: .copse, which holds a graph, not edges
  GraphWriter* write;        // nullptr where copse only reads it
};

/// In the order of GraphFormat, without `automatic`.
std::span<const FormatRow> format_rows();

/// Whether a file's first bytes are those of a format.
bool begins_as(const FormatRow& row, std::string_view first);

/// The format whose ending a name has, or nullptr.
const FormatRow* format_of_name(std::string_view path);

/// The format of a source that has not been read yet, told or found out.
GraphFormat format_of(ByteSource& source, GraphFormat wanted);

/// The edges of a file that numbers its nodes; the first of them is called `first`.
ParsedEdges numbered(std::vector<EdgeChunk> chunks, std::uint64_t num_nodes, std::uint64_t first,
                     std::uint64_t num_bytes, const Execution& execution);
/// InputError for more nodes than copse can number; `kind` is what the file calls them.
void check_num_nodes(std::uint64_t num_nodes, const std::string& where, const std::string& kind = "rows");

/// A node without edges costs memory but no byte of a file. More of them than this, beyond what the entries
/// could ever connect, is taken for damage rather than allocated.
inline bool claims_too_many_nodes(std::uint64_t num_nodes, std::uint64_t num_entries) {
  constexpr std::uint64_t kFreeNodes = std::uint64_t{1} << 24, kNodesPerEntry = 1024;
  return num_nodes > kFreeNodes && num_nodes / kNodesPerEntry > num_entries;
}

/// How an edge list is cut up. The result does not depend on it; the tests cut very small.
struct EdgeListCut {
  std::size_t piece = std::size_t{1} << 18;  // parsed by one thread: its text and its edges fit in a cache
  std::size_t block = 0;                     // read at a time; 0 is a few pieces for each thread
  /// Makes what takes the edges.
  std::function<std::unique_ptr<EdgeCollector>(bool has_weights, std::uint64_t expected_edges)> collector =
      EdgeCollector::make;
};

/// Where edges go while they are read. Buckets are faster and take less memory; but they forget the order of
/// the list, and numbering text ids needs it. So a list that turns out to have some after all has to be read
/// again from its beginning, and a pipe has to be kept.
enum class EdgeListKeeps { list, buckets };

ParsedEdges read_edge_list(ByteSource& source, const ReadOptions& options, const Execution& execution,
                           const EdgeListCut& cut, EdgeListKeeps keeps);

}  // namespace copse
