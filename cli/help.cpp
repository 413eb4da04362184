// SPDX-License-Identifier: Apache-2.0
#include "help.hpp"

#include <sstream>

namespace copse::cli {

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  const std::size_t usage = text.find("\nUsage: ");
  if (usage != std::string::npos) text.insert(usage, "\n");
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

// In a list of verbs the first line says enough.
std::string HelpFormatter::make_subcommand(const CLI::App* verb) const {
  const std::string description = verb->get_description();
  std::ostringstream out;
  CLI::detail::format_help(out, verb->get_name(), description.substr(0, description.find('\n')),
                           get_column_width());
  return out.str();
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string lines, line, word;
  std::istringstream words(text);
  for (; words >> word; line += (line.empty() ? "" : " ") + word) {
    if (line.empty() || line.size() + 1 + word.size() <= width) continue;
    lines += line + "\n" + std::string(indent, ' ');
    line.clear();
  }
  return lines + line;
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const std::string type = option->get_type_name();
  return (type.empty() ? "" : " " + type) +
         (option->get_required() && !option->get_positional() ? " (required)" : "");
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  const std::string value = option->get_default_str();
  return option->get_description() + (value.empty() ? "" : " [" + value + "]");
}

}  // namespace copse::cli
