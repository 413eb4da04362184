// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/options.hpp"
#include "copse/learners/prior.hpp"
#include "copse/learners/solved_learner.hpp"

namespace copse {

struct LabelPropagationOptions {
  enum class Shift { mean, mass, none };
  Shift shift = Shift::mean;
  PriorKind prior = PriorKind::labels;
  double tolerance = 1e-8;
  int max_iterations = 10000;

  static Fields fields() {
    using Self = LabelPropagationOptions;
    return {
        choice("shift", &Self::shift,
               "mean: measure each class from its mean, also good with few labels; mass: class mass "
               "normalization; none: the plain harmonic function",
               {{"mean", Shift::mean}, {"mass", Shift::mass}, {"none", Shift::none}}),
        prior_choice(&Self::prior),
        field("tolerance", &Self::tolerance, "backward error at which the solver stops", between(1e-14, 0.1)),
        field("max_iterations", &Self::max_iterations, "most iterations of the solver", at_least(1))};
  }
};

/// The harmonic function: the score of a node is the weighted mean of its neighbours' scores, those of
/// labelled nodes being fixed (Zhu, Ghahramani & Lafferty 2003; LABPROP in Cesa-Bianchi et al. 2013), and a
/// cure for its collapse when labels are few. docs/learners/label_propagation.md.
class LabelPropagation final : public SolvedLearner {
 public:
  using Options = LabelPropagationOptions;
  LabelPropagation(const GraphView& graph, const Options& options, const Execution& execution);

  /// Each labelled node with the probability that a random walk from `node` meets it first.
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
