// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "copse/support/error.hpp"
#include "program.hpp"
#include "report.hpp"

namespace copse::cli {
namespace {

struct ReproduceOptions {
  std::string name;
  bool list = false, quick = false;
  std::string data;
  std::string directory = "reproduced";
};

int list_experiments(Session& session) {
  Output output("-");
  if (session.json) {
    Json rows = Json::array();
    for (const ExperimentRow& row : experiment_rows())
      rows.push_back(
          {{"name", row.name}, {"question", row.question}, {"paper", row.paper}, {"data", row.data}});
    output.write(rows.dump(2) + "\n");
  } else {
    for (const ExperimentRow& row : experiment_rows())
      output.write(fmt::format("{}\n  {}\n  {}\n  {}\n", row.name, wrapped(row.question, 100, 2),
                               wrapped(row.paper, 100, 2), wrapped(row.data, 100, 2)));
  }
  output.commit();
  return kDone;
}

void make_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error || !std::filesystem::is_directory(directory))
    throw InputError{directory,
                     "cannot be made a directory" + (error ? ": " + error.message() : std::string()),
                     "choose another with -o"};
}

void write_file(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

/// What was found, for whoever waits at the terminal; the tables are in the files.
std::string summary(const Report& report) {
  std::string text = report.title + "\n\n";
  for (const Finding& finding : report.findings)
    text += fmt::format("{:<13} {}\n              {}\n", to_string(finding.verdict),
                        wrapped(finding.statement, 86, 14), wrapped(finding.evidence, 86, 14));
  return text + "\n" + wrapped(report.agreement, 100, 0) + "\n";
}

int reproduce_one(Session& session, const ReproduceOptions& options, const ExperimentRow& row,
                  Output& output) {
  const ExperimentSetup setup{options.data, options.quick};
  const std::string stem = (std::filesystem::path(options.directory) / row.name).string();
  const ExperimentRun run = run_experiment(row, setup, stem + ".tsv", session.execution());
  session.bar().clear();
  if (run.num_resumed > 0)
    session.say("{}: {} of {} runs were there already", row.name, run.num_resumed, run.num_trials);
  if (run.interrupted) {
    session.complain("interrupted: what was run is in {}.tsv, and the same command goes on from there", stem);
    return kInterrupted;
  }
  const Report report = row.report(setup, run.results);
  const ReportFrame frame{
      row.name, row.paper, row.question,
      fmt::format("copse reproduce {}{}{} --seed {}", row.name, options.quick ? " --quick" : "",
                  options.data.empty() ? "" : " --data " + options.data, session.seed),
      fmt::format("{}, {} of one processor's time; every one is in {}.tsv", counted(run.num_trials, "run"),
                  duration_text(run.seconds), row.name)};
  write_file(stem + ".html", report_html(report, frame));
  write_file(stem + ".md", report_markdown(report, frame));
  output.write(session.json ? report_json(report, frame).dump(2) + "\n" : summary(report) + "\n");
  output.flush();
  session.say("{}.html is the report, {}.md its tables, {}.tsv every run", stem, stem, stem);
  return kDone;
}

int reproduce(Session& session, const ReproduceOptions& options) {
  if (options.list) return list_experiments(session);
  std::vector<const ExperimentRow*> chosen;
  if (options.name == "all") {
    for (const ExperimentRow& row : experiment_rows()) chosen.push_back(&row);
  } else if (options.name.empty()) {
    throw UsageError{"reproduce", "which experiment?", "give a name, or all; --list shows what there is"};
  } else {
    chosen.push_back(&experiment_row(options.name));
  }
  if (!options.data.empty() && !std::filesystem::is_directory(options.data))
    throw InputError{options.data, "is not a directory",
                     "--data is the directory that holds one folder a data set"};
  make_directory(options.directory);
  Output output("-");
  for (const ExperimentRow* row : chosen)
    if (const int code = reproduce_one(session, options, *row, output); code != kDone) return code;
  output.commit();
  return kDone;
}

}  // namespace

void add_reproduce(Program& program) {
  CLI::App* verb =
      add_verb(program.app, "reproduce",
               "Run an experiment of the papers and say what it confirms, with charts\n\n"
               "Every run is kept in a table: an interrupted experiment goes on where it stopped.",
               {"copse reproduce --list", "copse reproduce digits-online --quick -o out",
                "copse reproduce pounce-clusters --quick -o out --json"});
  auto options = std::make_shared<ReproduceOptions>();

  add_option(verb, "experiment NAME", options->name, "one of --list, or all");
  verb->add_flag("--list", options->list, "the experiments, and what each asks");
  verb->add_flag("--quick", options->quick, "fewer repeats and smaller sizes: a minute at most");
  add_option(
      verb, "--data DIR", options->data,
      "directory of the papers' data sets, one folder each; without it, the digits that copse carries");
  add_option(verb, "-o,--output DIR", options->directory, "directory for NAME.html, NAME.md and NAME.tsv");
  add_common(verb, program.session, kJson | kThreads | kSeed);
  on_run(verb, program.session, options, reproduce);
}

}  // namespace copse::cli
