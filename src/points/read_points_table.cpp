// SPDX-License-Identifier: Apache-2.0
//
// CSV and TSV: a point a line, all with the same number of fields, cut at tabs, else commas, else semicolons,
// else blanks, as the first line shows. A first line without a number is a header; so is one that begins with
// a name for ids, or with an empty field (pandas). The first column holds ids when asked to, when the header
// calls it one, or when the first point's first field is no number.

#include <algorithm>
#include <cmath>
#include <vector>

#include "copse/support/error.hpp"
#include "io/intern.hpp"
#include "io/numbers.hpp"
#include "io/text.hpp"
#include "points/points_readers.hpp"

namespace copse {
namespace {

struct TableShape {
  char separator = ',';
  bool has_header = false, has_ids = false;
  std::size_t num_fields = 0;
  std::uint64_t first_line = 0;  // the line that the number of fields was taken from
};

std::string_view trimmed_field(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Takes the next field off a line that has one; `more` tells whether another follows. Quotes around a field
// are taken off; a separator between them belongs to the field.
std::string_view next_field(std::string_view& line, char separator, bool& more) {
  if (separator == ' ') {
    const std::string_view word = next_word(line);
    line = trimmed_field(line);
    more = !line.empty();
    return word;
  }
  std::size_t from = 0;
  const std::string_view start = trimmed_field(line.substr(0, line.find(separator)));
  if (!start.empty() && start.front() == '"') {
    const std::size_t open = line.find('"'), close = line.find('"', open + 1);
    if (close != std::string_view::npos) from = close;
  }
  const std::size_t end = line.find(separator, from);
  std::string_view text = trimmed_field(line.substr(0, end));
  more = end != std::string_view::npos;
  line.remove_prefix(more ? end + 1 : line.size());
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return text;
}

std::vector<std::string_view> all_fields(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  for (bool more = true; more;) fields.push_back(next_field(line, separator, more));
  return fields;
}

bool is_id_name(std::string_view text) {
  const std::string lower = lower_case(text);
  for (const std::string_view word : {"id", "node", "node_id", "name", "point", "key"})
    if (lower == word) return true;
  return false;
}

bool is_passed_over(std::string_view line) {
  line = trimmed_field(line);
  return line.empty() || line.front() == '#';
}

char separator_of(std::string_view line) {
  for (const char separator : {'\t', ',', ';'})
    if (line.find(separator) != std::string_view::npos) return separator;
  return ' ';
}

// From the first two lines that count.
TableShape detect_shape(std::string_view text, IdColumn ids, const std::string& name) {
  std::vector<std::string_view> lines;
  std::vector<std::uint64_t> numbers;
  std::uint64_t number = 0;
  LineCursor cursor(text);
  for (std::string_view line; lines.size() < 2 && cursor.next(line);) {
    ++number;
    if (is_passed_over(line)) continue;
    lines.push_back(without_cr(line));
    numbers.push_back(number);
  }
  TableShape shape;
  if (lines.empty()) return shape;
  shape.separator = separator_of(lines[0]);
  const std::vector<std::string_view> first = all_fields(lines[0], shape.separator);
  shape.num_fields = first.size();
  shape.first_line = numbers[0];
  std::size_t num_words = 0;
  for (std::size_t i = 1; i < first.size(); ++i) num_words += !parse_number(first[i]) && !first[i].empty();
  const bool starts_with_word = !parse_number(first[0]);
  const bool all_words = num_words + 1 == first.size() && (starts_with_word || ids == IdColumn::first);
  // One word among the numbers of a line is a mistake to be told, not a header to be lost; a lone first
  // column has to be judged by the line below.
  if (first.size() == 1)
    shape.has_header =
        starts_with_word && lines.size() > 1 && parse_number(trimmed_field(lines[1])).has_value();
  else
    shape.has_header = all_words || is_id_name(first[0]) || first[0].empty();
  const std::vector<std::string_view> second =
      lines.size() > 1 ? all_fields(lines[1], shape.separator) : std::vector<std::string_view>{};
  switch (ids) {
    case IdColumn::first:
      shape.has_ids = true;
      break;
    case IdColumn::none:
      break;
    case IdColumn::automatic:
      shape.has_ids = shape.has_header
                          ? is_id_name(first[0]) || first[0].empty() ||
                                (!second.empty() && second.size() > 1 && !parse_number(second[0]))
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
      if (is_passed_over(line) || (is_first && piece.num_lines == header_line_)) continue;
      piece.error = parse_line(without_cr(line), piece);
      if (piece.error) return;
    }
  }

 private:
  std::optional<PieceError> parse_line(std::string_view line, TablePiece& piece) const {
    std::size_t count = 0;
    std::string_view left = line;
    for (bool more = true; more; ++count) {
      const std::string_view token = next_field(left, shape_.separator, more);
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

}  // namespace copse
