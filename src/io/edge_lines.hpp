// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "copse/graph/build.hpp"

namespace copse {

/// How the lines of an edge list look: `u v` or `u v weight`, all alike.
struct EdgeLineFormat {
  char separator = '\t';          // '\t', ',' or ' ' (runs of spaces and tabs)
  int num_columns = 0;            // 2 or 3; 0 when the text holds no edge
  std::uint64_t header_line = 0;  // counted from 1; 0 when there is none
};

/// Decides from the first line that is not skipped: tab if it has one, else comma if it has one, else
/// blanks. That line is a header when its first two words are names for the ends of an edge (source
/// target, u v, from to, node1 node2, ...), or when its third field is no number and that of the next
/// line is one. Nothing else is taken for a header: a line that is no header must never be lost.
/// `first_line` is the number of the text's first line.
EdgeLineFormat detect_edge_lines(std::string_view text, std::uint64_t first_line, const std::string& name);

/// What all pieces of one edge list share.
struct EdgeListContext {
  std::string name;
  EdgeLineFormat format;
  std::uint64_t integer_base = 0;  // integer ids are kept as (id - base), which must be below kNoNode
  bool is_signed = false;          // weights may be below 0
};

/// A distinct id of a piece, with its hash_text.
struct IdToken {
  std::string_view text;
  std::uint64_t hash = 0;
};

/// Some whole lines of an edge list and what became of them. Pieces are parsed in parallel and joined in
/// order; the first thing that went wrong in the first such piece is what the user is told.
struct EdgePiece {
  std::string_view text;
  std::uint64_t first_line = 0, num_lines = 0;
  EdgeChunk chunk;
  NodeId smallest = kNoNode, largest = 0;  // integer ids, minus the base
  bool met_other_id = false;               // stopped: an id is no integer, or too far from the base
  std::vector<IdToken> tokens;             // text ids in order of first appearance; the chunk holds indices
  std::exception_ptr error;                // stopped: a line is wrong

  /// As new, but with the memory of its columns.
  void start(std::string_view lines, std::uint64_t count);
};

/// Fills chunk, smallest and largest, or stops at the first line that needs text ids or is wrong.
void parse_integer_ids(EdgePiece& piece, const EdgeListContext& context);
/// Fills chunk and tokens, or stops at the first line that is wrong.
void parse_text_ids(EdgePiece& piece, const EdgeListContext& context);

}  // namespace copse
