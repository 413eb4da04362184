// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/kernel_options.hpp"
#include "copse/learners/sequential_learner.hpp"

namespace copse {

struct GraphPerceptronOptions {
  KernelOn on = KernelOn::graph;
  TreeKind tree = TreeKind::rst;
  int num_trees = 31;
  KernelBias bias;
  double diagonal = 0;
  bool zero_is_mistake = true;
  double tolerance = 1e-8;
  int max_iterations = 10000;

  static Fields fields() {
    using Self = GraphPerceptronOptions;
    return {
        on_choice(&Self::on),
        tree_choice(&Self::tree, "kind of spanning tree, for on=tree"),
        field("num_trees", &Self::num_trees, "trees in the committee, for on=tree", between(1, 65535)),
        field("bias", &Self::bias,
              "b in the kernel L^+ + b 11' + c I, weights scaled to mean 1: large where one class prevails"),
        field("diagonal", &Self::diagonal, "c in that kernel: above 0 where some labels are wrong",
              between(0.0, 1e9)),
        field("zero_is_mistake", &Self::zero_is_mistake,
              "also learn from a margin of 0; false: only from a wrong guess"),
        field("tolerance", &Self::tolerance, "backward error at which the solver stops, for on=graph",
              between(1e-14, 0.1)),
        field("max_iterations", &Self::max_iterations, "most iterations of the solver", at_least(1))};
  }
};

/// The kernel perceptron on a graph, or on spanning trees of it (Herbster & Pontil 2006; GPA in Cesa-Bianchi
/// et al. 2013): a mistake at i adds y K_i. One solve a mistake, O(1) a prediction; on a tree O(log^2 n)
/// each. docs/learners/graph_perceptron.md.
class GraphPerceptron final : public SequentialLearner {
 public:
  using Options = GraphPerceptronOptions;
  GraphPerceptron(const GraphView& graph, const Options& options, const Execution& execution);

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                             std::size_t num_classes, const Options& options, int threads);
  static std::uint64_t online_bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                                    const Options& options, int threads);
};

}  // namespace copse
