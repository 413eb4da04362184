// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "copse/learners/registry.hpp"
#include "copse/queries/query.hpp"
#include "program.hpp"
#include "table.hpp"

// What users choose from a registry by name, with options: learners, query strategies.

namespace copse::cli {

/// The options of several rows as flags; values land in `values` under the option's own name.
void add_option_flags(CLI::App* verb, const std::vector<const Described*>& rows, OptionValues& values);

/// The learners that the command line names, or else these.
std::vector<const Described*> mentioned_learners(const Mentioned& mentioned,
                                                 const std::vector<std::string>& otherwise);

/// All options of a row as they are in effect, typed, for JSON.
Json effective_options(const Described& row, const OptionValues& values);
/// The same option as a user gave it or by default; empty if the row has none of that name.
std::string option_text(const Described& row, const OptionValues& values, const std::string& name);
/// "wta (num_trees=31, tree=rst, ...)".
std::string described_text(const Described& row, const OptionValues& values);

/// --learner and its options.
struct LearnerChoice {
  std::string name = "auto";
  OptionValues values;
  bool is_given = false;  // by the user, not by default
  const LearnerRow& row() const { return learner_row(name); }
  /// The same, but wta instead of a default that does not take the signs of the graph.
  const LearnerRow& row_for(const GraphView& graph) const;
};
void add_learner_options(CLI::App* verb, LearnerChoice& choice, const Mentioned& mentioned);

/// --strategy (or --active) and its options.
struct StrategyChoice {
  std::string name = query_rows().front().name;
  OptionValues values;
  const QueryRow& row() const { return query_row(name); }
};
void add_strategy_options(CLI::App* verb, const std::string& flag, StrategyChoice& choice,
                          const Mentioned& mentioned);
/// One paragraph per strategy, for help.
std::string strategies_text();

/// What labelled nodes are answered without their own label, for `flag`: UsageError where the learner cannot
/// say.
LeaveOneOut answers_left_out(const LearnerRow& learner, const Predictor& predictor, const std::string& flag,
                             const Execution& execution);

/// Each refuses a run that would not fit into memory, with the number of bytes, before it starts.
void check_memory(const LearnerRow& row, const OptionValues& values, const GraphView& graph,
                  std::size_t num_classes, int threads);
/// For a learner that stays: `online` and `explain`.
void check_online_memory(const LearnerRow& row, const OptionValues& values, const GraphView& graph,
                         int threads);
void check_memory(const StrategyChoice& choice, const GraphView& graph, std::size_t num_classes, int threads);
/// Bytes the system could give us now; 0 if it does not say.
std::uint64_t available_memory();

/// One learner as `evaluate` is told it: wta:num_trees=101.
struct Contestant {
  const LearnerRow* row;
  OptionValues values;
  std::string options;  // only those that were given, num_trees=101:tree=rst
};

/// The learners of a comma-separated list; `flags` go to every learner that has the option.
std::vector<Contestant> parse_contestants(const std::string& list, const OptionValues& flags);

/// "0.05,0.1": numbers between 0 and 1.
std::vector<double> parse_fractions(const std::string& list);

/// Repeated measurements.
struct Sample {
  std::vector<double> values;
  double mean() const;
  double deviation() const;  // of a sample: n - 1
  std::string text() const;  // "0.1234 ± 0.0056"
};

}  // namespace copse::cli
