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
struct LabelledClasses {
  LabelledClasses(std::span<const Label> labels, const Components& components);

  std::size_t count() const { return classes.size(); }
  bool is_reached(NodeId component) const { return num_labelled[component] > 0; }
  /// What each class (by column) is expected to take of a component that some label reaches; 0 for classes
  /// that do not occur in it.
  std::vector<double> expected_shares(NodeId component, PriorKind prior) const;
  bool occurs(NodeId component, std::size_t c) const { return num_of_class[component * count() + c] > 0; }
  /// Classes that occur in a component.
  std::size_t num_occurring(NodeId component) const;

  std::vector<Label> classes;               // ascending
  std::vector<std::size_t> column;          // of a class; meaningless for the others
  std::vector<NodeId> labelled;             // nodes, ascending
  std::vector<NodeId> num_labelled;         // by component
  std::vector<std::uint32_t> num_of_class;  // by component and column
};

/// One value a node and class that occurs; once finished, the scores: non-negative, not yet divided by
/// their sum.
struct ScoreTable {
  ScoreTable(const GraphView& graph, std::span<const Label> labels, int threads)
      : components(connected_components(graph, threads)), classes(labels, components) {}

  double* row(NodeId node) { return &values[std::size_t{node} * classes.count()]; }
  const double* row(NodeId node) const { return &values[std::size_t{node} * classes.count()]; }
  bool is_reached(NodeId node) const { return classes.is_reached(components.of_node[node]); }

  Components components;
  LabelledClasses classes;
  Buffer<double> values;
  std::vector<std::string> notes;
};

/// Labels are a noisy sample of the classes' sizes: this many more of each class are counted for the prior.
inline constexpr double kPriorSmoothing = 10;

/// Nodes of a component without a label, when there are enough of them for means over them to say something:
/// below that a solution can hardly collapse.
inline constexpr NodeId kFewestToShift = 100;

/// Batch by an online learner that solves when it is asked.
template <class L>
BatchResult fit_by_solving(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                           const typename L::Options& options, const Execution& execution);

}  // namespace copse

#include "learners/fit_by_revealing.hpp"

namespace copse {

template <class L>
BatchResult fit_by_solving(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                           const typename L::Options& options, const Execution& execution) {
  auto learner = std::make_unique<L>(graph, options, execution);
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    if (labels[node] != kNoLabel) learner->reveal(node, labels[node]);
  }
  BatchResult result;
  result.notes = learner->notes();
  result.predictor = std::make_unique<Revealed<L>>(std::move(learner), num_classes);
  return result;
}

}  // namespace copse
