// SPDX-License-Identifier: Apache-2.0
#include "io/numbers.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>

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

constexpr char kDivide[] = "divide all weights by a constant: only their ratios matter";
constexpr char kMultiply[] = "multiply all weights by a constant: only their ratios matter";

}  // namespace

std::optional<float> parse_number(std::string_view token) {
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

Weight parse_weight(std::string_view token, const std::string& name, std::uint64_t line, bool is_signed) {
  constexpr const char* kRemedy = "weights are similarities (> 0); leave the line out to mean \"no edge\"";
  constexpr const char* kSignedRemedy =
      "weights are similarities (> 0), negative edges below 0; leave the line out to mean \"no edge\"";
  if (is_signed && token.size() > 1 && token.front() == '-' && token[1] != '+' && token[1] != '-')
    return 0 - parse_weight(token.substr(1), name, line, true);  // "-0" is 0
  const auto refuse = [&] {
    const bool has_comma =
        token.find(',') != token.npos && token.find_first_not_of("0123456789,+-") == token.npos;
    const std::string remedy = has_comma   ? "a decimal comma? save the table with decimal points, as in 1.5"
                               : is_signed ? kSignedRemedy
                                           : kRemedy;
    throw InputError{
        at(name, line),
        "weight " + quoted(token) + (is_signed ? " is not a number" : " is not a positive number"), remedy};
  };
  const auto fail = [&](const std::string& problem, const std::string& remedy) {
    throw InputError{at(name, line), "weight " + quoted(token) + " " + problem, remedy};
  };
  std::string_view number = token;
  if (!number.empty() && number.front() == '+') number.remove_prefix(1);  // from_chars knows no plus sign
  float value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error == std::errc::invalid_argument || end != number.data() + number.size() ||
      (number.size() < token.size() && number.front() == '-'))
    refuse();
  if (std::isnan(value)) refuse();
  if (number.front() == '-' && std::isinf(value)) refuse();
  if (number.front() == '-' && (value != 0 || is_nonzero(number)))
    fail("is not a positive number", std::string(kRemedy) + ", or read negative edges with --signed");
  const bool is_word = number.front() == 'i' || number.front() == 'I';
  if (is_word) refuse();
  if (error == std::errc::result_out_of_range || std::isinf(value) || (value == 0 && is_nonzero(number))) {
    // Libraries differ in what they leave in `value`; the sign of the exponent cannot lie.
    double wide = 0;
    const auto wide_end = std::from_chars(number.data(), number.data() + number.size(), wide);
    const std::size_t exponent = number.find_first_of("eE");
    const bool is_small =
        wide_end.ec == std::errc() && std::isfinite(wide) && wide != 0
            ? wide < 1
            : (exponent != std::string_view::npos ? number[exponent + 1] == '-' : number.front() == '0');
    if (is_small) fail("is too small to be stored (32 bits)", kMultiply);
    fail("is too large to be stored (32 bits)", kDivide);
  }
  return value == 0 ? Weight{0} : value;  // "-0" is 0
}

InputError bad_entry(const std::string& where, std::uint64_t row, std::int64_t column, double value,
                     bool is_signed, const std::string& signed_option) {
  char digits[32];
  const std::string number(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  const std::string entry =
      "the entry in row " + std::to_string(row) + ", column " + std::to_string(column) + " is " + number;
  if (!std::isfinite(value) || (value < 0 && !is_signed))
    return {where, entry + (is_signed ? ", not a finite number" : ", not a positive number"),
            "weights are similarities (> 0); leave the entry out to mean \"no edge\"" +
                (value < 0 && !is_signed ? ", or read negative edges with " + signed_option : std::string())};
  const bool is_large = std::fabs(value) > 1;
  return {where, entry + ", too " + (is_large ? "large" : "small") + " to be stored (32 bits)",
          is_large ? kDivide : kMultiply};
}

}  // namespace copse
