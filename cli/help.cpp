// SPDX-License-Identifier: Apache-2.0
#include "help.hpp"

namespace copse::cli {

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  const std::size_t usage = text.find("\nUsage: ");
  if (usage != std::string::npos) text.insert(usage, "\n");
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
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
