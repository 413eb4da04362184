// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "copse/io/table.hpp"
#include "io/text.hpp"

// Tables of text: edges, labels, lists of nodes, pairs and points are all read by this file. It knows
// delimiters, quotes (RFC 4180, but no line ends inside them: a file is cut at line ends to be parsed in
// parallel) and which names of columns mean what. What could be read in two ways is an error with a remedy.

namespace copse {

/// RowFields whose text is not in the file as it is: with a doubled quote. Views of them stay valid.
using UnquotedText = std::deque<std::string>;

/// Takes the fields of a line one by one: cut at the delimiter, or (' ') at runs of blanks; quotes around a
/// field are taken off. Blanks around a field do not count, except between tabs.
class FieldCursor {
 public:
  FieldCursor(std::string_view line, char delimiter, UnquotedText& unquoted)
      : rest_(line), delimiter_(delimiter), unquoted_(&unquoted) {
    if (delimiter == ' ') is_done_ = skip_blanks();
  }
  bool next(std::string_view& field);
  /// A quote was not closed, or more than a delimiter came behind it.
  bool has_bad_quotes() const { return has_bad_quotes_; }
  std::string_view rest() const { return rest_; }

 private:
  bool skip_blanks();  // true at the end of the line
  bool is_delimiter(char c) const { return delimiter_ == ' ' ? is_blank(c) : c == delimiter_; }
  std::string_view quoted_field();
  std::string_view plain_field();
  void finish_field();

  std::string_view rest_;
  char delimiter_;
  UnquotedText* unquoted_;
  bool is_done_ = false, has_bad_quotes_ = false;
};

using RowFields = std::vector<std::string_view>;
/// All fields of a line; an InputError at `name`:`line_number` for bad quotes.
RowFields split_fields(std::string_view line, char delimiter, UnquotedText& unquoted, const std::string& name,
                       std::uint64_t line_number);
InputError bad_quotes(const std::string& name, std::uint64_t line_number);

/// "tabs", "commas", ...
const char* delimiter_name(char delimiter);

/// Some first lines of a table that are not blank and no comments.
struct TableSample {
  std::vector<std::string_view> lines;
  std::vector<std::uint64_t> numbers;

  /// `first_line` is the number of the text's first line.
  TableSample(std::string_view text, std::uint64_t first_line);
  void remove_first() {
    lines.erase(lines.begin());
    numbers.erase(numbers.begin());
  }
};

/// Tab if the first line has one, else comma or semicolon, else blanks; quoted text aside. 0 if commas and
/// semicolons make equally good sense.
char detect_delimiter(const TableSample& sample);
/// The same with an error in place of 0.
char detect_delimiter(const TableSample& sample, const std::string& name);

inline constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

/// What a column may be.
enum class Role { source, target, weight, node, label };
/// Whether a header calls a column so: in any case, without regard to _, - and blanks.
bool is_name_of(Role role, std::string_view header);
/// The columns that a header calls so.
std::vector<std::size_t> columns_named(Role role, const RowFields& header);
/// The column that a user told: counted from 1, or by its name in the header (which decides that there is
/// one). kNoColumn for "". An InputError at `where` if there is no such column.
std::size_t told_column(const std::string& told, const RowFields& first, bool may_have_header,
                        const std::string& role, const std::string& where, bool& has_header);

/// "; not used: a, b", or nothing.
std::string unused_columns(const RowFields& header, const std::vector<std::size_t>& used);

/// The rows of a table, one at a time.
class TableRows {
 public:
  TableRows(ByteSource& source, const char* remedy) : source_(source), lines_(source, remedy) {}
  /// Before the first row.
  TableSample sample() { return {lines_.rest(), lines_.line_number() + 1}; }
  void set_delimiter(char delimiter) { delimiter_ = delimiter; }
  bool next();
  const RowFields& fields() const { return fields_; }
  std::string_view line() const { return line_; }
  std::uint64_t line_number() const { return lines_.line_number(); }
  std::string where() const { return at(source_.name(), line_number()); }

 private:
  ByteSource& source_;
  TextLines lines_;
  char delimiter_ = '\t';
  UnquotedText unquoted_;
  RowFields fields_;
  std::string_view line_;
};

}  // namespace copse
