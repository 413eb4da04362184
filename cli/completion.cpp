// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "choices.hpp"
#include "inputs.hpp"

// Scripts for shells, generated from the tree of verbs itself: they cannot go stale.

namespace copse::cli {
namespace {

struct CompletionOptions {
  std::string shell;
};

struct Flag {
  std::string name, help;
  std::vector<std::string> choices;  // empty where the value is a file or a number
  bool takes_value = false;
};
struct Verb {
  std::string path;  // "graph info"
  std::string help;  // first line
  std::vector<std::string> children;
  std::vector<Flag> flags;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<Verb> list_verbs(const CLI::App& root) {
  std::vector<Verb> verbs;
  std::vector<std::pair<const CLI::App*, std::string>> waiting{{&root, ""}};
  while (!waiting.empty()) {
    const auto [app, path] = waiting.back();
    waiting.pop_back();
    Verb verb{path, first_line(app->get_description()), {}, {}};
    for (const CLI::App* child : app->get_subcommands([](const CLI::App*) { return true; })) {
      verb.children.push_back(child->get_name());
      waiting.emplace_back(child, path + (path.empty() ? "" : " ") + child->get_name());
    }
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_positional()) continue;
      std::string type = option->get_type_name();
      if (type == "NAME") type = names_of(learner_rows(), "|");  // --learner
      const bool is_choice = type.find('|') != std::string::npos;
      for (const std::string& name : split(option->get_name(false, true), ','))
        verb.flags.push_back({name, option->get_description(),
                              is_choice ? split(type, '|') : std::vector<std::string>{},
                              option->get_items_expected_max() > 0});
    }
    verbs.push_back(std::move(verb));
  }
  std::sort(verbs.begin(), verbs.end(), [](const Verb& a, const Verb& b) { return a.path < b.path; });
  return verbs;
}

// Single-quoted for every shell here.
std::string quote(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4)
    text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

// zsh loads bash completions by itself: one script serves both.
std::string bash_script(const std::vector<Verb>& verbs) {
  std::string text =
      "# copse: bash completion. Use: source <(copse completion bash)\n"
      "_copse() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" verb=\"\" i\n"
      "  for ((i = 1; i < COMP_CWORD && i < 3; i++)); do\n"
      "    case \"$verb${verb:+ }${COMP_WORDS[i]}\" in\n";
  for (const Verb& verb : verbs)
    if (!verb.path.empty()) text += fmt::format("      {0}) verb={0} ;;\n", quote(verb.path));
  text += "    esac\n  done\n  COMPREPLY=()\n  case \"$verb:$before\" in\n";
  for (const Verb& verb : verbs)
    for (const Flag& flag : verb.flags) {
      const std::string pattern = quote(verb.path + ":" + flag.name);
      if (!flag.choices.empty())
        text += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n", pattern,
                            fmt::join(flag.choices, " "));
      else if (flag.takes_value)
        text += fmt::format("    {}) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", pattern);
    }
  text += "  esac\n  case \"$verb\" in\n";
  for (const Verb& verb : verbs) {
    std::string names;
    for (const Flag& flag : verb.flags) names += (names.empty() ? "" : " ") + flag.name;
    text +=
        fmt::format("    {})\n      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n",
                    quote(verb.path), names);
    text += verb.children.empty() ? "      else COMPREPLY=($(compgen -f -- \"$word\"))\n"
                                  : fmt::format("      else COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n",
                                                fmt::join(verb.children, " "));
    text += "      fi ;;\n";
  }
  return text + "  esac\n}\ncomplete -o filenames -F _copse copse\n";
}

std::string zsh_script(const std::vector<Verb>& verbs) {
  return "#compdef copse\n# copse: zsh completion. Use: source <(copse completion zsh)\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_script(verbs);
}

std::string fish_script(const std::vector<Verb>& verbs) {
  std::string text = "# copse: fish completion. Use: copse completion fish | source\n";
  for (const Verb& verb : verbs) {
    std::string condition = "__fish_use_subcommand";
    if (!verb.path.empty()) {
      condition.clear();
      for (const std::string& word : split(verb.path, ' '))
        condition += (condition.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + word);
      const std::size_t blank = verb.path.rfind(' ');
      const std::string parent = blank == std::string::npos
                                     ? "__fish_use_subcommand"
                                     : "__fish_seen_subcommand_from " + verb.path.substr(0, blank);
      text +=
          fmt::format("complete -c copse -n {} -a {} -d {}\n", quote(parent),
                      blank == std::string::npos ? verb.path : verb.path.substr(blank + 1), quote(verb.help));
    }
    for (const Flag& flag : verb.flags) {
      text += fmt::format("complete -c copse -n {} -{} {} -d {}", quote(condition),
                          flag.name.starts_with("--") ? "l" : "s",
                          flag.name.substr(flag.name.starts_with("--") ? 2 : 1), quote(flag.help));
      if (!flag.choices.empty())
        text += fmt::format(" -x -a {}", quote(fmt::format("{}", fmt::join(flag.choices, " "))));
      else if (flag.takes_value)
        text += " -r";
      text += "\n";
    }
  }
  return text;
}

int completion(Session& session, const CompletionOptions& options) {
  CLI::App app("copse", "copse");
  Session other;
  Program program{app, other, {.learners = {}, .family = "", .strategy = "", .everything = true}};
  add_verbs(program);
  const std::vector<Verb> verbs = list_verbs(app);
  Output output(session.output);
  if (options.shell == "bash")
    output.write(bash_script(verbs));
  else if (options.shell == "zsh")
    output.write(zsh_script(verbs));
  else if (options.shell == "fish")
    output.write(fish_script(verbs));
  else
    throw UsageError("completion", "knows no shell " + copse::quoted(options.shell),
                     "one of bash, zsh, fish");
  output.commit();
  return kDone;
}

}  // namespace

void add_completion(Program& program) {
  CLI::App* verb =
      add_verb(program.app, "completion", "Print a script by which a shell completes verbs and options",
               {"copse completion bash > copse.bash", "copse completion fish"});
  auto options = std::make_shared<CompletionOptions>();
  add_option(verb, "SHELL bash|zsh|fish", options->shell, "bash, zsh or fish")->required();
  add_common(verb, program.session, kOutput);
  on_run(verb, program.session, options, completion);
}

}  // namespace copse::cli
