// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "copse/graph/types.hpp"
#include "copse/support/error.hpp"
#include "graph/integer_ids.hpp"

// Numbers in text, and which of them may be weights.

namespace copse {

/// The canonical integer of up to 15 digits at `text`, of which 16 bytes may be read; moves `text` behind
/// it. nullopt-like: returns false and leaves `text` for anything else, more digits included.
[[gnu::always_inline]] inline bool take_integer(const char*& text, std::uint64_t& value) {
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

/// A whole word as a number without sign; nothing for anything else, overflow included.
inline std::optional<std::uint64_t> parse_count(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// A whole token as a number, to the nearest float; nothing for anything else. What is too large becomes
/// infinite, what is too small becomes 0: the caller says which of these it takes.
std::optional<float> parse_number(std::string_view token);

/// A weight as text: finite, >= 0 unless the graph is signed, representable; anything else throws InputError
/// at `name`:`line`.
Weight parse_weight(std::string_view token, const std::string& name, std::uint64_t line,
                    bool is_signed = false);

/// The float nearest to an entry of a matrix, by the same rule; no number (NaN) for what is no weight.
inline Weight weight_of_entry(double value, bool is_signed) {
  constexpr Weight kNone = std::numeric_limits<Weight>::quiet_NaN();
  if (!(is_signed || value >= 0) || !(std::fabs(value) <= std::numeric_limits<Weight>::max())) return kNone;
  const auto weight = static_cast<Weight>(value);
  return weight != 0 || value == 0 ? weight : kNone;
}
/// What is wrong with such an entry. `signed_option` is how negative edges are asked for.
InputError bad_entry(const std::string& where, std::uint64_t row, std::int64_t column, double value,
                     bool is_signed, const std::string& signed_option);

}  // namespace copse
