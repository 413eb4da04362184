// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "copse/io/edge_stream.hpp"
#include "copse/io/read.hpp"
#include "copse/io/read_labels.hpp"
#include "copse/learners/hints.hpp"
#include "points_input.hpp"
#include "program.hpp"
#include "table.hpp"

namespace copse::cli {

/// GRAPH and how to read it.
struct GraphInput {
  std::string path;
  std::string format = "automatic";
  std::string duplicates = "automatic";
  std::string nodes;
  std::string delimiter, columns;  // of an edge list
  bool no_header = false;
  bool is_signed = false;
  bool takes_signs = true;  // the verb; otherwise a graph with negative edges is refused
  PointsInput points;       // how points become a graph

  NamedGraph read(Session& session, ReadReport* report = nullptr) const;  // says what was merged and dropped
  /// The same with the edges in a file in `directory`.
  EdgeStream stream(Session& session, const std::string& directory, ReadReport& report) const;

 private:
  ReadOptions options() const;
};
CLI::Option* add_graph_options(CLI::App* verb, GraphInput& input);

/// --labels and how to read it.
struct LabelsInput {
  std::string path;
  bool strict = false;
  std::string node_column, label_column;

  Labels read(Session& session, const NodeNames& names) const;           // no label at all is an error
  Labels read_if_given(Session& session, const NodeNames& names) const;  // without a path all are unlabelled
  MultiLabels read_multi(Session& session, const NodeNames& names) const;

 private:
  LabelReadOptions options() const;
};
CLI::Option* add_labels_options(CLI::App* verb, LabelsInput& input);

/// What is known beside certain labels: --soft-labels, --prior, --class-sizes.
struct HintsInput {
  std::string soft_labels, prior, class_sizes;
  double prior_weight = Hints{}.prior_weight;

  bool empty() const { return soft_labels.empty() && prior.empty() && class_sizes.empty(); }
  /// May add classes to `labels`.
  Hints read(Session& session, const NodeNames& names, Labels& labels) const;
};
void add_hints_options(CLI::App* verb, HintsInput& input);

/// Standard input can be read once: UsageError if several of `paths` are "-".
void check_standard_input(const std::vector<std::string>& paths);

/// The node of that name, or an error at `where` that suggests names near it.
NodeId find_node(const NodeNames& names, const std::string& name, const std::string& where);

}  // namespace copse::cli
