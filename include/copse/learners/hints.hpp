// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "copse/graph/labels.hpp"
#include "copse/learners/registry.hpp"

namespace copse {

/// What is known beside the graph and the labels that are certain (docs/hints.md).
struct Hints {
  /// Weights above 0, those of a node at most 1 in all: what is left to 1 is the share of the node's
  /// neighbours in its answer.
  std::vector<SoftLabel> labels;
  /// What another model thinks: a row of num_classes shares for every node, >= 0, of any sum; all 0 where it
  /// says nothing. Rows of nodes that have a label are not looked at. Empty: there is none.
  std::vector<double> prior;
  /// What the model's word weighs at a node, its neighbours together being 1.
  double prior_weight = 0.2;
  /// What every class has of the nodes, in any unit. Empty: nobody knows.
  std::vector<double> class_sizes;

  bool empty() const { return labels.empty() && prior.empty() && class_sizes.empty(); }
};

/// LearnerRow::fit with hints, for every learner that does not depend on the order of labels; a prior is for
/// auto, label_propagation, kernel_ridge, wta, tree_cut and majority_vote. A soft label becomes a labelled
/// node beside its node (for auto, the likeliest of each node), a prior one per class that all nodes are
/// joined to (the "dongles" of Zhu, Ghahramani & Lafferty 2003, section 5). Given class sizes, scores are
/// multiplied by one factor per class so that answers have these sizes. Where one class is all there is, auto
/// and label_propagation rank nodes: see docs/hints.md.
BatchResult fit_with_hints(const LearnerRow& learner, const GraphView& graph, std::span<const Label> labels,
                           std::size_t num_classes, const Hints& hints, const OptionValues& options,
                           const Execution& execution);

}  // namespace copse
