// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "copse/support/error.hpp"
#include "session.hpp"

namespace copse::cli {

/// What the command line mentions decides which options exist: a learner's options are flags of the verb,
/// so they must be known before the line is parsed.
struct Mentioned {
  std::vector<std::string> learners;  // of --learner and --learners
  std::string family;                 // of `graph generate`
  std::string strategy;               // of --strategy and --active
  bool everything = false;            // for completion: the options of all of them
};
Mentioned mentioned_in(const std::vector<std::string>& arguments);

struct Program {
  CLI::App& app;
  Session& session;
  Mentioned mentioned;
};

/// All verbs. Each is one file; adding one is a line here and a line in program.cpp.
void add_verbs(Program& program);
void add_predict(Program& program);
void add_online(Program& program);
void add_query(Program& program);
void add_label(Program& program);
void add_serve(Program& program);
void add_evaluate(Program& program);
void add_explain(Program& program);
void add_audit(Program& program);
void add_report(Program& program);
void add_graph(Program& program);
void add_graph_info(Program& program, CLI::App& graph);
void add_graph_build(Program& program, CLI::App& graph);
void add_graph_check(Program& program, CLI::App& graph);
void add_graph_convert(Program& program, CLI::App& graph);
void add_graph_generate(Program& program, CLI::App& graph);
void add_tree(Program& program);
void add_resistance(Program& program);
void add_bound(Program& program);
void add_reproduce(Program& program);
void add_estimate(Program& program);
void add_learners(Program& program);
void add_completion(Program& program);

/// A verb of `parent`; `examples` end its help, one a line.
CLI::App* add_verb(CLI::App& parent, const std::string& name, const std::string& description,
                   const std::vector<std::string>& examples);

/// Text cut at every `separator`; no empty pieces.
std::vector<std::string> split(const std::string& text, char separator);

/// An option as help shows it: its names, and after a blank what its value is called, "-k,--count N". Help
/// ends with the value that it has now, unless that is 0 or empty.
template <class Value>
CLI::Option* add_option(CLI::App* verb, const std::string& usage, Value& value, const std::string& help) {
  const std::size_t blank = usage.find(' ');
  CLI::Option* option = verb->add_option(usage.substr(0, blank), value, help);
  option->type_name(usage.substr(blank + 1));
  if constexpr (std::is_same_v<Value, std::string>)
    option->default_str(value);
  else if constexpr (std::is_arithmetic_v<Value>)
    option->default_str(value == 0 ? "" : fmt::format("{}", value));
  return option;
}

/// Words that an option may have for a value, and what they mean.
template <class Value>
using Words = std::vector<std::pair<std::string, Value>>;

template <class Value>
std::string word_for(const Words<Value>& words, const Value& value) {
  for (const auto& [word, meaning] : words)
    if (meaning == value) return word;
  return "";
}

template <class Value>
CLI::Option* add_choice(CLI::App* verb, const std::string& flag, const Words<Value>& words, Value& value,
                        const std::string& help) {
  std::string all;
  for (const auto& row : words) all += (all.empty() ? "" : "|") + row.first;
  const std::string otherwise = word_for(words, value);
  const auto choose = [=, &value](const std::string& text) {
    for (const auto& [word, meaning] : words)
      if (text == word || (text == "auto" && word == "automatic")) {  // which is what fingers type
        value = meaning;
        return;
      }
    throw UsageError(flag, copse::quoted(text) + " is not one of " + all,
                     otherwise.empty() ? fmt::format("one of {}", fmt::join(split(all, '|'), ", "))
                                       : "leave it out for " + otherwise);
  };
  return verb->add_option_function<std::string>(flag, choose, help)->type_name(all)->default_str(otherwise);
}

/// While it lives, new options of the verb stand below this heading of the help.
class Heading {
 public:
  Heading(CLI::App* verb, const std::string& text)
      : verb_(verb), before_(verb->option_defaults()->get_group()) {
    verb->option_defaults()->group(text);
  }
  ~Heading() { verb_->option_defaults()->group(before_); }
  Heading(const Heading&) = delete;
  Heading& operator=(const Heading&) = delete;

 private:
  CLI::App* verb_;
  std::string before_;
};

// Checks of values; what is allowed stands in the text of the option.
inline CLI::Validator positive() { return CLI::PositiveNumber.description(""); }
template <class Value>
CLI::Validator in_range(Value low, Value high) {
  return CLI::Range(low, high).description("");
}
inline CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::IsMember(words).description("");
}

/// The options that mean the same everywhere, as far as they make sense for a verb.
enum CommonOptions {
  kOutput = 1,
  kJson = 2,
  kThreads = 4,
  kSeed = 8,
  kTable = kOutput | kJson,
  kAllCommon = 15
};
void add_common(CLI::App* verb, Session& session, int which);

/// When `verb` is the one parsed, `run(session, *options)` is what the program does.
template <class Options>
void on_run(CLI::App* verb, Session& session, std::shared_ptr<Options> options,
            int (*run)(Session&, const Options&)) {
  verb->final_callback([&session, options, run] {
    session.run = [&session, options, run] { return run(session, *options); };
  });
}

/// `text` cut between words into lines of at most `width` characters, all but the first behind `indent`
/// blanks.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

/// The number that the whole text is, if it is one.
std::optional<double> parse_number(const std::string& text);

}  // namespace copse::cli
