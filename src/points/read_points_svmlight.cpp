// SPDX-License-Identifier: Apache-2.0
//
// svmlight and libsvm: `[target] [qid:N] column:value ... [# comment]`, a point a line. The target, if there
// is one, is left out: labels come by --labels. Columns count from 0 or 1, which no distance can tell apart.

#include <algorithm>
#include <cmath>
#include <vector>

#include "copse/support/error.hpp"
#include "io/numbers.hpp"
#include "io/text.hpp"
#include "points/points_readers.hpp"

namespace copse {
namespace {

struct SvmPiece {
  std::uint64_t num_lines = 0;
  std::optional<PieceError> error;
  std::vector<EdgeIndex> ends;  // of each point, counted from the piece's start
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
  std::uint64_t num_columns = 0;
  std::uint64_t blank_line = 0;  // the first of the empty lines at its end, 0 if there is none
};

constexpr char kRemedy[] = "a line is \"target column:value column:value ...\", the target may be left out";

// Skipping an empty line would give all points below it the number of another one.
constexpr char kBlankLine[] = "the line is empty, and points follow";
constexpr char kBlankRemedy[] = "a point without values is written as its target alone, or as 0:0";

std::optional<PieceError> parse_entry(std::string_view word, SvmPiece& piece) {
  const std::size_t colon = word.find(':');
  const auto column = parse_count(word.substr(0, colon));
  const auto value = parse_number(word.substr(colon + 1));
  const auto fail = [&](const std::string& what) {
    return PieceError{piece.num_lines, quoted(word) + " " + what, kRemedy};
  };
  if (!column) return fail("does not begin with the number of a column");
  if (*column >= 0xFFFFFFFFU) return fail("has a column beyond 32 bits");
  if (!value) return fail("does not end in a number");
  if (!std::isfinite(*value)) return fail("is not a finite 32-bit number");
  piece.num_columns = std::max(piece.num_columns, *column + 1);
  if (*value == 0) return std::nullopt;
  piece.columns.push_back(static_cast<std::uint32_t>(*column));
  piece.values.push_back(*value);
  return std::nullopt;
}

// Rows are nearly always sorted already.
std::optional<PieceError> sort_row(SvmPiece& piece, std::size_t begin) {
  const auto columns = std::span(piece.columns).subspan(begin);
  if (!std::is_sorted(columns.begin(), columns.end())) {
    std::vector<std::pair<std::uint32_t, float>> row;
    for (std::size_t i = 0; i < columns.size(); ++i) row.emplace_back(columns[i], piece.values[begin + i]);
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < row.size(); ++i) {
      columns[i] = row[i].first;
      piece.values[begin + i] = row[i].second;
    }
  }
  const auto twice = std::adjacent_find(columns.begin(), columns.end());
  if (twice == columns.end()) return std::nullopt;
  return PieceError{piece.num_lines, "column " + std::to_string(*twice) + " is given twice",
                    "give each column of a point once"};
}

std::optional<PieceError> parse_line(std::string_view line, SvmPiece& piece) {
  const std::size_t begin = piece.columns.size();
  bool is_first = true;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    const bool may_be_target = std::exchange(is_first, false);
    if (word.find(':') == std::string_view::npos) {
      if (may_be_target) continue;
      return PieceError{piece.num_lines, quoted(word) + " is not column:value", kRemedy};
    }
    if (word.starts_with("qid:")) continue;
    if (auto error = parse_entry(word, piece)) return error;
  }
  if (auto error = sort_row(piece, begin)) return error;
  piece.ends.push_back(piece.columns.size());
  return std::nullopt;
}

void parse_piece(std::string_view text, SvmPiece& piece) {
  LineCursor cursor(text);
  for (std::string_view line; cursor.next(line);) {
    ++piece.num_lines;
    const std::size_t comment = line.find('#');
    std::string_view content = line.substr(0, comment);
    if (std::string_view rest = content; next_word(rest).empty()) {
      if (comment == std::string_view::npos && piece.blank_line == 0) piece.blank_line = piece.num_lines;
      continue;
    }
    if (piece.blank_line != 0) {
      piece.error = PieceError{piece.blank_line, kBlankLine, kBlankRemedy};
      return;
    }
    piece.error = parse_line(content, piece);
    if (piece.error) return;
  }
}

struct SparseArrays {
  Buffer<EdgeIndex> offsets;
  Buffer<std::uint32_t> columns;
  Buffer<float> values;
};

Points joined(const std::vector<SvmPiece>& pieces, std::uint64_t num_columns) {
  std::uint64_t num_points = 0, num_values = 0;
  for (const SvmPiece& piece : pieces) {
    num_points += piece.ends.size();
    num_values += piece.values.size();
  }
  auto arrays = std::make_shared<SparseArrays>();
  arrays->offsets = Buffer<EdgeIndex>(num_points + 1);
  arrays->columns = Buffer<std::uint32_t>(num_values);
  arrays->values = Buffer<float>(num_values);
  std::uint64_t point = 0, value = 0;
  for (const SvmPiece& piece : pieces) {
    for (const EdgeIndex end : piece.ends) arrays->offsets[++point] = value + end;
    std::copy(piece.columns.begin(), piece.columns.end(), arrays->columns.begin() + value);
    std::copy(piece.values.begin(), piece.values.end(), arrays->values.begin() + value);
    value += piece.values.size();
  }
  PointsView view;
  view.num_points = num_points;
  view.num_columns = num_columns;
  view.values = arrays->values.span();
  view.offsets = arrays->offsets.span();
  view.columns = arrays->columns.span();
  return {view, arrays};
}

}  // namespace

NamedPoints read_svmlight_points(ByteSource& source, const Execution& execution) {
  const std::span<const char> bytes = source.next_lines(kRoundBytes);
  std::vector<SvmPiece> pieces;
  std::uint64_t num_columns = 0, blank_line = 0;
  parse_pieces<SvmPiece>(
      source, {bytes.data(), bytes.size()}, 0, execution,
      [](std::string_view text, SvmPiece& piece) { parse_piece(text, piece); },
      [&](SvmPiece& piece, std::uint64_t first_line) {
        if (blank_line != 0 && !piece.ends.empty())
          throw InputError{at(source.name(), blank_line), kBlankLine, kBlankRemedy};
        if (blank_line == 0 && piece.blank_line != 0) blank_line = first_line - 1 + piece.blank_line;
        num_columns = std::max(num_columns, piece.num_columns);
        pieces.push_back(std::move(piece));
      });
  Points points = joined(pieces, num_columns);
  const std::uint64_t num_points = points.view().num_points;
  if (num_points == 0) throw InputError{source.name(), "there is no point in this file", kRemedy};
  return {std::move(points), NodeNames::numbered(num_points, 0)};
}

}  // namespace copse
