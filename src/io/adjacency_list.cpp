// SPDX-License-Identifier: Apache-2.0
//
// Adjacency lists, as networkx writes them: a line per node, its id and those of its neighbours, between
// blanks; # begins a comment. An edge may stand in one of its rows or in both.

#include "io/listing.hpp"
#include "io/text.hpp"

namespace copse {

ParsedEdges read_adjacency_list(ByteSource& source, const ReadOptions& options, const Execution& execution) {
  TextLines lines(source, "an adjacency list is text: a node and its neighbours in each line");
  GraphListing listing(options, source.name(), [&](std::size_t line) { return at(source.name(), line); });
  for (std::string_view line; lines.next_row(line);) {
    const std::uint64_t place = lines.line_number();
    const NodeId node = listing.node_of(next_word(line), place);
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      if (word[0] == '#') break;
      listing.add_edge(node, listing.node_of(word, place), "", place);
    }
  }
  return listing.finish({.lists_nodes = false, .may_be_empty = false}, lines.num_bytes(), "", execution);
}

}  // namespace copse
