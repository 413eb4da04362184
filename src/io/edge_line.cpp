// SPDX-License-Identifier: Apache-2.0
#include "io/edge_line.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "copse/support/error.hpp"

namespace copse {
namespace {

constexpr const char* kShape =
    "an edge is a line \"u v\" or \"u v weight\", separated by tab, comma or spaces";

bool is_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error != std::errc::invalid_argument && end == text.data() + text.size();
}

// Lower case, without quotes, underscores and dashes: "Node_1" is "node1".
std::string plain_word(std::string_view text) {
  std::string word;
  for (const char c : trimmed(text)) {
    if (c == '"' || c == '\'' || c == '_' || c == '-' || c == ' ') continue;
    word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return word;
}

bool names_the_ends(const LineFields& fields) {
  static constexpr std::pair<std::string_view, std::string_view> kEnds[] = {
      {"source", "target"},   {"source", "destination"}, {"source", "dest"},
      {"src", "dst"},         {"src", "dest"},           {"src", "tgt"},
      {"from", "to"},         {"fromnode", "tonode"},    {"u", "v"},
      {"node1", "node2"},     {"nodea", "nodeb"},        {"id1", "id2"},
      {"nodeid1", "nodeid2"}, {"sourceid", "targetid"},  {"fromnodeid", "tonodeid"},
      {"vertex1", "vertex2"},
  };
  const std::string first = plain_word(fields.field[0]), second = plain_word(fields.field[1]);
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](const auto& ends) { return ends.first == first && ends.second == second; });
}

// Walks over the lines that count.
struct DataLines {
  std::string_view text;
  std::uint64_t line = 0;

  bool next(std::string_view& out) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      out = without_cr(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      ++line;
      if (!is_skipped(out)) return true;
    }
    return false;
  }
};

}  // namespace

bool is_skipped(std::string_view line) {
  for (const char c : line)
    if (!is_blank(c)) return c == '#' || c == '%';
  return true;
}

LineFields split_line(std::string_view line, char separator) {
  LineFields fields;
  const auto add = [&fields](std::string_view field) {
    if (fields.count < fields.field.size()) fields.field[fields.count] = field;
    ++fields.count;
  };
  if (separator == ' ') {
    for (std::size_t i = 0;;) {
      while (i < line.size() && is_blank(line[i])) ++i;
      if (i == line.size()) return fields;
      const std::size_t begin = i;
      while (i < line.size() && !is_blank(line[i])) ++i;
      add(line.substr(begin, i - begin));
    }
  }
  for (;;) {
    const std::size_t end = line.find(separator);
    const std::string_view field = line.substr(0, end);
    add(separator == ',' ? trimmed(field) : field);
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

EdgeLineFormat detect_edge_lines(std::string_view text, std::uint64_t first_line, const std::string& name) {
  EdgeLineFormat format;
  DataLines lines{text, first_line - 1};
  std::string_view line;
  if (!lines.next(line)) return format;
  const std::uint64_t first_data_line = lines.line;
  const auto has = [&](char c) { return line.find(c) != std::string_view::npos; };
  format.separator = has('\t') ? '\t' : has(',') ? ',' : ' ';
  LineFields fields = split_line(line, format.separator);
  const LineFields first = fields;
  const bool has_more = lines.next(line);
  if (has_more) fields = split_line(line, format.separator);

  const bool third_is_a_name = first.count == 3 && !is_number(first.field[2]);
  const bool third_is_a_number_below = has_more && fields.count == 3 && is_number(fields.field[2]);
  if ((first.count == 2 && names_the_ends(first)) ||
      (third_is_a_name && (third_is_a_number_below || names_the_ends(first)))) {
    format.header_line = first_data_line;
    if (!has_more) return format;
  } else {
    fields = first;
  }
  const std::uint64_t counted_line = format.header_line != 0 ? lines.line : first_data_line;
  if (fields.count < 2 || fields.count > 3)
    throw InputError{at(name, counted_line),
                     "found " + std::to_string(fields.count) + (fields.count == 1 ? " column" : " columns"),
                     std::string(kShape) + (fields.count > 3 ? "; leave the other columns out" : "")};
  format.num_columns = static_cast<int>(fields.count);
  return format;
}

void check_fields(const LineFields& fields, const EdgeLineFormat& format, const std::string& name,
                  std::uint64_t line) {
  const auto expected = static_cast<std::size_t>(format.num_columns);
  if (fields.count != expected) {
    const char* separator = format.separator == '\t' ? "tabs" : format.separator == ',' ? "commas" : "spaces";
    throw InputError{at(name, line),
                     "found " + std::to_string(fields.count) + (fields.count == 1 ? " column" : " columns") +
                         " where the lines before have " + std::to_string(expected) + ", separated by " +
                         separator,
                     std::string(kShape) + ", all lines alike"};
  }
  for (std::size_t i = 0; i < 2; ++i)
    if (fields.field[i].empty())
      throw InputError{at(name, line),
                       i == 0 ? "the first node has an empty id" : "the second node has an empty id", kShape};
}

}  // namespace copse
