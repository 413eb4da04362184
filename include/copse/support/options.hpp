// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
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

/// A member of an option struct, told once: `static Fields fields()` of the struct returns these. Of the
/// struct's type only the member's place in it is left, so that all structs are read by the same code.
struct Field {
  OptionInfo info;
  std::size_t offset = 0;  // of the member, in bytes
  /// Text to value; "where" names the option in the UsageError.
  std::function<void(const std::string& where, const std::string& text, void* member)> assign;
};
using Fields = std::vector<Field>;

/// A type of option that is neither a number nor a choice reads and writes itself: T::from_text(where, text)
/// throws UsageError, value.text() gives the text back, T::kType says what is allowed.
template <class T>
concept TextOption = requires(const T& value, const std::string& text) {
  T::from_text(text, text);
  value.text();
  T::kType;
};

namespace detail {
// "where" names the option in the UsageError.
double parse_number(const std::string& where, const std::string& text);
std::string number_text(double value);

/// What does not depend on the type of the member.
struct FieldHead {
  const char* name;
  std::string help;
  std::size_t offset;
};
struct Choice {
  const char* text;
  std::int64_t value;
};

// One for each kind of member; `value` is the default.
Field value_field(const FieldHead& head, bool value, const Bounds<bool>& bounds);
Field value_field(const FieldHead& head, int value, const Bounds<int>& bounds);
Field value_field(const FieldHead& head, double value, const Bounds<double>& bounds);
Field choice_field(const FieldHead& head, std::int64_t value, std::vector<Choice> choices,
                   void (*store)(void* member, std::int64_t value));
template <TextOption T>
Field value_field(const FieldHead& head, const T& value, const Bounds<T>&) {
  return {{head.name, T::kType, value.text(), head.help, ""},
          head.offset,
          [](const std::string& where, const std::string& text, void* member) {
            *static_cast<T*>(member) = T::from_text(where, text);
          }};
}

template <class T>
std::vector<Choice> known_choices(std::initializer_list<std::pair<const char*, T>> choices) {
  std::vector<Choice> known;
  for (const auto& [text, value] : choices) known.push_back({text, static_cast<std::int64_t>(value)});
  return known;
}

template <class Options, class T>
std::size_t offset_in(const Options& options, T Options::*member) {
  return static_cast<std::size_t>(reinterpret_cast<const char*>(&(options.*member)) -
                                  reinterpret_cast<const char*>(&options));
}

std::vector<OptionInfo> describe(const Fields& fields);
void parse(const Fields& fields, const std::string& owner, const OptionValues& values, void* options);
}  // namespace detail

/// `defaults` is for a block whose owner has others than the block itself.
template <class Options, class T>
Field field(const char* name, T Options::*member, const std::string& help,
            const Bounds<std::type_identity_t<T>>& bounds = {}, const Options& defaults = {}) {
  return detail::value_field({name, help, detail::offset_in(defaults, member)}, defaults.*member, bounds);
}

/// For enumerations: text <-> value.
template <class Options, class T>
Field choice(const char* name, T Options::*member, const std::string& help,
             std::initializer_list<std::pair<const char*, T>> choices) {
  const Options defaults{};
  return detail::choice_field(
      {name, help, detail::offset_in(defaults, member)}, static_cast<std::int64_t>(defaults.*member),
      detail::known_choices(choices),
      [](void* to, std::int64_t value) { *static_cast<T*>(to) = static_cast<T>(value); });
}

/// The fields of a struct that is a member of another one.
template <class Options, class Block>
Fields block(Block Options::*member, Fields fields) {
  const Options defaults{};
  for (Field& each : fields) each.offset += detail::offset_in(defaults, member);
  return fields;
}

/// One list of several.
Fields joined(std::initializer_list<Fields> parts);

/// The descriptions of all options of a struct, in order.
template <class Options>
std::vector<OptionInfo> describe_options() {
  return detail::describe(Options::fields());
}

/// The struct with `values` over its defaults. UsageError for an unknown name (lists the known ones) or a
/// value that does not fit. `owner` is the learner's name, for the message.
template <class Options>
Options parse_options(const std::string& owner, const OptionValues& values) {
  Options options;
  detail::parse(Options::fields(), owner, values, &options);
  return options;
}

/// What every registry says of an entry, be it a learner, a query strategy, a family of graphs, a format or
/// an experiment: the program, Python and the docs read all of them in one way.
struct Described {
  std::string name;  // as users type it
  std::string idea;  // one line
  std::string cost;  // time and memory
  std::string paper;
  std::vector<OptionInfo> options;
  /// UsageError for an unknown option or a value that does not fit: before the graph is read, not after.
  std::function<void(const OptionValues&)> check;
};

/// UsageError, with the known names, for a value whose name is none of the options'.
void check_names(const std::vector<OptionInfo>& options, const std::string& owner,
                 const OptionValues& values);

/// The names of rows, in order, with ", " or another text in between.
template <class Rows>
std::string names_of(const Rows& rows, const std::string& between = ", ") {
  std::string names;
  for (const auto& row : rows) names += (names.empty() ? "" : between) + row.name;
  return names;
}

/// The row of that name; UsageError says which `kind` ("learner") is not known, lists those that are, and
/// where to read of them.
template <class Row>
const Row& find_row(const std::vector<Row>& rows, const std::string& name, const std::string& kind,
                    const std::string& see_also = "") {
  for (const Row& row : rows)
    if (row.name == name) return row;
  const std::string plural = kind.ends_with("y") ? kind.substr(0, kind.size() - 1) + "ies" : kind + "s";
  throw UsageError{kind, copse::quoted(name) + " is not known",
                   "the " + plural.substr(plural.rfind(' ') + 1) + " are " + names_of(rows) + see_also};
}

}  // namespace copse
