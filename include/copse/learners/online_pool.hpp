// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "copse/graph/components.hpp"
#include "copse/learners/labelled_learner.hpp"
#include "copse/learners/option_blocks.hpp"

namespace copse {

struct OnlinePoolOptions {
  int num_trees = kDefaultTrees;

  static Fields fields() {
    return {num_trees_field(&OnlinePoolOptions::num_trees, "trees of its member wta")};
  }
};

/// Four learners that take a label in little time, weighed by how they fared so far: personalised PageRank,
/// ridge regression in a PageRank kernel, `wta`, and ridge regression on a spectral embedding. Every label
/// is first predicted, and a gradient step on the log loss of that prediction moves the weights. What it says
/// is a probability. docs/learners/online_pool.md.
class OnlinePool final : public LabelledLearner, public FitsByRevealing<OnlinePool, OnlinePoolOptions> {
 public:
  static constexpr SignUse kSigns = SignUse::refused;
  OnlinePool(const GraphView& graph, const Options& options, const Execution& execution);
  ~OnlinePool() override;

  /// A label that replaces another one counts as told now.
  void reveal(NodeId node, Label label) override;
  BatchResult reveal_all(std::span<const Label> labels) override;
  /// Plays all labels again without that one: the weights were learned in the order of the labels.
  void retract(NodeId node) override;

  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  double weigh(NodeId node, std::span<double> weights) const override;
  /// Those of `wta`.
  std::vector<Reason> reasons(NodeId node) const override;
  void learn(NodeId node, Label label);

  struct State;
  std::uint64_t seed_;
  Components components_;
  std::vector<NodeId> num_labelled_;  // by component
  std::vector<NodeId> order_;         // of the labels
  std::unique_ptr<State> state_;
};

}  // namespace copse
