// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "copse/support/error.hpp"

namespace copse {

/// Options as text, name -> value: what the CLI, Python and the server hand to the registry.
using OptionValues = std::map<std::string, std::string>;

/// Description of one option, read by the CLI, the docs and the tests.
struct OptionInfo {
  std::string name;
  std::string type;  // "int", "number", "bool", the choices "rst|nwrst|..." or "number|word|..."
  std::string default_value;
  std::string help;
  std::string range;  // "at least 1", or empty
};

template <class T>
struct Bounds {
  std::optional<T> low, high;
};
template <class T>
constexpr Bounds<T> at_least(T low) {
  return {low, std::nullopt};
}
template <class T>
constexpr Bounds<T> between(T low, T high) {
  return {low, high};
}

/// A member of an option struct, told once: `static auto fields()` of the struct returns a tuple of these.
template <class Options, class T>
struct Field {
  const char* name;
  T Options::*member;
  const char* help;
  Bounds<T> bounds{};
  std::vector<std::pair<const char*, T>> choices{};  // for enumerations: text <-> value
};

template <class Options, class T>
Field<Options, T> field(const char* name, T Options::*member, const char* help,
                        Bounds<std::type_identity_t<T>> bounds = {}) {
  return {name, member, help, bounds, {}};
}
template <class Options, class T>
Field<Options, T> choice(const char* name, T Options::*member, const char* help,
                         std::vector<std::pair<const char*, T>> choices) {
  return {name, member, help, {}, std::move(choices)};
}

/// A type of option that is neither a number nor a choice reads and writes itself: T::from_text(where, text)
/// throws UsageError, value.text() gives the text back, T::kType says what is allowed.
template <class T>
concept TextOption = requires(const T& value, const std::string& text) {
  T::from_text(text, text);
  value.text();
  T::kType;
};

namespace detail {
// Text to value and back; "where" names the option in the UsageError.
std::int64_t parse_int(const std::string& where, const std::string& text);
double parse_number(const std::string& where, const std::string& text);
bool parse_bool(const std::string& where, const std::string& text);
std::string number_text(double value);
[[noreturn]] void out_of_range(const std::string& where, const std::string& text, const std::string& range);
[[noreturn]] void unknown_choice(const std::string& where, const std::string& text, const std::string& known);
[[noreturn]] void unknown_option(const std::string& owner, const std::string& name, const std::string& known);

template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? "true" : "false";
  else if constexpr (std::is_integral_v<T>)
    return std::to_string(value);
  else
    return number_text(value);
}

template <class Options, class T>
OptionInfo describe(const Field<Options, T>& field) {
  const Options defaults{};
  OptionInfo info{field.name, "", "", field.help, ""};
  if constexpr (std::is_enum_v<T>) {
    for (const auto& [text, value] : field.choices) {
      info.type += (info.type.empty() ? "" : "|") + std::string(text);
      if (value == defaults.*field.member) info.default_value = text;
    }
  } else if constexpr (TextOption<T>) {
    info.type = T::kType;
    info.default_value = (defaults.*field.member).text();
  } else {
    info.type = std::is_same_v<T, bool> ? "bool" : std::is_integral_v<T> ? "int" : "number";
    info.default_value = value_text(defaults.*field.member);
    if (field.bounds.low && field.bounds.high)
      info.range = "between " + value_text(*field.bounds.low) + " and " + value_text(*field.bounds.high);
    else if (field.bounds.low)
      info.range = "at least " + value_text(*field.bounds.low);
  }
  return info;
}

template <class Options, class T>
void assign(const Field<Options, T>& field, const std::string& owner, const std::string& text,
            Options& options) {
  const std::string where = owner + " option " + field.name;
  if constexpr (std::is_enum_v<T>) {
    for (const auto& [known, value] : field.choices) {
      if (text == known) {
        options.*field.member = value;
        return;
      }
    }
    unknown_choice(where, text, describe(field).type);
  } else if constexpr (TextOption<T>) {
    options.*field.member = T::from_text(where, text);
  } else {
    T value{};
    if constexpr (std::is_same_v<T, bool>)
      value = parse_bool(where, text);
    else if constexpr (std::is_integral_v<T>) {
      const std::int64_t wide = parse_int(where, text);
      value = static_cast<T>(wide);
      if (!std::in_range<T>(wide)) out_of_range(where, text, describe(field).range);
    } else
      value = static_cast<T>(parse_number(where, text));
    if ((field.bounds.low && value < *field.bounds.low) || (field.bounds.high && value > *field.bounds.high))
      out_of_range(where, text, describe(field).range);
    options.*field.member = value;
  }
}
}  // namespace detail

/// The descriptions of all options of a struct, in order.
template <class Options>
std::vector<OptionInfo> describe_options() {
  return std::apply([](const auto&... f) { return std::vector<OptionInfo>{detail::describe(f)...}; },
                    Options::fields());
}

/// The struct with `values` over its defaults. UsageError for an unknown name (lists the known ones) or a
/// value that does not fit. `owner` is the learner's name, for the message.
template <class Options>
Options parse_options(const std::string& owner, const OptionValues& values) {
  Options options;
  std::string known;
  std::apply([&](const auto&... f) { ((known += (known.empty() ? "" : ", ") + std::string(f.name)), ...); },
             Options::fields());
  for (const auto& value : values) {
    const std::string &name = value.first, &text = value.second;
    bool found = false;
    std::apply(
        [&](const auto&... f) {
          ((name == f.name ? (detail::assign(f, owner, text, options), found = true) : false), ...);
        },
        Options::fields());
    if (!found) detail::unknown_option(owner, name, known);
  }
  return options;
}

}  // namespace copse
