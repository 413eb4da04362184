// SPDX-License-Identifier: Apache-2.0
//
// Matrix Market coordinate files (Boisvert, Pozo & Remington 1996): a banner, % comments, a line
// "rows columns entries", then one entry per line, indices from 1. The adjacency matrix of an undirected
// graph is square; a symmetric file lists one triangle, a general one is read as any list of edges, where
// the rule for pairs listed twice decides. Every row is a node, with or without entries.

#include <algorithm>
#include <array>

#include "io/formats.hpp"
#include "io/numbers.hpp"
#include "io/text.hpp"

namespace copse {
namespace {

struct MarketHeader {
  bool is_weighted = false;
  std::uint64_t num_nodes = 0, num_entries = 0;
};

MarketHeader parse_banner(std::string_view line, const std::string& where) {
  constexpr char kExample[] =
      "the first line must be like \"%%MatrixMarket matrix coordinate real symmetric\"";
  std::array<std::string, 5> words;
  for (std::string& word : words) word = lower_case(next_word(line));
  const auto& [banner, object, layout, field, symmetry] = words;
  if (banner != "%%matrixmarket") throw InputError{where, "is not a Matrix Market file", kExample};
  if (object != "matrix") throw InputError{where, "holds a " + quoted(object) + ", not a matrix", kExample};
  if (layout == "array") {
    throw InputError{where, "the matrix is dense (\"array\")",
                     "write it as \"coordinate\": one line per entry that is not zero"};
  }
  if (layout != "coordinate") throw InputError{where, "layout " + quoted(layout) + " is not known", kExample};
  if (field == "complex") {
    throw InputError{where, "the entries are complex",
                     "weights are similarities (> 0): write their size as \"real\""};
  }
  if (field != "real" && field != "integer" && field != "pattern" && field != "double") {
    throw InputError{where, "field " + quoted(field) + " is not known", "use real, integer or pattern"};
  }
  if (symmetry == "skew-symmetric" || symmetry == "hermitian") {
    throw InputError{where, "the matrix is " + symmetry,
                     "an undirected graph has a symmetric matrix of weights > 0: use symmetric or general"};
  }
  if (symmetry != "symmetric" && symmetry != "general") {
    throw InputError{where, "symmetry " + quoted(symmetry) + " is not known", "use symmetric or general"};
  }
  MarketHeader header;
  header.is_weighted = field != "pattern";
  return header;
}

void parse_size(std::string_view line, const std::string& where, MarketHeader& header) {
  std::string_view words = line;
  const auto rows = parse_count(next_word(words)), columns = parse_count(next_word(words)),
             entries = parse_count(next_word(words));
  if (!rows || !columns || !entries || !next_word(words).empty()) {
    throw InputError{where, quoted(line) + " is not a size line",
                     "after the comments comes \"rows columns entries\""};
  }
  if (*rows != *columns) {
    throw InputError{where,
                     "the matrix is " + with_commas(*rows) + " by " + with_commas(*columns) + ", not square",
                     "a graph has as many rows as columns; for rows and columns of two kinds write an edge "
                     "list with two kinds of ids"};
  }
  check_num_nodes(*rows, where);
  if (claims_too_many_nodes(*rows, *entries)) {
    throw InputError{
        where,
        with_commas(*rows) + " rows are more than the entries (" + with_commas(*entries) + ") can need",
        "check the size line, or leave out nodes that have no edge"};
  }
  header.num_nodes = *rows;
  header.num_entries = *entries;
}

struct MarketPiece {
  EdgeChunk edges;
  std::uint64_t num_lines = 0;
  std::vector<std::uint64_t> blank_lines;  // so that the line of an entry too many can be told
  std::optional<PieceError> error;
};

void parse_entries(std::string_view text, const MarketHeader& header, const std::string& name, bool is_signed,
                   MarketPiece& piece) {
  LineCursor lines(text);
  std::string_view line;
  const auto wrong = [&](const std::string& problem, const std::string& remedy) {
    piece.error = PieceError{piece.num_lines, problem, remedy};
  };
  const auto index = [&](std::string_view word) -> std::optional<NodeId> {
    const auto value = parse_count(word);
    if (value && *value >= 1 && *value <= header.num_nodes) return static_cast<NodeId>(*value - 1);
    wrong("index " + quoted(word) + " is not between 1 and " + std::to_string(header.num_nodes),
          "indices count from 1; check the size line too");
    return std::nullopt;
  };
  while (lines.next(line)) {
    ++piece.num_lines;
    std::string_view words = line;
    const std::string_view row = next_word(words);
    if (row.empty() || row[0] == '%') {
      piece.blank_lines.push_back(piece.num_lines);
      continue;
    }
    const std::string_view column = next_word(words),
                           value = header.is_weighted ? next_word(words) : std::string_view{};
    if (column.empty() || (header.is_weighted && value.empty()) || !next_word(words).empty()) {
      return wrong(quoted(line) + " is not an entry",
                   header.is_weighted ? "expected \"row column value\""
                                      : "expected \"row column\": the banner says pattern");
    }
    const auto u = index(row);
    if (!u) return;
    const auto v = index(column);
    if (!v) return;
    if (header.is_weighted) {
      try {
        piece.edges.weight.push_back(parse_weight(value, name, piece.num_lines, is_signed));
      } catch (const InputError& error) {
        return wrong(error.problem(), error.remedy());
      }
    }
    piece.edges.u.push_back(*u);
    piece.edges.v.push_back(*v);
  }
}

// The line, within the piece, of its entry number `entry` (from 0).
std::uint64_t line_of_entry(const MarketPiece& piece, std::uint64_t entry) {
  std::uint64_t line = entry + 1;
  for (const std::uint64_t blank : piece.blank_lines) line += blank <= line ? 1 : 0;
  return line;
}

}  // namespace

ParsedEdges read_matrix_market(ByteSource& source, const ReadOptions& options, const Execution& execution) {
  TextLines head(source);
  std::string_view line;
  if (!head.next(line))
    throw InputError{source.name(), "is empty", "give a Matrix Market file, or another --format"};
  MarketHeader header = parse_banner(line, at(source.name(), 1));
  for (bool has_size = false; !has_size;) {
    if (!head.next(line)) {
      throw InputError{source.name(), "ends before the size line",
                       "after the comments comes \"rows columns entries\""};
    }
    std::string_view words = line;
    const std::string_view word = next_word(words);
    if (word.empty() || word[0] == '%') continue;
    parse_size(line, at(source.name(), head.line_number()), header);
    has_size = true;
  }

  std::vector<EdgeChunk> chunks;
  std::uint64_t num_entries = 0;
  const auto parse = [&](std::string_view text, MarketPiece& piece) {
    parse_entries(text, header, source.name(), options.is_signed, piece);
  };
  const auto take = [&](MarketPiece& piece, std::uint64_t first_line) {
    const std::uint64_t before = num_entries;
    num_entries += piece.edges.u.size();
    if (num_entries > header.num_entries) {
      const std::uint64_t extra = line_of_entry(piece, header.num_entries - before);
      throw InputError{at(source.name(), first_line - 1 + extra),
                       "one entry more than the " + with_commas(header.num_entries) + " of the size line",
                       "correct the number of entries, or remove what does not belong here"};
    }
    if (!piece.edges.u.empty()) chunks.push_back(std::move(piece.edges));
  };
  const std::string_view rest = head.rest();
  const std::uint64_t before = head.num_bytes();
  const std::uint64_t num_bytes =
      before + parse_pieces<MarketPiece>(source, rest, head.line_number(), execution, parse, take);
  if (num_entries < header.num_entries) {
    throw InputError{
        source.name(),
        "has " + with_commas(num_entries) + " entries, the size line says " + with_commas(header.num_entries),
        "the file is cut short or its size line wrong: copy or write it again"};
  }
  // There are no names but the indices, and those count from 1.
  ParsedEdges parsed = numbered(std::move(chunks), header.num_nodes, 1, num_bytes, execution);
  parsed.has_no_weights = !header.is_weighted;
  return parsed;
}

}  // namespace copse
