// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "copse/io/read.hpp"
#include "copse/support/atomic_file.hpp"
#include "copse/support/byte_source.hpp"
#include "graph/edge_collector.hpp"

// One reader a format, each in its own file; read.cpp picks one and builds the graph.

namespace copse {

/// What a reader leaves of the edges for build_graph: a list, or already in buckets.
struct ParsedEdges {
  std::vector<EdgeChunk> chunks;
  std::unique_ptr<EdgeCollector> collected;
  std::unique_ptr<const SeenIds> seen;  // numbers the ids that were collected, unless they are nodes already
  std::uint64_t num_nodes = 0;
  NodeNames names;
  std::uint64_t num_bytes = 0;  // of text, after decompression
};

Graph build_graph(ParsedEdges& parsed, const BuildOptions& options, const Execution& execution,
                  const std::string& where, BuildReport* report = nullptr);  // read.cpp

ParsedEdges read_edge_list(ByteSource& source, const ReadOptions& options,
                           const Execution& execution);  // edge_list.cpp
ParsedEdges read_matrix_market(ByteSource& source, const Execution& execution,
                               bool is_signed = false);  // matrix_market.cpp
ParsedEdges read_metis(ByteSource& source, const Execution& execution, bool is_signed = false);  // metis.cpp
ParsedEdges read_npz(ByteSource& source, const Execution& execution, bool is_signed = false);    // npz.cpp
/// Mapped, not read: costs no parsing and no copy when the source is a plain file.
NamedGraph open_copse(ByteSource& source, const Execution& execution);  // copse_file.cpp
void write_copse(const std::string& path, const NamedGraph& graph,
                 const Execution& execution);  // copse_file.cpp
/// Whoever compresses takes a second for some megabytes: it is asked in between whether to go on.
void write_in_pieces(AtomicFile& file, std::string_view bytes, const Execution& execution);  // write.cpp

/// A weight as text: finite, >= 0 unless the graph is signed, representable; anything else throws InputError
/// at `name`:`line`.
Weight parse_weight(std::string_view token, const std::string& name, std::uint64_t line,
                    bool is_signed = false);  // parse_weight.cpp

}  // namespace copse
