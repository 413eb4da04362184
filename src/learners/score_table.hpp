// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "copse/graph/components.hpp"
#include "copse/learners/learner.hpp"
#include "copse/learners/prior.hpp"
#include "copse/learners/solved_learner.hpp"
#include "copse/support/buffer.hpp"

namespace copse {

/// The classes that some label has, and what the labelled nodes of each component have. Systems are solved
/// for these classes only: batch and online then solve the same columns, whatever classes are yet to come.
/// Tables a class exist for components with a label only: a graph may have millions of others.
class LabelledClasses {
 public:
  /// Of a signed graph both classes occur wherever there is a label.
  LabelledClasses(std::span<const Label> labels, const Components& components, bool is_signed = false);

  /// Classes, ascending; each is a column.
  const std::vector<Label>& classes() const { return classes_; }
  std::size_t count() const { return classes_.size(); }
  /// Of a class that some label has.
  std::size_t column(Label label) const { return column_[label]; }
  /// Labelled nodes, ascending.
  const std::vector<NodeId>& labelled() const { return labelled_; }

  bool is_reached(NodeId component) const { return index_[component] != kNoNode; }
  /// The reached components are numbered 0 ... num_reached() - 1.
  NodeId index(NodeId component) const { return index_[component]; }
  std::size_t num_reached() const { return num_labelled_.size(); }

  // Of a reached component, by column: labelled nodes, and those of a class.
  double num_labelled(NodeId component) const { return num_labelled_[index_[component]]; }
  double num_labelled(NodeId component, std::size_t c) const {
    return num_of_class_[index_[component] * count() + c];
  }
  bool occurs(NodeId component, std::size_t c) const { return is_signed_ || num_labelled(component, c) > 0; }
  std::size_t num_occurring(NodeId component) const { return num_occurring_[index_[component]]; }
  /// What each class is expected to take of the component; 0 for classes that do not occur in it. With one
  /// label of the column `left_out` less, if any.
  std::vector<double> expected_shares(NodeId component, PriorKind prior,
                                      std::size_t left_out = SIZE_MAX) const;

 private:
  std::vector<Label> classes_;
  std::vector<std::size_t> column_;
  std::vector<NodeId> labelled_;
  std::vector<NodeId> index_;         // by component
  std::vector<NodeId> num_labelled_;  // by index
  std::vector<NodeId> num_of_class_;  // by index and column
  std::vector<NodeId> num_occurring_;
  bool is_signed_;
};

/// One value per node and class that occurs: the raw scores, and how they become scores.
struct ScoreTable {
  ScoreTable(const GraphView& graph, std::span<const Label> labels, int threads)
      : components(connected_components(graph, threads)), classes(labels, components, graph.is_signed()) {}

  double* row(NodeId node) { return &values[std::size_t{node} * classes.count()]; }
  const double* row(NodeId node) const { return &values[std::size_t{node} * classes.count()]; }
  bool is_reached(NodeId node) const { return classes.is_reached(components.of_node[node]); }
  /// The scores of a reached node by column, not negative, not yet divided by their sum, which is returned:
  /// raw scores in their unit, clipped at 0.
  double weigh(NodeId node, std::span<double> weights) const;

  Components components;
  LabelledClasses classes;
  Buffer<double> values;
  std::vector<double> units;     // by reached component, what a raw score is multiplied by; empty: nothing
  bool shares_rest = false;      // what a row leaves to 1 goes evenly to the classes that occur
  bool has_all_classes = false;  // also those that no label of the component has
  LeaveOneOut left_out;          // where it comes with the solution
  std::vector<double>
      unreached;  // shares by column where no label reaches a node; empty: those of the labels
  std::vector<std::string> notes;
};

/// Labels are a noisy sample of the classes' sizes: this many more of each class are counted for the prior.
inline constexpr double kPriorSmoothing = 10;

/// Nodes of a component without a label, when there are enough of them for means over them to say something:
/// below that a solution can hardly collapse.
inline constexpr NodeId kFewestToShift = 100;

}  // namespace copse
