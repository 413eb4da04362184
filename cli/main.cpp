// SPDX-License-Identifier: Apache-2.0
// The copse program: parse, run one verb, translate errors, once.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <sstream>

#include "choices.hpp"
#include "copse/support/error.hpp"
#include "inputs.hpp"
#include "program.hpp"
#include "suggest.hpp"
#include "support/atomic_file.hpp"
#include "table.hpp"

namespace copse::cli {
namespace {

// The verb that was typed, as far as the line was understood: "copse graph info".
CLI::App* innermost(CLI::App& app) {
  CLI::App* verb = &app;
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
  return verb;
}

std::string full_name(const CLI::App* verb) {
  return verb->get_parent() == nullptr ? "copse" : full_name(verb->get_parent()) + " " + verb->get_name();
}

std::vector<std::string> known_words(const CLI::App* verb, bool flags) {
  std::vector<std::string> words;
  if (flags) {
    for (const CLI::Option* option : verb->get_options())
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  } else {
    for (const CLI::App* child : verb->get_subcommands([](const CLI::App*) { return true; }))
      words.push_back(child->get_name());
  }
  return words;
}

// What CLI11 could not place says more about a slip than the option it then found missing.
std::string explain_leftover(const CLI::App* verb, const std::string& word, const Mentioned& mentioned) {
  const bool is_flag = word.starts_with("-");
  const std::string flag = word.substr(0, word.find('='));
  const std::vector<std::string> known = known_words(verb, is_flag);
  std::string text = full_name(verb) + ": ";
  if (is_flag)
    text += "there is no option " + flag;
  else
    text += known.empty() ? "does not know what to do with " + copse::quoted(word)
                          : "there is no verb " + copse::quoted(word);
  const std::string meant = nearest(is_flag ? flag : word, known);
  if (!meant.empty())
    text += fmt::format("\n  did you mean {}?", meant);
  else if (!is_flag && !known.empty())
    text += fmt::format("\n  the verbs are {}", fmt::join(known, ", "));
  const bool has_strategy = verb->get_option_no_throw("--strategy") != nullptr;
  if (is_flag && (has_strategy || verb->get_option_no_throw("--learner") != nullptr)) {
    std::string options;
    const Described& row =
        has_strategy
            ? static_cast<const Described&>(
                  query_row(mentioned.strategy.empty() ? StrategyChoice{}.name : mentioned.strategy))
            : learner_row(mentioned.learners.empty() ? LearnerChoice{}.name : mentioned.learners.front());
    for (const OptionInfo& info : row.options) options += " --" + info.name;
    std::replace(options.begin(), options.end(), '_', '-');
    text += fmt::format("\n  the options of {} are{}", row.name, options.empty() ? " none" : options);
  }
  return text + fmt::format("\n  {} --help shows the rest", full_name(verb));
}

bool stdout_is_closed() {
  pollfd stdout_poll{STDOUT_FILENO, POLLOUT, 0};
  return poll(&stdout_poll, 1, 0) == 1 && (stdout_poll.revents & POLLERR) != 0;
}

// As a program that knows nothing of pipes would end, which is what shells expect.
int end_by_closed_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  return kBadInput;
}

// `copse help VERB` and `copse version`, as other programs have them.
std::vector<std::string> without_habits(std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  if (arguments[0] == "help") {
    arguments.erase(arguments.begin());
    arguments.push_back("--help");
  } else if (arguments[0] == "version") {
    arguments[0] = "--version";
  }
  return arguments;
}

int parse_and_run(CLI::App& app, Session& session, std::vector<std::string> arguments) {
  const Mentioned mentioned = mentioned_in(arguments);
  Program program{app, session, mentioned};
  add_verbs(program);
  try {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(arguments);
  } catch (const CLI::Success& help) {
    std::ostringstream text;
    const int code = app.exit(help, text, text);
    Output output("-");  // which tells of a full disk or a closed descriptor
    output.write(text.str());
    output.commit();
    return code;
  } catch (const CLI::ParseError& error) {
    CLI::App* verb = innermost(app);
    const std::vector<std::string> leftover = verb->remaining();
    const std::vector<std::string> verbs = known_words(verb, false);
    std::string text = fmt::format("{}: {}", full_name(verb), error.what());
    if (!verbs.empty())
      text = fmt::format("{}: which verb? One of {}", full_name(verb), fmt::join(verbs, ", "));
    session.complain(leftover.empty()
                         ? text + fmt::format("\n  {} --help shows how it is used", full_name(verb))
                         : explain_leftover(verb, leftover.front(), mentioned));
    return kBadInput;
  }
  session.bar().enable(!session.quiet);
  return session.run();
}

constexpr std::string_view kOutOfMemory =
    "copse: out of memory\n  `copse estimate` tells what a run takes; --threads 1 takes the least\n";

// What nobody could catch is thrown where there is no room: before there is a session, by TBB on a thread of
// its own, or in a destructor that needs some (those of nlohmann/json do).
[[noreturn]] void end_by_uncaught() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const Error&) {
  } catch (const std::logic_error&) {
  } catch (...) {
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, kOutOfMemory.data(), kOutOfMemory.size());
    remove_unfinished_files();
    _exit(kBadInput);
  }
  std::abort();
}

int run(const std::vector<std::string>& arguments) {
  Session session;
  CLI::App app("copse predicts the labels of a graph's nodes from the few that are known.", "copse");
  app.set_version_flag("--version", "copse " COPSE_VERSION, "the version");
  app.set_help_flag("-h,--help", "this text");
  app.footer(
      "\n`copse VERB --help`, or `copse help VERB`, shows a verb's options and examples.\n\nExamples:\n"
      "  copse predict graph.tsv --labels labels.tsv\n"
      "  copse evaluate graph.tsv --labels labels.tsv --train 0.1,0.5");
  catch_interrupts();
  try {
    const int code = parse_and_run(app, session, without_habits(arguments));
    session.bar().clear();
    return code;
  } catch (const ClosedPipe&) {
    session.bar().clear();
    return end_by_closed_pipe();
  } catch (const Cancelled&) {
    session.complain("interrupted before there was a result");
    return kInterrupted;
  } catch (const Error& error) {
    if (stdout_is_closed()) return end_by_closed_pipe();
    session.complain(error.what());
    return kBadInput;
  } catch (const std::bad_alloc&) {
    session.complain(kOutOfMemory.substr(0, kOutOfMemory.size() - 1));
    return kBadInput;
  } catch (const std::exception& error) {
    session.complain("copse: {}\n  this should not happen: please report it with the command line",
                     error.what());
    return kBadInput;
  }
}

}  // namespace
}  // namespace copse::cli

// What else throws outside run()'s handlers is a mistake of ours in the options, and every run would show it.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  std::set_terminate(copse::cli::end_by_uncaught);
  copse::cli::open_standard_descriptors();
  return copse::cli::run({argv + 1, argv + argc});
}
