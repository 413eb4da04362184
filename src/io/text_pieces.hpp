// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "copse/graph/types.hpp"
#include "copse/support/byte_source.hpp"
#include "copse/support/error.hpp"
#include "copse/support/execution.hpp"
#include "copse/support/parallel.hpp"

// What the line formats (Matrix Market, METIS) share: a large text is read in rounds, a round is cut into
// pieces at line ends, pieces are parsed side by side and taken over in order. Where the cuts fall changes
// neither the result nor the error: the first bad line of the file is the one that is told.

namespace copse {

inline constexpr std::size_t kRoundBytes = std::size_t{32} << 20;  // enough pieces for many cores
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

/// The first thing wrong in a piece: parsing of the piece stops there, the line counts from its start.
struct PieceError {
  std::uint64_t line = 0;
  std::string problem, remedy;
};

/// One line of a piece at a time, without its end.
class LineCursor {
 public:
  explicit LineCursor(std::string_view text) : text_(text) {}
  bool next(std::string_view& line) {
    if (text_.empty()) return false;
    const void* end = std::memchr(text_.data(), '\n', text_.size());
    const std::size_t length = end != nullptr
                                   ? static_cast<std::size_t>(static_cast<const char*>(end) - text_.data())
                                   : text_.size();
    line = text_.substr(0, length);
    text_.remove_prefix(end != nullptr ? length + 1 : length);
    return true;
  }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

/// Takes the next word (blanks: space, tab, carriage return) off the front of a line; empty at its end.
inline std::string_view next_word(std::string_view& line) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  std::size_t begin = 0;
  while (begin < line.size() && blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !blank(line[end])) ++end;
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

/// A whole word as a number without sign; nothing for anything else, overflow included.
inline std::optional<std::uint64_t> parse_count(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// The lines above the data of a file, one at a time, and then the text where the data begins.
class HeadLines {
 public:
  explicit HeadLines(ByteSource& source) : source_(source), lines_({}) {}
  bool next(std::string_view& line) {
    if (lines_.rest().empty()) refill();
    if (!lines_.next(line)) return false;
    ++line_number_;
    return true;
  }
  /// Of the line last returned.
  std::uint64_t line_number() const { return line_number_; }
  std::string_view rest() {
    if (lines_.rest().empty()) refill();
    return lines_.rest();
  }
  /// Read so far, without the rest.
  std::uint64_t num_bytes() const { return num_bytes_ - lines_.rest().size(); }

 private:
  void refill() {
    const std::span<const char> bytes = source_.next_lines(kRoundBytes);
    num_bytes_ += bytes.size();
    lines_ = LineCursor({bytes.data(), bytes.size()});
  }

  ByteSource& source_;
  LineCursor lines_;
  std::uint64_t line_number_ = 0, num_bytes_ = 0;
};

/// Reads `text` (what is left of a round already begun) and the rest of `source`. parse(text, piece) runs
/// in parallel and fills a Piece with members `num_lines` (all lines it has seen) and `error`
/// (std::optional<PieceError>); take(piece, first_line) runs in order. `line` counts the lines before `text`.
/// Returns the number of bytes read.
template <class Piece, class Parse, class Take>
std::uint64_t parse_pieces(ByteSource& source, std::string_view text, std::uint64_t line,
                           const Execution& execution, const Parse& parse, const Take& take) {
  std::uint64_t num_bytes = 0;
  while (!text.empty()) {
    execution.throw_if_cancelled();
    num_bytes += text.size();
    std::vector<std::string_view> cuts;
    while (!text.empty()) {
      std::size_t size = text.size();
      if (size > kPieceBytes) {
        const std::size_t end = text.find('\n', kPieceBytes);
        if (end != std::string_view::npos) size = end + 1;
      }
      cuts.push_back(text.substr(0, size));
      text.remove_prefix(size);
    }
    std::vector<Piece> pieces(cuts.size());
    parallel_for(execution.threads, cuts.size(), [&](std::size_t i) { parse(cuts[i], pieces[i]); });
    for (Piece& piece : pieces) {
      const std::uint64_t first_line = line + 1;
      line += piece.num_lines;
      if (piece.error) {
        throw InputError{at(source.name(), first_line - 1 + piece.error->line), piece.error->problem,
                         piece.error->remedy};
      }
      take(piece, first_line);
    }
    const std::span<const char> next = source.next_lines(kRoundBytes);
    text = {next.data(), next.size()};
  }
  return num_bytes;
}

}  // namespace copse
