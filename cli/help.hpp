// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace copse::cli {

/// How --help looks: the default at the end of an option's description, one blank line between groups.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(32); }
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

/// `text` cut between words into lines of at most `width` characters, all but the first behind `indent`
/// blanks.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

}  // namespace copse::cli
