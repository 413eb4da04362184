// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <optional>

#include "copse/support/error.hpp"
#include "graph/integer_ids.hpp"
#include "io/edge_lines.hpp"
#include "io/numbers.hpp"

// Which columns of an edge list are the ends of an edge and its weight, and whether the first line is a
// header.

namespace copse {
namespace {

bool is_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}

// 2020-01-31, 31.01.2020, 1/31/20 12:00 and the like: digits cut by the same sign twice, or hours and
// minutes.
bool is_date(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !is_digit(text.front())) return false;
  const auto cuts = [&](char c) { return std::count(text.begin(), text.end(), c); };
  return cuts('-') == 2 || cuts('/') == 2 || cuts('.') == 2 || (cuts(':') >= 1 && cuts(':') <= 2);
}

// Seconds or milliseconds since 1970, of the years 2001 to 2033.
bool is_unix_time(std::string_view text) {
  const std::optional<std::uint64_t> number = canonical_integer(text);
  return number && (*number / 100'000'000 - 10 < 10 || *number / 100'000'000'000 - 10 < 10);
}

std::string listed(const RowFields& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + quoted(name);
  return text;
}

// As the flag wants it: a column without a name is counted.
std::string flag_name(const RowFields& first, std::size_t column) {
  return first[column].empty() ? std::to_string(column + 1) : std::string(first[column]);
}

class EdgeColumnFinder {
 public:
  EdgeColumnFinder(const TableSample& sample, const std::string& name, const TableOptions& options)
      : name_(name), options_(options), line_(sample.numbers[0]) {
    format_.delimiter = options.delimiter != '\0' ? options.delimiter : detect_delimiter(sample, name);
    first_ = split_fields(sample.lines[0], format_.delimiter, unquoted_, name, line_);
    for (std::size_t i = 1; i < sample.lines.size(); ++i) {
      RowFields fields;
      FieldCursor cursor(sample.lines[i], format_.delimiter, unquoted_);
      for (std::string_view field; cursor.next(field);) fields.push_back(field);
      below_.push_back(std::move(fields));
    }
  }

  EdgeLineFormat find() {
    bool has_header = false;
    if (is_told("source") || is_told("target") || is_told("weight"))
      has_header = take_told();
    else if (options_.no_header)
      take_first(first_.size());
    else
      has_header = recognise();
    if (has_header) check_row_names();
    if (has_header && below_.empty()) return {};
    format_.num_columns = has_header ? below_.front().size() : first_.size();
    if (has_header) {
      format_.header_line = line_;
      format_.num_columns = first_.size();
      describe();
    }
    return format_;
  }

 private:
  bool is_told(const char* role) const { return options_.column(role).has_value(); }
  std::string where() const { return at(name_, line_); }

  // What to type for these columns.
  std::string flag(std::size_t source, std::size_t target, std::size_t weight = kNoColumn) const {
    return "--columns source=" + flag_name(first_, source) + ",target=" + flag_name(first_, target) +
           (weight == kNoColumn ? "" : ",weight=" + flag_name(first_, weight));
  }

  // Told columns are taken as they are; what is not told has to be named as such in the header.
  bool take_told() {
    bool has_header = false;
    const auto told = [&](const char* role, std::size_t& column) {
      if (const auto text = options_.column(role))
        column = told_column(*text, first_, !options_.no_header, role, where(), has_header);
    };
    std::size_t source = kNoColumn, target = kNoColumn, weight = kNoColumn;
    told("source", source);
    told("target", target);
    told("weight", weight);
    // Counted columns say nothing about a header; their names, and those of the others, may.
    const auto is_named = [&](Role role, std::size_t column) {
      return column == kNoColumn ? columns_named(role, first_).size() == 1 : is_name_of(role, first_[column]);
    };
    if (!options_.no_header && !has_header)
      has_header = (is_named(Role::source, source) && is_named(Role::target, target)) ||
                   (weight != kNoColumn && is_named(Role::weight, weight));
    if (has_header) {
      const auto find = [&](Role role, const char* name, std::size_t& column) {
        if (is_told(name)) return;
        const std::vector<std::size_t> found = columns_named(role, first_);
        if (found.size() == 1) column = found[0];
      };
      find(Role::source, "source", source);
      find(Role::target, "target", target);
      find(Role::weight, "weight", weight);
    }
    if (source == kNoColumn || target == kNoColumn)
      throw InputError{
          where(), std::string("which column is the ") + (source == kNoColumn ? "source" : "target") + "?",
          "name it as well: --columns source=NAME,target=NAME,weight=NAME; the first line has " +
              listed(first_)};
    if (source == target || source == weight || target == weight)
      throw InputError{where(), "one column is told to be two things", "name another one in --columns"};
    take(source, target, weight);
    return has_header;
  }

  void take(std::size_t source, std::size_t target, std::size_t weight) {
    format_.source = source;
    format_.target = target;
    format_.weight = weight;
  }

  void take_first(std::size_t count) {
    if (count < 2 || count > 3) throw wrong_count(count);
    take(0, 1, count == 3 ? 2 : kNoColumn);
  }

  InputError wrong_count(std::size_t count) const {
    const std::string found = "found " + std::to_string(count) + (count == 1 ? " column" : " columns");
    if (count < 2)
      return {where(), found + ", separated by " + delimiter_name(format_.delimiter),
              std::string(kEdgeShape) + "; --delimiter names another one"};
    return {where(), found,
            "an edge is two ids and a weight: say which columns these are, as in " + flag(0, 1, 2)};
  }

  bool recognise() {
    const std::vector<std::size_t> sources = columns_named(Role::source, first_),
                                   targets = columns_named(Role::target, first_),
                                   weights = columns_named(Role::weight, first_);
    if (!sources.empty() && !targets.empty()) {
      take_named(sources, targets, weights);
      return true;
    }
    if (first_[0].empty() && first_.size() >= 3 && std::none_of(first_.begin(), first_.end(), is_number))
      throw index_column(1, 2);
    if (first_.size() == 3 && weights == std::vector<std::size_t>{2}) {
      take(0, 1, 2);
      remember_ends();
      return true;
    }
    take_first(first_.size());
    if (format_.has_weights()) check_first_weight();
    check_first_ends(sources, targets);
    return false;
  }

  void take_named(const std::vector<std::size_t>& sources, const std::vector<std::size_t>& targets,
                  const std::vector<std::size_t>& weights) {
    for (const auto* named : {&sources, &targets, &weights})
      if (named->size() > 1)
        throw InputError{where(),
                         quoted(first_[(*named)[0]]) + " and " + quoted(first_[(*named)[1]]) +
                             " may both be the " +
                             (named == &sources   ? "source"
                              : named == &targets ? "target"
                                                  : "weight"),
                         "say which columns to take: " +
                             flag(sources[0], targets[0], weights.empty() ? kNoColumn : weights[0])};
    const std::size_t source = sources[0], target = targets[0],
                      weight = weights.empty() ? kNoColumn : weights[0];
    take(source, target, weight);
    remember_ends();
    check_id_spaces();
    for (std::size_t i = 0; i < first_.size(); ++i) {
      if (first_[i].empty()) throw index_column(source, target);
      if (i == source || i == target || weight != kNoColumn || lower_case(first_[i]) == ":type") continue;
      throw InputError{
          where(), "column " + quoted(first_[i]) + " may be the weight or not: its name does not say",
          "to leave it out, " + flag(source, target) + "; if it is a similarity, " + flag(source, target, i)};
    }
  }

  // Neo4j numbers the ids of each space for themselves: 1 of Person is not 1 of Movie.
  void check_id_spaces() const {
    const auto space = [&](std::size_t column) {
      const std::string_view name = first_[column];
      return name.starts_with(':') && name.find('(') != std::string_view::npos ? name.substr(name.find('('))
                                                                               : std::string_view();
    };
    if (space(format_.source) != space(format_.target))
      throw InputError{where(),
                       "the ends are of two id spaces, " + quoted(first_[format_.source]) + " and " +
                           quoted(first_[format_.target]) + ": one id may be two nodes",
                       "if no id is in both spaces, " + flag(format_.source, format_.target) +
                           "; else put the space before the ids"};
  }

  InputError index_column(std::size_t source, std::size_t target) const {
    return {where(), "a column has no name: an index, as pandas writes it?",
            "write the table with to_csv(..., index=False), or name the columns to take: " +
                flag(source, target)};
  }

  // A line that is no edge must not be dropped as a header.
  void check_first_weight() const {
    const std::string_view weight = first_[2];
    if (is_date(weight) && !is_number(weight))
      throw InputError{where(), "the third field " + quoted(weight) + " is a date or a time, not a weight",
                       "weights are similarities (> 0); --columns source=1,target=2 leaves the column out"};
    if (!weight.empty() && !is_number(weight))
      throw InputError{
          where(), "the third field " + quoted(weight) + " is neither a weight nor a name for one",
          weight.front() >= '0' && weight.front() <= '9'
              ? "a weight is a number above 0 with a decimal point, as in 0.5; --columns "
                "source=1,target=2 leaves the column out"
              : "for a header " + flag(0, 1, 2) + "; --columns source=1,target=2 leaves the column out"};
    if (is_unix_time(weight) && !below_.empty() &&
        std::all_of(below_.begin(), below_.end(),
                    [](const RowFields& row) { return row.size() == 3 && is_unix_time(row[2]); }))
      throw InputError{where(),
                       "the third column looks like times (" + quoted(weight) + "), not like weights",
                       "to leave it out, --columns source=1,target=2; if these are weights, --columns "
                       "source=1,target=2,weight=3"};
  }

  // Words above numbers, or a name for one end only, may be a header that we do not know.
  void check_first_ends(const std::vector<std::size_t>& sources,
                        const std::vector<std::size_t>& targets) const {
    const auto is_integer = [](std::string_view id) { return canonical_integer(id).has_value(); };
    const auto is_telling = [&](const std::vector<std::size_t>& named, std::size_t column) {
      return !named.empty() && named[0] == column && first_[column].size() > 2;
    };
    const bool words_above_numbers =
        !below_.empty() && !is_integer(first_[0]) && !is_integer(first_[1]) &&
        std::all_of(below_.begin(), below_.end(), [&](const RowFields& row) {
          return row.size() == first_.size() && is_integer(row[0]) && is_integer(row[1]);
        });
    if (format_.has_weights() && is_number(first_[2])) return;
    if (!words_above_numbers && !is_telling(sources, 0) && !is_telling(targets, 1)) return;
    throw InputError{where(),
                     quoted(first_[0]) + ", " + quoted(first_[1]) + " may be names of columns or an edge",
                     "for a header " + flag(0, 1) + ", for an edge --no-header"};
  }

  // R writes the names of rows without a name for their column.
  void check_row_names() const {
    if (below_.empty() || below_.front().size() != first_.size() + 1) return;
    throw InputError{where(),
                     "the header has " + std::to_string(first_.size()) + " names, the line below " +
                         std::to_string(first_.size() + 1) + " fields: names of rows, as R writes them?",
                     "write the table with row.names = FALSE"};
  }

  void remember_ends() {
    format_.source_name = first_[format_.source];
    format_.target_name = first_[format_.target];
  }

  void describe() {
    std::vector<std::size_t> used{format_.source, format_.target};
    format_.said =
        "columns " + flag_name(first_, format_.source) + " -> " + flag_name(first_, format_.target);
    if (format_.has_weights()) {
      format_.said += ", weight " + flag_name(first_, format_.weight);
      used.push_back(format_.weight);
    }
    format_.said += unused_columns(first_, used);
  }

  const std::string& name_;
  const TableOptions& options_;
  std::uint64_t line_;
  UnquotedText unquoted_;
  RowFields first_;
  std::vector<RowFields> below_;
  EdgeLineFormat format_;
};

}  // namespace

EdgeLineFormat detect_edge_lines(std::string_view text, std::uint64_t first_line, const std::string& name,
                                 const TableOptions& options) {
  const TableSample sample(text, first_line);
  if (sample.lines.empty()) return {};
  return EdgeColumnFinder(sample, name, options).find();
}

}  // namespace copse
