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

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "copse/graph/types.hpp"
#include "copse/support/error.hpp"
#include "graph/integer_ids.hpp"

// Numbers in text, and which of them may be weights.

namespace copse {

/// The integer that 1 to 15 digits write, of which 16 bytes may be read.
[[gnu::always_inline]] inline std::uint64_t integer_of_digits(const char* digits, std::size_t size) {
  static_assert(std::endian::native == std::endian::little);
  // Eight digits at a time, the first in the lowest byte: pairs, then fours, then all eight are combined.
  const auto combine = [](std::uint64_t v) {
    v = (v * 10 + (v >> 8)) & 0x00FF00FF00FF00FF;
    v = (v * 100 + (v >> 16)) & 0x0000FFFF0000FFFF;
    return (v * 10000 + (v >> 32)) & 0xFFFFFFFF;
  };
  const auto eight = [](const char* at) {
    std::uint64_t values = 0;
    std::memcpy(&values, at, 8);
    return values ^ 0x3030303030303030;
  };
  if (size <= 8) return combine(eight(digits) << (64 - 8 * size));  // zeros in front
  constexpr std::uint64_t kPowers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  return combine(eight(digits)) * kPowers[size - 8] + combine(eight(digits + 8) << (128 - 8 * size));
}

/// Which of the 64 bytes from `at` on are no digits, a bit each.
[[gnu::always_inline]] inline std::uint64_t find_other_than_digits(const char* at) {
  std::uint64_t found = 0;
#if defined(__SSE2__)
#pragma GCC unroll 4
  for (int i = 0; i < 64; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + i));
    const __m128i values = _mm_sub_epi8(bytes, _mm_set1_epi8('0' - 128));  // digits are the ten smallest
    const auto others =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpgt_epi8(values, _mm_set1_epi8(9 - 128))));
    found |= std::uint64_t{others} << i;
  }
#else
  constexpr std::uint64_t kOnes = 0x0101010101010101, kTops = 0x80 * kOnes;
  for (int i = 0; i < 64; i += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at + i, 8);
    bytes ^= 0x30 * kOnes;  // a digit is its value, anything else above 9: 118 more set its top bit
    const std::uint64_t others = ((((bytes & ~kTops) + 118 * kOnes) | bytes) & kTops) >> 7;
    found |= (others * 0x0102040810204080) >> 56 << i;
  }
#endif
  return found;
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
