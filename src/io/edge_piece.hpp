// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "copse/graph/build.hpp"
#include "io/edge_line.hpp"

namespace copse {

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
  void reset();
};

/// Fills chunk, smallest and largest, or stops at the first line that needs text ids or is wrong.
void parse_integer_ids(EdgePiece& piece, const EdgeListContext& context);
/// Fills chunk and tokens, or stops at the first line that is wrong.
void parse_text_ids(EdgePiece& piece, const EdgeListContext& context);

}  // namespace copse
