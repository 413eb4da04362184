// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace copse {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// How the lines of an edge list look: `u v` or `u v weight`, all alike.
struct EdgeLineFormat {
  char separator = '\t';          // '\t', ',' or ' ' (runs of spaces and tabs)
  int num_columns = 0;            // 2 or 3; 0 when the text holds no edge
  std::uint64_t header_line = 0;  // counted from 1; 0 when there is none
};

/// The first fields of a line and how many there are in all.
struct LineFields {
  std::array<std::string_view, 3> field;
  std::size_t count = 0;
};

/// Without the carriage return of a CRLF file.
inline std::string_view without_cr(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

/// Blank, or a comment: its first character that is not blank is # or %.
bool is_skipped(std::string_view line);

/// In a tab-separated file fields may hold spaces and be empty; around commas blanks do not count.
LineFields split_line(std::string_view line, char separator);

/// Decides from the first line that is not skipped: tab if it has one, else comma if it has one, else
/// blanks. That line is a header when its first two words are names for the ends of an edge (source
/// target, u v, from to, node1 node2, ...), or when its third field is no number and that of the next
/// line is one. Nothing else is taken for a header: a line that is no header must never be lost.
/// `first_line` is the number of the text's first line.
EdgeLineFormat detect_edge_lines(std::string_view text, std::uint64_t first_line, const std::string& name);

/// Throws the InputError that a line with the wrong number of columns or an empty id deserves.
void check_fields(const LineFields& fields, const EdgeLineFormat& format, const std::string& name,
                  std::uint64_t line);

}  // namespace copse
