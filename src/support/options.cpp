// SPDX-License-Identifier: Apache-2.0
#include "copse/support/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace copse::detail {
namespace {

const std::string kLeaveOut = "leave it out for its default";

template <class T>
T parse(const std::string& where, const std::string& text, const char* kind) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw UsageError{where, quoted(text) + " is not " + kind, kLeaveOut};
  return value;
}

std::int64_t parse_int(const std::string& where, const std::string& text) {
  return parse<std::int64_t>(where, text, "a whole number");
}

bool parse_bool(const std::string& where, const std::string& text) {
  if (text == "true" || text == "yes" || text == "1") return true;
  if (text == "false" || text == "no" || text == "0") return false;
  throw UsageError{where, quoted(text) + " is neither true nor false", kLeaveOut};
}

std::string value_text(int value) { return std::to_string(value); }
std::string value_text(double value) { return number_text(value); }

template <class T>
std::string range_text(const Bounds<T>& bounds) {
  if (!bounds.low) return "";
  if (!bounds.high) return "at least " + value_text(*bounds.low);
  return "between " + value_text(*bounds.low) + " and " + value_text(*bounds.high);
}

[[noreturn]] void out_of_range(const std::string& where, const std::string& text, const std::string& range) {
  throw UsageError{where, quoted(text) + " is out of range",
                   range.empty() ? kLeaveOut : "it must be " + range};
}

/// Wide is what a text is read as before it is known to fit into T.
template <class T, class Wide>
Field number_field(const FieldHead& head, const char* type, T value, const Bounds<T>& bounds,
                   Wide (*read)(const std::string& where, const std::string& text)) {
  const std::string range = range_text(bounds);
  const Wide low = bounds.low.value_or(std::numeric_limits<T>::lowest());
  const Wide high = bounds.high.value_or(std::numeric_limits<T>::max());
  const auto assign = [=](const std::string& where, const std::string& text, void* member) {
    const Wide wide = read(where, text);
    if (wide < low || wide > high) out_of_range(where, text, range);
    *static_cast<T*>(member) = static_cast<T>(wide);
  };
  return {{head.name, type, value_text(value), head.help, range}, head.offset, assign};
}

}  // namespace

double parse_number(const std::string& where, const std::string& text) {
  const double value = parse<double>(where, text, "a number");
  if (!std::isfinite(value)) throw UsageError{where, quoted(text) + " is not a finite number", kLeaveOut};
  return value;
}

std::string number_text(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

Field value_field(const FieldHead& head, bool value, const Bounds<bool>&) {
  return {{head.name, "bool", value ? "true" : "false", head.help, ""},
          head.offset,
          [](const std::string& where, const std::string& text, void* member) {
            *static_cast<bool*>(member) = parse_bool(where, text);
          }};
}

Field value_field(const FieldHead& head, int value, const Bounds<int>& bounds) {
  return number_field(head, "int", value, bounds, parse_int);
}

Field value_field(const FieldHead& head, double value, const Bounds<double>& bounds) {
  return number_field(head, "number", value, bounds, parse_number);
}

Field choice_field(const FieldHead& head, std::int64_t value, std::vector<Choice> choices,
                   void (*store)(void* member, std::int64_t value)) {
  std::string type, default_value;
  for (const Choice& choice : choices) {
    type += (type.empty() ? "" : "|") + std::string(choice.text);
    if (choice.value == value) default_value = choice.text;
  }
  auto assign = [known = std::move(choices), store, type](const std::string& where, const std::string& text,
                                                          void* member) {
    for (const Choice& choice : known)
      if (text == choice.text) return store(member, choice.value);
    throw UsageError{where, quoted(text) + " is not a choice", "choose one of " + type};
  };
  return {{head.name, type, default_value, head.help, ""}, head.offset, std::move(assign)};
}

std::vector<OptionInfo> describe(const Fields& fields) {
  std::vector<OptionInfo> infos;
  for (const Field& field : fields) infos.push_back(field.info);
  return infos;
}

void parse(const Fields& fields, const std::string& owner, const OptionValues& values, void* options) {
  check_names(describe(fields), owner, values);
  const std::string where = owner + " option ";
  for (const OptionValues::value_type& value : values) {
    const std::string &name = value.first, &text = value.second;
    const auto wanted = [&](const Field& field) { return field.info.name == name; };
    const auto field = std::find_if(fields.begin(), fields.end(), wanted);
    field->assign(where + name, text, static_cast<char*>(options) + field->offset);
  }
}

}  // namespace copse::detail

namespace copse {

void check_names(const std::vector<OptionInfo>& options, const std::string& owner,
                 const OptionValues& values) {
  for (const OptionValues::value_type& value : values) {
    const auto is_named = [&](const OptionInfo& option) { return option.name == value.first; };
    if (std::ranges::none_of(options, is_named))
      throw UsageError{owner, "no option " + quoted(value.first), "its options are " + names_of(options)};
  }
}

Fields joined(std::initializer_list<Fields> parts) {
  Fields all;
  for (const Fields& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace copse
