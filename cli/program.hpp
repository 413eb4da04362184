// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

/// Text cut at every `separator`; no empty pieces.
std::vector<std::string> split(const std::string& text, char separator);

/// The number that the whole text is, if it is one.
std::optional<double> parse_number(const std::string& text);

}  // namespace copse::cli
