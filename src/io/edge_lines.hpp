// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "copse/graph/build.hpp"
#include "io/intern.hpp"
#include "io/table.hpp"

namespace copse {

inline constexpr char kEdgeShape[] =
    "an edge is a line \"u v\" or \"u v weight\", separated by tab, comma, semicolon or spaces";

/// How the lines of an edge list look: all alike.
struct EdgeLineFormat {
  char delimiter = '\t';        // '\t', ',', ';', '|' or ' ' (runs of blanks)
  std::size_t num_columns = 0;  // 0 when the text holds no edge
  std::size_t source = 0, target = 1, weight = kNoColumn;
  std::uint64_t header_line = 0;         // counted from 1; 0 when there is none
  std::string source_name, target_name;  // in a header that was recognised: these should be no nodes
  std::string said;  // what the user should know: "columns sender -> receiver, weight amount"

  bool has_weights() const { return weight != kNoColumn; }
  /// `u v` or `u v weight`, and nothing else.
  bool is_plain() const {
    return source == 0 && target == 1 && num_columns == (has_weights() ? 3 : 2) &&
           (!has_weights() || weight == 2);
  }
};

/// Decides from the first lines that are not skipped. The first is a header when it names both ends of an
/// edge, or its third field names a weight (io/table.cpp has the names); columns without such names are left
/// out where no doubt is left. Nothing else is taken for a header, and what may be one or an edge is an
/// InputError: a line must never be lost, nor a header be read as an edge. `first_line` is the number of the
/// text's first line.
EdgeLineFormat detect_edge_lines(std::string_view text, std::uint64_t first_line, const std::string& name,
                                 const TableOptions& options = {});

/// What all pieces of one edge list share.
struct EdgeListContext {
  std::string name;
  EdgeLineFormat format;
  std::uint64_t integer_base = 0;  // integer ids are kept as (id - base), which must be below kNoNode
  bool is_signed = false;          // weights may be below 0
};

/// Some whole lines of an edge list and what became of them. Pieces are parsed in parallel and joined in
/// order; the first thing that went wrong in the first such piece is what the user is told. How many lines a
/// piece has is known when it is parsed: only the first begins at a line that is known before.
struct EdgePiece {
  static constexpr std::uint64_t kUnknownLine = std::uint64_t{1} << 62;  // no header is there

  std::string_view text;
  std::uint64_t first_line = 0, num_lines = 0;
  EdgeChunk chunk;
  NodeId smallest = kNoNode, largest = 0;  // integer ids, minus the base
  bool met_other_id = false;               // stopped: an id is no integer, or too far from the base
  UnquotedText unquoted;                   // texts of ids that are not so in the file
  std::vector<IdToken> tokens;             // text ids: both ends of every edge
  std::exception_ptr error;                // stopped: a line is wrong

  /// As new, but with the memory of its columns.
  void start(std::string_view lines, std::uint64_t first);
};

/// Fills chunk, smallest and largest, or stops at the first line that needs text ids or is wrong.
void parse_integer_ids(EdgePiece& piece, const EdgeListContext& context);
/// Fills tokens, and of the chunk the weights, or stops at the first line that is wrong.
void parse_text_ids(EdgePiece& piece, const EdgeListContext& context);

}  // namespace copse
