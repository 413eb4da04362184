// SPDX-License-Identifier: Apache-2.0
#include "io/text.hpp"

#include <algorithm>

#include "io/other_files.hpp"

namespace copse {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::uint32_t take_utf8(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(at);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC0 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF8 ? 4
                                           : 0;
  if (length == 0 || at + length > text.size()) return kNotUtf8;
  std::uint32_t code = length == 1 ? lead : lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return kNotUtf8;
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return kNotUtf8;
  at += length;
  return code;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();)
    if (take_utf8(text, at) == kNotUtf8) return false;
  return true;
}

namespace {
/// As the first line of some tables of Excel does: "sep=;".
bool names_delimiter(std::string_view line) {
  return line.size() == 5 && line.starts_with("sep=") &&
         std::string_view(",;|\t").find(line.back()) != std::string_view::npos;
}
}  // namespace

bool is_skipped(std::string_view line) {
  for (const char c : line)
    if (!is_blank(c)) return c == '#' || c == '%' || names_delimiter(without_cr(line));
  return true;
}

std::string_view checked_start(std::string_view block, const std::string& name, const char* remedy) {
  refuse_other_files(block, name);
  if (block.find('\0') != std::string_view::npos)
    throw InputError{name, "this is not text: it holds a NUL byte", remedy};
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  return block.starts_with(kByteOrderMark) ? block.substr(kByteOrderMark.size()) : block;
}

std::string_view next_word(std::string_view& line) {
  const auto ends_word = [](char c) { return is_blank(c) || c == '\r'; };
  std::size_t begin = 0;
  while (begin < line.size() && ends_word(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !ends_word(line[end])) ++end;
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

void TextLines::refill() {
  const std::span<const char> bytes = source_.next_lines(kRoundBytes);
  std::string_view block{bytes.data(), bytes.size()};
  if (num_bytes_ == 0 && remedy_ != nullptr) block = checked_start(block, source_.name(), remedy_);
  num_bytes_ += bytes.size();
  lines_ = LineCursor(block, lines_.line_number());
}

bool TextLines::next(std::string_view& line) {
  if (lines_.is_done()) refill();
  if (!lines_.next(line)) return false;
  line = without_cr(line);
  return true;
}

bool TextLines::next_row(std::string_view& line) {
  while (next(line))
    if (!is_skipped(line)) return true;
  return false;
}

std::string_view TextLines::rest() {
  if (lines_.is_done()) refill();
  return lines_.rest();
}

std::vector<std::string_view> cut_at_lines(std::string_view text, std::size_t size) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t end = text.size() > size ? text.find('\n', size) : std::string_view::npos;
    pieces.push_back(text.substr(0, end == std::string_view::npos ? end : end + 1));
    text.remove_prefix(pieces.back().size());
  }
  return pieces;
}

// Counted in bytes while these cannot overflow: the compiler compares sixteen characters at a time.
std::uint64_t count_lines(std::string_view text) {
  constexpr std::size_t kAtOnce = 240;
  std::uint64_t lines = text.ends_with('\n') ? 0 : 1;
  for (; !text.empty(); text.remove_prefix(std::min(kAtOnce, text.size()))) {
    std::uint8_t count = 0;
    for (const char c : text.substr(0, kAtOnce)) count = static_cast<std::uint8_t>(count + (c == '\n'));
    lines += count;
  }
  return lines;
}

}  // namespace copse
