// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>

#include "copse/support/error.hpp"
#include "graph/readers.hpp"

namespace copse {
namespace {

// Whether a number's text has a digit other than 0 before its exponent.
bool is_nonzero(std::string_view number) {
  for (const char c : number) {
    if (c >= '1' && c <= '9') return true;
    if (c == 'e' || c == 'E') return false;
  }
  return false;
}

}  // namespace

Weight parse_weight(std::string_view token, const std::string& name, std::uint64_t line) {
  constexpr const char* kRemedy = "weights are similarities (> 0); leave the line out to mean \"no edge\"";
  const auto fail = [&](const std::string& problem, const std::string& remedy) {
    throw InputError{at(name, line), "weight " + quoted(token) + " " + problem, remedy};
  };
  std::string_view number = token;
  if (!number.empty() && number.front() == '+') number.remove_prefix(1);  // from_chars knows no plus sign
  float value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc::invalid_argument || end != number.data() + number.size() ||
      (number.size() < token.size() && number.front() == '-'))
    fail("is not a positive number", kRemedy);
  if (std::isnan(value)) fail("is not a positive number", kRemedy);
  if (number.front() == '-' && (value != 0 || is_nonzero(number))) fail("is not a positive number", kRemedy);
  const bool is_word = number.front() == 'i' || number.front() == 'I';
  if (is_word) fail("is not a positive number", kRemedy);
  if (error == std::errc::result_out_of_range || std::isinf(value) || (value == 0 && is_nonzero(number))) {
    // Libraries differ in what they leave in `value`; the sign of the exponent cannot lie.
    double wide = 0;
    const auto wide_end = std::from_chars(number.data(), number.data() + number.size(), wide);
    const std::size_t exponent = number.find_first_of("eE");
    const bool is_small =
        wide_end.ec == std::errc() && std::isfinite(wide) && wide != 0
            ? wide < 1
            : (exponent != std::string_view::npos ? number[exponent + 1] == '-' : number.front() == '0');
    if (is_small)
      fail("is too small to be stored (32 bits)",
           "multiply all weights by a constant: only their ratios matter");
    fail("is too large to be stored (32 bits)", "divide all weights by a constant: only their ratios matter");
  }
  return value == 0 ? Weight{0} : value;  // "-0" is 0
}

}  // namespace copse
