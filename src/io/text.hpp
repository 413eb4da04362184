// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "copse/support/error.hpp"
#include "copse/support/execution.hpp"
#include "copse/support/parallel.hpp"
#include "support/byte_source.hpp"

// Text files, for every format that is one: lines with their numbers, comments, words, byte order marks,
// carriage returns and NUL bytes are the business of this file, fields that of io/table.hpp. Small files are
// read line by line (TextLines); of large ones pieces are parsed side by side (parse_pieces).

namespace copse {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
std::string_view trimmed(std::string_view text);
std::string lower_case(std::string_view text);

/// The character that begins at `at`, which moves behind it; kNotUtf8 (and `at` stays) if none does. Ends of
/// surrogate pairs and needlessly long forms are none.
inline constexpr std::uint32_t kNotUtf8 = 0xFFFFFFFF;
std::uint32_t take_utf8(std::string_view text, std::size_t& at);
bool is_utf8(std::string_view text);

/// Without the carriage return of a CRLF file.
inline std::string_view without_cr(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

/// Blank, or a comment: its first character that is not blank is # or %, or it is the line "sep=;" of Excel.
bool is_skipped(std::string_view line);

/// The start of a file without its byte order mark; InputError, with `remedy`, if this is not text.
std::string_view checked_start(std::string_view block, const std::string& name, const char* remedy);

/// Takes the next word (blanks: space, tab, carriage return) off the front of a line; empty at its end.
std::string_view next_word(std::string_view& line);

/// One line of a text at a time, without its end.
class LineCursor {
 public:
  /// `line_number` lines come before the text.
  explicit LineCursor(std::string_view text, std::uint64_t line_number = 0)
      : at_(text.data()), end_(at_ + text.size()), line_number_(line_number) {}
  bool next(std::string_view& line) {
    if (at_ == end_) return false;
    const void* found = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
    const char* stop = found == nullptr ? end_ : static_cast<const char*>(found);
    line = {at_, static_cast<std::size_t>(stop - at_)};
    skip_to(found == nullptr ? end_ : stop + 1);
    return true;
  }
  /// For who parses lines without asking for them: the current one ends before `next`.
  void skip_to(const char* next) {
    at_ = next;
    ++line_number_;
  }
  bool is_done() const { return at_ == end_; }
  const char* at() const { return at_; }
  const char* end() const { return end_; }
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  /// Of the line last returned.
  std::uint64_t line_number() const { return line_number_; }

 private:
  const char* at_;
  const char* end_;
  std::uint64_t line_number_;
};

/// The lines of a file, one at a time.
class TextLines {
 public:
  /// With a remedy, a file that is not text is an error.
  explicit TextLines(ByteSource& source, const char* remedy = nullptr)
      : source_(source), remedy_(remedy), lines_({}) {}
  /// Without its end, a carriage return included.
  bool next(std::string_view& line);
  /// The next line that is not blank and no comment.
  bool next_row(std::string_view& line);
  /// Of the line last returned.
  std::uint64_t line_number() const { return lines_.line_number(); }
  /// What was read and not returned yet, empty at the end of the file only.
  std::string_view rest();
  /// Read so far, without the rest.
  std::uint64_t num_bytes() const { return num_bytes_ - lines_.rest().size(); }

 private:
  void refill();

  ByteSource& source_;
  const char* remedy_;
  LineCursor lines_;
  std::uint64_t num_bytes_ = 0;
};

// A large text is read in rounds, a round is cut into pieces at line ends, pieces are parsed side by side and
// taken over in order. Where the cuts fall changes neither the result nor the error: the first bad line of
// the file is the one that is told.

inline constexpr std::size_t kRoundBytes = std::size_t{32} << 20;  // enough pieces for many cores
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

/// Cut by size only, never by the number of threads.
std::vector<std::string_view> cut_at_lines(std::string_view text, std::size_t size);
std::uint64_t count_lines(std::string_view text);

/// The first thing wrong in a piece: parsing of the piece stops there, the line counts from its start.
struct PieceError {
  std::uint64_t line = 0;
  std::string problem, remedy;
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
    const std::vector<std::string_view> cuts = cut_at_lines(text, kPieceBytes);
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
