// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "choices.hpp"
#include "inputs.hpp"

namespace copse::cli {
namespace {

struct LearnersOptions {
  std::string name;
};

// On a terminal a table of sentences would be too wide: a block each, in 80 columns.
void show_learners(Output& output) {
  constexpr std::size_t kIndent = 4, kWidth = 80 - kIndent;
  const auto line = [&](const std::string& text) {
    output.write(std::string(kIndent, ' ') + wrapped(text, kWidth, kIndent) + "\n");
  };
  for (const LearnerRow& learner : learner_rows()) {
    output.write(emphasized(std::string(learner.name), STDOUT_FILENO) + "\n");
    line(std::string(learner.idea));
    line("cost: " + std::string(learner.cost));
    line(std::string(learner.paper));
  }
}

int learners(Session& session, const LearnersOptions& options) {
  Output output(session.output);
  if (options.name.empty() && !session.json && session.output == "-" && isatty(STDOUT_FILENO) != 0) {
    show_learners(output);
    output.commit();
    return kDone;
  }
  if (options.name.empty()) {
    Table table(output, session, {{"verb", "learners"}}, {"name", "idea", "cost", "paper"},
                Table::Size::small);
    for (const LearnerRow& learner : learner_rows())
      table.add(learner.name, learner.idea, learner.cost, learner.paper);
    table.finish();
    return kDone;
  }
  const LearnerRow& learner = learner_row(options.name);
  session.say("{}: {}\n  cost: {}\n  {}", learner.name, learner.idea, learner.cost, learner.paper);
  if (learner.depends_on_order) session.say("  the answers depend on the order in which labels are told");
  if (learner.signed_graphs) session.say("  takes graphs with negative edges (--signed)");
  Table table(output, session, {{"verb", "learners"}, {"learner", learner.name}},
              {"option", "type", "default", "range", "help"}, Table::Size::small);
  for (const OptionInfo& info : learner.options)
    table.add(info.name, info.type, info.default_value, info.range, info.help);
  table.finish({{"idea", learner.idea},
                {"cost", learner.cost},
                {"paper", learner.paper},
                {"depends_on_order", learner.depends_on_order},
                {"signed_graphs", learner.signed_graphs}});
  return kDone;
}

}  // namespace

void add_learners(Program& program) {
  CLI::App* verb = add_verb(program.app, "learners", "List the learners, or the options of one",
                            {"copse learners", "copse learners wta"});
  auto options = std::make_shared<LearnersOptions>();
  add_option(verb, "LEARNER NAME", options->name, "show the options of this one");
  add_common(verb, program.session, kTable);
  on_run(verb, program.session, options, learners);
}

}  // namespace copse::cli
