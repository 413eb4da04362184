// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/option_blocks.hpp"
#include "copse/learners/solved_learner.hpp"

namespace copse {

struct KernelRidgeOptions {
  KernelOptions kernel;
  double ridge = 1;
  double bias = 1e-6;
  double diagonal = 0;

  static Fields fields() {
    using Self = KernelRidgeOptions;
    return joined(
        {block(&Self::kernel, KernelOptions::fields()),
         {field("ridge", &Self::ridge,
                "price of roughness: 0.01 all but meets every given label, more smooths over them",
                between(1e-9, 1e9)),
          field("bias", &Self::bias,
                "b in the kernel L^+ + b 11' + c I, weights scaled to mean 1; 1 in the papers, small for few "
                "labels",
                between(1e-12, 1e12)),
          field("diagonal", &Self::diagonal, "c in that kernel: adds to the ridge", between(0.0, 1e9))},
         block(&Self::kernel, KernelOptions::fields_of_solver())});
  }
};

/// Ridge regression of each class in the kernel K = L^+ + b 11' + c I (Herbster & Pontil 2006) of the graph
/// or of spanning trees of it (Rojas Galeano & Herbster; Herbster, Pontil & Rojas Galeano 2008).
/// docs/learners/kernel_ridge.md.
class KernelRidge final : public SolvedLearner, public FitsByRevealing<KernelRidge, KernelRidgeOptions> {
 public:
  static SignUse signs(const Options& options) {
    return options.kernel.on == KernelOn::graph ? SignUse::cover : SignUse::itself;
  }
  KernelRidge(const GraphView& graph, const Options& options, const Execution& execution);

  /// Exact for up to 64 labels, beyond that by random forests, nothing below 2 % labels; nothing for on=tree.
  /// A component's only label has none.
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override;

  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  /// Every labelled node with its share of the weight: scores are linear in the labels.
  std::vector<Reason> reasons(NodeId node) const override;
  ScoreTable solve() const override;
  Options options_;
};

}  // namespace copse
