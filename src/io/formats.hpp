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

/// A file format of graphs. To add one: its reader in a file of its own, its name in GraphFormat, its row in
/// formats.cpp. The program, Python and detection read the rows.
struct FormatRow {
  GraphFormat format;
  std::string_view name;
  std::string_view magic;                     // the first bytes of every such file; empty if there are none
  std::span<const std::string_view> endings;  // of names, before that of a compression
  std::string_view columns;                   // the roles that --columns may name
  NamedGraph (*read)(ByteSource& source, const ReadOptions& options, const Execution& execution,
                     ReadReport& report);
  /// nullptr where copse only reads it.
  void (*write)(const std::string& path, const NamedGraph& graph, const Execution& execution);
};

/// In the order of GraphFormat, without `automatic`.
std::span<const FormatRow> format_rows();

/// Whether a file's first bytes are those of a format.
bool begins_as(const FormatRow& row, std::string_view first);

/// The format whose ending a name has, or nullptr.
const FormatRow* format_of_name(std::string_view path);

/// The format of a source that has not been read yet, told or found out.
GraphFormat format_of(ByteSource& source, GraphFormat wanted);

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

ParsedEdges read_edge_list(ByteSource& source, const ReadOptions& options,
                           const Execution& execution);  // edge_list.cpp
ParsedEdges read_matrix_market(ByteSource& source, const Execution& execution,
                               bool is_signed = false);  // matrix_market.cpp
ParsedEdges read_metis(ByteSource& source, const Execution& execution, bool is_signed = false);  // metis.cpp
ParsedEdges read_npz(ByteSource& source, const Execution& execution, bool is_signed = false);    // npz.cpp
ParsedEdges read_graphml(ByteSource& source, const ReadOptions& options,
                         const Execution& execution);  // graphml.cpp
ParsedEdges read_gexf(ByteSource& source, const ReadOptions& options,
                      const Execution& execution);                                                 // gexf.cpp
ParsedEdges read_gml(ByteSource& source, const ReadOptions& options, const Execution& execution);  // gml.cpp
ParsedEdges read_pajek(ByteSource& source, const ReadOptions& options,
                       const Execution& execution);  // pajek.cpp
ParsedEdges read_json(ByteSource& source, const ReadOptions& options,
                      const Execution& execution);  // json_graph.cpp
ParsedEdges read_json_lines(ByteSource& source, const ReadOptions& options,
                            const Execution& execution);  // json_graph.cpp
ParsedEdges read_adjacency_list(ByteSource& source, const ReadOptions& options,
                                const Execution& execution);  // adjacency_list.cpp
ParsedEdges read_dimacs(ByteSource& source, const ReadOptions& options,
                        const Execution& execution);  // dimacs.cpp
inline constexpr char kCopseMagic[8] = {'\x89', 'c', 'o', 'p', 's', 'e', '\r', '\n'};
/// Mapped, not read: costs no parsing and no copy when the source is a plain file.
NamedGraph open_copse(ByteSource& source, const Execution& execution);  // copse_file.cpp
void write_copse(const std::string& path, const NamedGraph& graph,
                 const Execution& execution);  // copse_file.cpp
void write_edge_list(const std::string& path, const NamedGraph& graph,
                     const Execution& execution);  // write.cpp
void write_matrix_market(const std::string& path, const NamedGraph& graph,
                         const Execution& execution);  // write.cpp
void write_graphml(const std::string& path, const NamedGraph& graph, const Execution& execution);
void write_gexf(const std::string& path, const NamedGraph& graph, const Execution& execution);
void write_gml(const std::string& path, const NamedGraph& graph, const Execution& execution);
void write_pajek(const std::string& path, const NamedGraph& graph, const Execution& execution);
void write_json(const std::string& path, const NamedGraph& graph, const Execution& execution);
/// Whoever compresses takes a second for some megabytes: it is asked in between whether to go on.
void write_in_pieces(AtomicFile& file, std::string_view bytes, const Execution& execution);  // write.cpp

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
