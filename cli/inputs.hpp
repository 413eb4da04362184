// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "copse/evaluation/left_out.hpp"
#include "copse/io/edge_stream.hpp"
#include "copse/io/read.hpp"
#include "copse/io/read_labels.hpp"
#include "copse/learners/hints.hpp"
#include "copse/points/similarity_graph.hpp"
#include "program.hpp"
#include "table.hpp"
#include "trees/similarity_forest.hpp"

namespace copse::cli {

/// POINTS and how to make a graph of them. The defaults are the library's.
struct PointsInput {
  std::string path;
  PointsReadOptions reading;
  SimilarityOptions options;       // as far as they do not depend on the points
  std::optional<std::uint32_t> k;  // by default 10, or all others where there are fewer
  std::optional<double> scale, epsilon;
  bool complete = false;
  std::optional<SimilarityTree> tree;  // instead: that tree of all pairs

  /// Reads, builds, and says on stderr what was done.
  NamedGraph build(Session& session) const;
};

/// --similarity-tree, for `graph build` and for every verb that takes points for a graph.
void add_similarity_tree_option(CLI::App* verb, PointsInput& input);

/// GRAPH and how to read it.
struct GraphInput {
  std::string path;
  ReadOptions options;
  PointsInput points;  // how points become a graph

  NamedGraph read(Session& session, ReadReport* report = nullptr) const;  // says what was merged and dropped
  /// The same with the edges in a file in `directory`.
  EdgeStream stream(Session& session, const std::string& directory, ReadReport& report) const;
};
CLI::Option* add_graph_options(CLI::App* verb, GraphInput& input);

/// One label per node, or with --multi-label a set of them; learners see the classes or the sets that occur.
struct GivenLabels {
  Labels one;
  MultiLabels many;
  bool is_multi = false;

  std::vector<Label>& of_node() { return is_multi ? many.set_of_node : one.of_node; }
  const std::vector<Label>& of_node() const { return is_multi ? many.set_of_node : one.of_node; }
  std::size_t num_answers() const { return is_multi ? many.sets.size() : one.classes.size(); }
  const ClassNames& classes() const { return is_multi ? many.classes : one.classes; }

  std::vector<std::string_view> names(std::span<const Label> labels) const;  // of classes
  std::vector<std::string_view> names(Label answer) const;                   // of a class, or of a set's
  std::string text(Label answer) const;                                      // the same, between commas
  void write(RowBuffer& row, std::span<const std::string_view> names) const;
  /// Scores of the classes from those of the answers, which are all that a learner knows.
  std::vector<double> class_scores(std::span<const double> scores) const;
  /// The set of these names (between commas), or the class; kNoLabel where it is new.
  Label find(const std::string& text) const;
  Label intern(const std::string& text);
  /// A set as a class of its own, called by its names.
  Labels as_classes() const;
  /// Where sets are told or called by the names of their classes: UsageError if one of these holds a comma.
  void refuse_commas() const;
};

/// --labels and how to read it.
struct LabelsInput {
  std::string path;
  bool multi_label = false;
  LabelReadOptions options;

  Labels read(Session& session, const NodeNames& names) const;           // no label at all is an error
  GivenLabels read_any(Session& session, const NodeNames& names) const;  // without a path all are unlabelled

 private:
  void say(Session& session, const LabelReadReport& report, std::uint64_t num_labelled,
           const std::string& classes) const;
};
CLI::Option* add_labels_options(CLI::App* verb, LabelsInput& input);
/// For verbs that read_any(); `answers` says how sets are answered.
void add_multi_label_flag(CLI::App* verb, LabelsInput& input, const std::string& answers);
/// --thresholds, of verbs that answer or judge all nodes.
void add_thresholds_option(CLI::App* verb, Thresholds& thresholds);

/// What is known beside certain labels: --soft-labels, --prior, --class-sizes.
struct HintsInput {
  std::string soft_labels, prior, class_sizes;
  double prior_weight = Hints{}.prior_weight;

  bool empty() const { return soft_labels.empty() && prior.empty() && class_sizes.empty(); }
  /// May add classes to `labels`.
  Hints read(Session& session, const NodeNames& names, Labels& labels) const;
};
void add_hints_options(CLI::App* verb, HintsInput& input);

/// Standard input can be read once: UsageError if several of the graph, its nodes and `paths` are "-".
void check_standard_input(const GraphInput& graph, std::vector<std::string> paths);

/// The node of that name, or an error at `where` that suggests names near it.
NodeId find_node(const NodeNames& names, const std::string& name, const std::string& where);

}  // namespace copse::cli
