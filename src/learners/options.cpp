// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/options.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace copse::detail {
namespace {

template <class T>
T parse(const std::string& where, const std::string& text, const char* kind) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw UsageError{where, quoted(text) + " is not " + kind, ""};
  return value;
}

}  // namespace

std::int64_t parse_int(const std::string& where, const std::string& text) {
  return parse<std::int64_t>(where, text, "a whole number");
}

double parse_number(const std::string& where, const std::string& text) {
  const double value = parse<double>(where, text, "a number");
  if (!std::isfinite(value)) throw UsageError{where, quoted(text) + " is not a finite number", ""};
  return value;
}

bool parse_bool(const std::string& where, const std::string& text) {
  if (text == "true" || text == "yes" || text == "1") return true;
  if (text == "false" || text == "no" || text == "0") return false;
  throw UsageError{where, quoted(text) + " is neither true nor false", ""};
}

std::string number_text(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

void out_of_range(const std::string& where, const std::string& text, const std::string& range) {
  throw UsageError{where, quoted(text) + " is out of range", range.empty() ? "" : "it must be " + range};
}

void unknown_choice(const std::string& where, const std::string& text, const std::string& known) {
  throw UsageError{where, quoted(text) + " is not a choice", "choose one of " + known};
}

void unknown_option(const std::string& owner, const std::string& name, const std::string& known) {
  throw UsageError{owner, "no option " + quoted(name), "its options are " + known};
}

}  // namespace copse::detail
