// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/option_blocks.hpp"
#include "copse/learners/solved_learner.hpp"

namespace copse {

struct AutoOptions {
  int num_trees = kDefaultTrees;

  static Fields fields() { return {num_trees_field(&AutoOptions::num_trees, "trees of its member wta")}; }
};

/// A pool of label_propagation, kernel_ridge, embedding and wta, whose scores are probabilities: what members
/// say of each labelled node without its own label (Predictor::leave_one_out) decides by logistic regression
/// how much each of them counts. A member too dear for the size of the graph is left out, and a note says
/// so: which ones is a function of the graph and the labels alone. docs/learners/auto.md.
class Auto final : public SolvedLearner {
 public:
  using Options = AutoOptions;
  static constexpr SignUse kSigns = SignUse::refused;
  Auto(const GraphView& graph, const Options& options, const Execution& execution);

  /// The probabilities that the weights were found with.
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override;

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  /// Those of label_propagation.
  std::vector<Reason> reasons(NodeId node) const override;
  ScoreTable solve() const override;
  Options options_;
};

}  // namespace copse
