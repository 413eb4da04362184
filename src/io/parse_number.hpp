// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace copse {

/// A whole token as a number, to the nearest float; nothing for anything else. What is too large becomes
/// infinite, what is too small becomes 0: the caller says which of these it takes.
inline std::optional<float> parse_number(std::string_view token) {
  if (token.size() > 1 && token.front() == '+' && token[1] != '-') token.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error == std::errc::invalid_argument || end != token.data() + token.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(token).c_str(), nullptr);
  constexpr double kMost = std::numeric_limits<float>::max();
  if (value > kMost) return std::numeric_limits<float>::infinity();
  if (value < -kMost) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(value);
}

}  // namespace copse
