// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/option_blocks.hpp"
#include "copse/learners/prior.hpp"
#include "copse/learners/solved_learner.hpp"

namespace copse {

struct LabelPropagationOptions {
  enum class Shift { mean, mass, none };
  Shift shift = Shift::mean;
  PriorKind prior = PriorKind::labels;
  SolveOptions solve{.tolerance = 1e-4};  // beyond that no label changes (docs/learners/label_propagation.md)

  static Fields fields() {
    using Self = LabelPropagationOptions;
    return joined(
        {{choice("shift", &Self::shift,
                 "mean: measure each class from its mean, also good with few labels; mass: class mass "
                 "normalization; none: the plain harmonic function",
                 {{"mean", Shift::mean}, {"mass", Shift::mass}, {"none", Shift::none}}),
          prior_choice(&Self::prior)},
         block(&Self::solve, solver_fields("", Self{}.solve))});
  }
};

/// The harmonic function: the score of a node is the weighted mean of its neighbours' scores, those of
/// labelled nodes being fixed (Zhu, Ghahramani & Lafferty 2003; LABPROP in Cesa-Bianchi et al. 2013), and a
/// cure for its collapse when labels are few. docs/learners/label_propagation.md.
class LabelPropagation final : public SolvedLearner,
                               public FitsByRevealing<LabelPropagation, LabelPropagationOptions> {
 public:
  static constexpr SignUse kSigns = SignUse::cover;
  LabelPropagation(const GraphView& graph, const Options& options, const Execution& execution);

  /// Exact for up to 64 labels, beyond that by random forests, nothing below 2 % labels; shifted by the mean
  /// without the label, stretched as in the full fit. A component's only label has none.
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override;

  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  /// Each labelled node with the probability that a random walk from `node` meets it first.
  std::vector<Reason> reasons(NodeId node) const override;
  ScoreTable solve() const override;
  Options options_;
};

}  // namespace copse
