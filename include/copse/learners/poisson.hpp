// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/options.hpp"
#include "copse/learners/prior.hpp"
#include "copse/learners/solved_learner.hpp"

namespace copse {

struct PoissonOptions {
  bool balance = false;
  PriorKind prior = PriorKind::labels;
  double tolerance = 1e-8;
  int max_iterations = 10000;

  static Fields fields() {
    using Self = PoissonOptions;
    return {
        field("balance", &Self::balance, "move the borders so that each class takes what the prior expects"),
        prior_choice(&Self::prior),
        field("tolerance", &Self::tolerance, "backward error at which the solver stops", between(1e-14, 0.1)),
        field("max_iterations", &Self::max_iterations, "most iterations of the solver", at_least(1))};
  }
};

/// Poisson learning (Calder, Cook, Thorpe & Slepcev 2020): labels are sources and sinks of a current, scores
/// the potentials; made for very few labels. docs/learners/poisson.md.
class Poisson final : public SolvedLearner {
 public:
  using Options = PoissonOptions;
  Poisson(const GraphView& graph, const Options& options, const Execution& execution);

  /// The labelled nodes that raise their class at `node` above the mean of all labels, up to 16.
  std::vector<Reason> explain(NodeId node) const override;

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                             std::size_t num_classes, const Options& options, int threads);

 private:
  ScoreTable solve() const override;
  Options options_;
};

}  // namespace copse
