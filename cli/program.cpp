// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <charconv>
#include <sstream>
#include <stdexcept>

#include "papers/generators.hpp"

namespace copse::cli {

namespace {

/// How --help looks: the default at the end of an option's description, one blank line between groups.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(32); }
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    const std::size_t usage = text.find("\nUsage: ");
    if (usage != std::string::npos) text.insert(usage, "\n");
    for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
    return text;
  }

  // In a list of verbs the first line says enough.
  std::string make_subcommand(const CLI::App* verb) const override {
    const std::string description = verb->get_description();
    std::ostringstream out;
    CLI::detail::format_help(out, verb->get_name(), description.substr(0, description.find('\n')),
                             get_column_width());
    return out.str();
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return (type.empty() ? "" : " " + type) +
           (option->get_required() && !option->get_positional() ? " (required)" : "");
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string value = option->get_default_str();
    return option->get_description() + (value.empty() ? "" : " [" + value + "]");
  }
};

}  // namespace

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

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> pieces;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

std::optional<double> parse_number(const std::string& text) {
  try {
    std::size_t used = 0;
    const double value = std::stod(text, &used);
    if (used == text.size()) return value;
  } catch (const std::logic_error&) {  // no number at all, or out of range
  }
  return std::nullopt;
}

Mentioned mentioned_in(const std::vector<std::string>& arguments) {
  Mentioned mentioned;
  const auto value_of = [&](std::size_t i, const std::string& flag) -> std::string {
    if (arguments[i].starts_with(flag + "=")) return arguments[i].substr(flag.size() + 1);
    return arguments[i] == flag && i + 1 < arguments.size() ? arguments[i + 1] : "";
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (const char* flag : {"--learner", "--learners"})
      for (const std::string& one : split(value_of(i, flag), ','))
        mentioned.learners.push_back(one.substr(0, one.find(':')));
    for (const char* flag : {"--strategy", "--active"})
      if (const std::string strategy = value_of(i, flag); !strategy.empty()) mentioned.strategy = strategy;
    if (i < 2 || arguments[0] != "graph" || arguments[1] != "generate") continue;
    for (const GeneratorRow& row : all_generator_rows())
      if (arguments[i] == row.name && mentioned.family.empty()) mentioned.family = row.name;
  }
  return mentioned;
}

void add_verbs(Program& program) {
  program.app.require_subcommand(1);
  program.app.formatter(std::make_shared<HelpFormatter>());  // verbs inherit it
  add_predict(program);
  add_online(program);
  add_query(program);
  add_label(program);
  add_serve(program);
  add_evaluate(program);
  add_explain(program);
  add_audit(program);
  add_report(program);
  add_graph(program);
  add_tree(program);
  add_resistance(program);
  add_bound(program);
  add_reproduce(program);
  add_estimate(program);
  add_learners(program);
  add_completion(program);  // last: it lists the others
}

void add_graph(Program& program) {
  CLI::App* graph =
      add_verb(program.app, "graph", "Facts about graphs, formats, and the papers' families", {});
  graph->require_subcommand(1);
  graph->set_help_flag("-h,--help", "this text");
  add_graph_info(program, *graph);
  add_graph_build(program, *graph);
  add_graph_check(program, *graph);
  add_graph_convert(program, *graph);
  add_graph_generate(program, *graph);
}

CLI::App* add_verb(CLI::App& parent, const std::string& name, const std::string& description,
                   const std::vector<std::string>& examples) {
  CLI::App* verb = parent.add_subcommand(name, description);
  verb->set_help_flag();  // add_common puts it last
  std::string footer = "\nExamples:";
  for (const std::string& example : examples) footer += "\n  " + example;
  if (!examples.empty()) verb->footer(footer);
  return verb;
}

namespace {

int parse_digits(const std::string& text) {
  if (text == "exact") return kExactDigits;
  int digits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digits);
  if (error != std::errc{} || end != text.data() + text.size() || digits < 1 || digits > 17)
    throw UsageError("--digits", copse::quoted(text) + " is not a number of digits",
                     "1 to 17, or exact: the fewest that read back as the same number");
  return digits;
}

}  // namespace

void add_common(CLI::App* verb, Session& session, int which) {
  const Heading heading(verb, "Common options");
  if ((which & kSeed) != 0)
    add_option(verb, "--seed N", session.seed, "same seed, same answer, on any number of threads")
        ->check([](const std::string& text) {
          const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
          return is_number ? std::string() : copse::quoted(text) + " is no whole number from 0 on";
        });
  if ((which & kThreads) != 0)
    add_option(verb, "--threads N", session.threads, "threads to use (default: all processors)")
        ->default_str("")
        ->check(in_range(1, 4096));
  if ((which & kJson) != 0) {
    verb->add_flag("--json", session.json, "JSON instead of TSV");
    verb->add_option_function<std::string>(
            "--digits", [&session](const std::string& text) { session.digits = parse_digits(text); },
            "significant digits of numbers in the table, or exact: read back, they are the same to the bit")
        ->type_name("N")
        ->default_str(std::to_string(session.digits));
  }
  if ((which & kOutput) != 0)
    add_option(verb, "-o,--output FILE", session.output,
               "write there instead of standard output; .gz, .zst, .xz, .bz2 compress")
        ->default_str("");
  verb->add_flag("-q,--quiet", session.quiet, "say nothing but errors on stderr");
  verb->set_help_flag("-h,--help", "this text");
}

}  // namespace copse::cli
