// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "copse/support/error.hpp"
#include "io/intern.hpp"
#include "io/numbers.hpp"
#include "io/table.hpp"
#include "io/text.hpp"
#include "points/points_readers.hpp"

namespace copse {
namespace {

// CSV and TSV: one point per line, all with the same number of fields, cut at tabs, else commas, else
// semicolons, else blanks, as the first line shows. A first line without a number is a header; so is one that
// begins with a name for ids, or with an empty field (pandas). The first column holds ids when asked to, when
// the header calls it one, or when the first point's first field is no number.

struct TableShape {
  char separator = ',';
  bool has_header = false, has_ids = false;
  std::size_t num_fields = 0;
  std::uint64_t first_line = 0;  // the line that the number of fields was taken from
};

// From the first two lines that count.
TableShape detect_shape(std::string_view text, IdColumn ids, const std::string& name) {
  const TableSample sample(text, 1);
  TableShape shape;
  if (sample.lines.empty()) return shape;
  shape.separator = detect_delimiter(sample, name);
  UnquotedText unquoted;
  const auto fields_of = [&](std::size_t line) {
    RowFields fields = split_fields(sample.lines[line], shape.separator, unquoted, name, sample.numbers[line]);
    for (std::string_view& field : fields) field = trimmed(field);
    return fields;
  };
  const RowFields first = fields_of(0), second = sample.lines.size() > 1 ? fields_of(1) : RowFields();
  shape.num_fields = first.size();
  shape.first_line = sample.numbers[0];
  std::size_t num_words = 0;
  for (std::size_t i = 1; i < first.size(); ++i) num_words += !parse_number(first[i]) && !first[i].empty();
  const bool starts_with_word = !parse_number(first[0]);
  const bool all_words = num_words + 1 == first.size() && (starts_with_word || ids == IdColumn::first);
  // One word among the numbers of a line is a mistake to be told, not a header to be lost; a lone first
  // column has to be judged by the line below.
  if (first.size() == 1)
    shape.has_header = starts_with_word && second.size() == 1 && parse_number(second[0]).has_value();
  else
    shape.has_header = all_words || is_name_of(Role::node, first[0]) || first[0].empty();
  switch (ids) {
    case IdColumn::first:
      shape.has_ids = true;
      break;
    case IdColumn::none:
      break;
    case IdColumn::automatic:
      shape.has_ids = shape.has_header ? is_name_of(Role::node, first[0]) || first[0].empty() ||
                                             (second.size() > 1 && !parse_number(second[0]))
                                       : first.size() > 1 && starts_with_word;
  }
  if (shape.has_ids && shape.num_fields < 2)
    throw InputError{at(name, shape.first_line), "there is an id and no value",
                     "a line is the values of a point, after its id if there is one"};
  return shape;
}

struct TablePiece {
  std::uint64_t num_lines = 0;
  std::optional<PieceError> error;
  std::vector<float> values;
  UnquotedText unquoted;
  std::vector<std::string_view> ids;
  std::vector<std::uint64_t> lines;  // of each point, counted from the piece's start; only with ids
};

std::string count_text(std::size_t count) { return with_commas(count) + (count == 1 ? " field" : " fields"); }

class TableParser {
 public:
  TableParser(const TableShape& shape, std::uint64_t header_line)
      : shape_(shape), header_line_(header_line) {}

  void parse(std::string_view text, TablePiece& piece, bool is_first) const {
    LineCursor cursor(text);
    for (std::string_view line; cursor.next(line);) {
      ++piece.num_lines;
      line = without_cr(line);
      if (is_skipped(line) || (is_first && piece.num_lines == header_line_)) continue;
      piece.error = parse_line(line, piece);
      if (piece.error) return;
    }
  }

 private:
  std::optional<PieceError> parse_line(std::string_view line, TablePiece& piece) const {
    std::size_t count = 0;
    FieldCursor cursor(line, shape_.separator, piece.unquoted);
    for (std::string_view token; cursor.next(token); ++count) {
      token = trimmed(token);
      if (count >= shape_.num_fields) continue;  // counted, to be told
      if (count == 0 && shape_.has_ids) {
        if (token.empty())
          return PieceError{piece.num_lines, "the point has an empty id",
                            "give every point an id of its own"};
        piece.ids.push_back(token);
        piece.lines.push_back(piece.num_lines);
      } else if (auto problem = parse_value(token, count, piece)) {
        return problem;
      }
    }
    if (cursor.has_bad_quotes()) {
      const InputError error = bad_quotes("", piece.num_lines);
      return PieceError{piece.num_lines, error.problem(), error.remedy()};
    }
    if (count == shape_.num_fields) return std::nullopt;
    return PieceError{piece.num_lines,
                      "the line has " + count_text(count) + ", line " + with_commas(shape_.first_line) +
                          " has " + with_commas(shape_.num_fields),
                      "every point has the same number of values"};
  }

  std::optional<PieceError> parse_value(std::string_view token, std::size_t field, TablePiece& piece) const {
    const std::optional<float> value = parse_number(token);
    if (value && std::isfinite(*value)) {
      piece.values.push_back(*value);
      return std::nullopt;
    }
    const std::string place = "field " + with_commas(field + 1) + " ";
    if (token.empty())
      return PieceError{piece.num_lines, place + "is empty",
                        "copse fills in nothing: put a number there or drop the point"};
    if (value)
      return PieceError{piece.num_lines, place + "is " + quoted(token) + ", not a finite 32-bit number",
                        "copse fills in nothing: put a number there or drop the point"};
    return PieceError{piece.num_lines, place + "is " + quoted(token) + ", not a number",
                      field == 0 ? "if the first column holds ids, say so (--ids first)"
                                 : "values are numbers; leave columns of text out"};
  }

  TableShape shape_;
  std::uint64_t header_line_;
};

// svmlight and libsvm: `[target] [qid:N] column:value ... [# comment]`, one point per line. The target, if
// there is one, is left out: labels come by --labels. Columns count from 0 or 1, which no distance can tell
// apart.

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

NamedPoints read_table_points(ByteSource& source, IdColumn ids, const Execution& execution) {
  const std::span<const char> bytes = source.next_lines(kRoundBytes);
  const std::string_view text = checked_start({bytes.data(), bytes.size()}, source.name(),
                                              "points are .npy, a table of text (CSV, TSV) or svmlight");
  const TableShape shape = detect_shape(text, ids, source.name());
  if (shape.num_fields == 0)
    throw InputError{source.name(), "there is no point in this file", "a line is the values of a point"};

  const TableParser parser(shape, shape.has_header ? shape.first_line : 0);
  const char* const start = text.data();
  bool is_first_round = true;
  std::vector<std::vector<float>> parts;
  std::uint64_t num_values = 0;
  Interner names;
  std::vector<std::uint64_t> lines;  // of the points, for the message about an id given twice
  parse_pieces<TablePiece>(
      source, text, 0, execution,
      [&](std::string_view piece_text, TablePiece& piece) {
        parser.parse(piece_text, piece, is_first_round && piece_text.data() == start);
      },
      [&](TablePiece& piece, std::uint64_t first_line) {
        is_first_round = false;
        for (std::size_t i = 0; i < piece.ids.size(); ++i) {
          const std::uint64_t line = first_line - 1 + piece.lines[i];
          const NodeId node = names.intern(piece.ids[i]);
          if (node < lines.size())
            throw InputError{
                at(source.name(), line),
                "id " + quoted(piece.ids[i]) + " is also that of line " + with_commas(lines[node]),
                "give every point an id of its own"};
          lines.push_back(line);
        }
        num_values += piece.values.size();
        parts.push_back(std::move(piece.values));
      });

  const std::uint64_t num_columns = shape.num_fields - (shape.has_ids ? 1 : 0);
  Buffer<float> values(num_values);
  float* out = values.data();
  for (std::vector<float>& part : parts) {
    out = std::copy(part.begin(), part.end(), out);
    std::vector<float>().swap(part);
  }
  const std::uint64_t num_points = num_values / num_columns;
  return {Points(num_points, num_columns, std::move(values)),
          shape.has_ids ? names.take_names() : NodeNames::numbered(num_points, 0)};
}

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
