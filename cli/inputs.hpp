// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "copse/io/read_labels.hpp"
#include "copse/io/read.hpp"
#include "copse/learners/registry.hpp"
#include "program.hpp"
#include "table.hpp"

namespace copse::cli {

/// GRAPH and how to read it.
struct GraphInput {
  std::string path;
  std::string format = "automatic";
  std::string duplicates = "sum";
  std::string nodes;
  bool is_signed = false;
  bool takes_signs = true;  // the verb; otherwise a graph with negative edges is refused

  NamedGraph read(Session& session, ReadReport* report = nullptr) const;  // says what was merged and dropped
};
CLI::Option* add_graph_options(CLI::App* verb, GraphInput& input);

/// --labels and how to read it.
struct LabelsInput {
  std::string path;
  bool strict = false;

  Labels read(Session& session, const NamedGraph& graph) const;           // no label at all is an error
  Labels read_if_given(Session& session, const NamedGraph& graph) const;  // without a path all are unlabelled
  MultiLabels read_multi(Session& session, const NamedGraph& graph) const;
};
CLI::Option* add_labels_options(CLI::App* verb, LabelsInput& input);

/// Standard input can be read once: UsageError if several of `paths` are "-".
void check_standard_input(const std::vector<std::string>& paths);

/// The node of that name, or an error at `where` that suggests names near it.
NodeId find_node(const NodeNames& names, const std::string& name, const std::string& where);

/// --learner and its options.
struct LearnerChoice {
  std::string name = "wta";
  OptionValues values;
  const LearnerRow& row() const { return learner_row(name); }
};
void add_learner_options(CLI::App* verb, LearnerChoice& choice, const Mentioned& mentioned);
/// The options of several learners as flags; values land in `values` under the option's own name.
void add_option_flags(CLI::App* verb, const std::vector<std::string>& learners, OptionValues& values);

/// All options of a learner as they are in effect, typed, for JSON.
Json effective_options(const LearnerRow& row, const OptionValues& values);
/// The same option as a user gave it or by default; empty if the learner has none of that name.
std::string option_text(const LearnerRow& row, const OptionValues& values, const std::string& name);
/// "wta (num_trees=31, tree=rst, ...)".
std::string learner_text(const LearnerRow& row, const OptionValues& values);

/// Throws UsageError for a wrong option: before the graph is read, not after.
void check_options(const LearnerRow& row, const OptionValues& values);

/// Refuses a run that would not fit into memory, with the number of bytes, before it
/// starts.
void check_memory(const LearnerRow& row, const OptionValues& values, const GraphView& graph,
                  std::size_t num_classes, int threads);
/// The same for a learner that stays: `online` and `explain`.
void check_online_memory(const LearnerRow& row, const OptionValues& values, const GraphView& graph,
                         int threads);
/// Bytes the system could give us now; 0 if it does not say.
std::uint64_t available_memory();

}  // namespace copse::cli
