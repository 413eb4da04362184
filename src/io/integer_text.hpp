// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace copse {

/// Ids are treated as integers only when their text is the one the number would be written as: "7", not
/// "007" or "+7", which are nodes of their own. Below 2^63.
inline std::optional<std::uint64_t> canonical_integer(std::string_view text) {
  constexpr std::size_t kMostDigits = 19;  // of 2^63
  if (text.empty() || text.size() > kMostDigits || (text[0] == '0' && text.size() > 1)) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + static_cast<std::uint64_t>(c - '0');
  }
  if (value >> 63 != 0) return std::nullopt;
  return value;
}

/// The canonical integer of up to 15 digits at `text`, of which 16 bytes may be read; moves `text` behind
/// it. nullopt-like: returns false and leaves `text` for anything else, more digits included.
inline bool take_integer(const char*& text, std::uint64_t& value) {
  static_assert(std::endian::native == std::endian::little);
  // Eight characters at a time (SWAR). After the xor a digit is its value, anything else is above 9 and
  // gets its top bit set by the addition; a carry can only spoil characters behind the first such one.
  const auto digits = [](const char* at, std::uint64_t& values) {
    std::memcpy(&values, at, 8);
    values ^= 0x3030303030303030;
    const std::uint64_t others = ((values + 0x7676767676767676) | values) & 0x8080808080808080;
    return others == 0 ? 8u : static_cast<unsigned>(std::countr_zero(others)) / 8;
  };
  // First character in the lowest byte: pairs, then fours, then all eight are combined.
  const auto combine = [](std::uint64_t v) {
    v = (v * 10 + (v >> 8)) & 0x00FF00FF00FF00FF;
    v = (v * 100 + (v >> 16)) & 0x0000FFFF0000FFFF;
    return (v * 10000 + (v >> 32)) & 0xFFFFFFFF;
  };
  std::uint64_t values = 0;
  const unsigned length = digits(text, values);
  if (length == 0 || (text[0] == '0' && length > 1)) return false;
  if (length < 8) {
    value = combine(values << (64 - 8 * length));  // zeros in front
    text += length;
    return true;
  }
  constexpr std::uint64_t kPowers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  value = combine(values);
  const unsigned more = digits(text + 8, values);
  if (more == 8) return false;
  if (more != 0) value = value * kPowers[more] + combine(values << (64 - 8 * more));
  text += 8 + more;
  return true;
}

}  // namespace copse
