// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/option_blocks.hpp"
#include "copse/learners/sequential_learner.hpp"

namespace copse {

struct GraphPerceptronOptions {
  KernelOptions kernel;
  KernelBias bias;
  double diagonal = 0;
  bool zero_is_mistake = true;

  static Fields fields() {
    using Self = GraphPerceptronOptions;
    return joined(
        {block(&Self::kernel, KernelOptions::fields()),
         {field("bias", &Self::bias,
                "b in the kernel L^+ + b 11' + c I, weights scaled to mean 1: large where one class "
                "prevails"),
          field("diagonal", &Self::diagonal, "c in that kernel: above 0 where some labels are wrong",
                between(0.0, 1e9)),
          field("zero_is_mistake", &Self::zero_is_mistake, kZeroIsMistakeHelp)},
         block(&Self::kernel, KernelOptions::fields_of_epochs()),
         block(&Self::kernel, KernelOptions::fields_of_solver())});
  }
};

/// The kernel perceptron on a graph, or on spanning trees of it (Herbster & Pontil 2006; GPA in Cesa-Bianchi
/// et al. 2013): a mistake at i adds y K_i. One solve per mistake, O(1) a prediction; on a tree O(log^2 n)
/// each. docs/learners/graph_perceptron.md.
class GraphPerceptron final : public SequentialLearner {
 public:
  static constexpr SignUse kSigns = SignUse::itself;
  using Options = GraphPerceptronOptions;
  GraphPerceptron(const GraphView& graph, const Options& options, const Execution& execution);

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(const ProblemSize& size, const Options& options);
  static std::uint64_t online_bytes(const ProblemSize& size, const Options& options);
};

}  // namespace copse
