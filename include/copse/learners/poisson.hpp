// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/option_blocks.hpp"
#include "copse/learners/prior.hpp"
#include "copse/learners/solved_learner.hpp"

namespace copse {

struct PoissonOptions {
  bool balance = false;
  PriorKind prior = PriorKind::labels;
  SolveOptions solve;

  static Fields fields() {
    using Self = PoissonOptions;
    return joined({{field("balance", &Self::balance,
                          "move the borders so that each class takes what the prior expects"),
                    prior_choice(&Self::prior)},
                   block(&Self::solve, solver_fields())});
  }
};

/// Poisson learning (Calder, Cook, Thorpe & Slepcev 2020): labels are sources and sinks of a current, scores
/// the potentials; made for very few labels. docs/learners/poisson.md.
class Poisson final : public SolvedLearner, public FitsByRevealing<Poisson, PoissonOptions> {
 public:
  static constexpr SignUse kSigns = SignUse::cover;
  Poisson(const GraphView& graph, const Options& options, const Execution& execution);

  /// Exact, for up to 64 labels, nothing beyond; with the weights and the offsets of the classes of the full
  /// fit. A component's only label has none.
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override;

  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  /// The labelled nodes that raise their class at `node` above the mean of all labels, up to 16.
  std::vector<Reason> reasons(NodeId node) const override;
  ScoreTable solve() const override;
  Options options_;
};

}  // namespace copse
