// SPDX-License-Identifier: Apache-2.0
#include "copse/support/error.hpp"

namespace copse {
namespace {

std::string join(const std::string& where, const std::string& problem, const std::string& remedy) {
  std::string text = where;
  if (!where.empty()) text += ": ";
  text += problem;
  if (!remedy.empty()) text += "\n  " + remedy;
  return text;
}

}  // namespace

Error::Error(const std::string& where, const std::string& problem, const std::string& remedy)
    : std::runtime_error(join(where, problem, remedy)), where_(where), problem_(problem), remedy_(remedy) {}

std::string at(std::string_view path, std::uint64_t line) {
  std::string place(path);
  place += ':';
  place += std::to_string(line);
  return place;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  out += text.size() > kLongest ? "…\"" : "\"";
  return out;
}

std::string with_commas(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace copse
