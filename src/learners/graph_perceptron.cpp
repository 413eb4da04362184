// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/graph_perceptron.hpp"

#include "learners/hypothesis_committee.hpp"
#include "learners/kernel_hypothesis.hpp"

namespace copse {
namespace {

HypothesisMaker maker(const GraphView& graph, const GraphPerceptronOptions& options,
                      const Execution& execution) {
  const KernelTerms terms{.bias = options.bias, .diagonal = options.diagonal};
  const KernelRule rule{.step = KernelRule::Step::perceptron, .zero_is_mistake = options.zero_is_mistake};
  const auto on_graph = [=, &execution] {
    return kernel_hypothesis(graph_kernel(graph, terms, options.kernel.solve, 0, execution), rule);
  };
  const auto on_trees = [=, &execution] {
    auto shared = std::make_shared<const TreeKernelShared>(graph, terms, execution.threads);
    return [=](const SpanningForest& forest) { return kernel_hypothesis(tree_kernel(forest, shared), rule); };
  };
  return {on_graph, on_trees};
}

}  // namespace

GraphPerceptron::GraphPerceptron(const GraphView& graph, const Options& options, const Execution& execution)
    : SequentialLearner(graph, execution,
                        make_hypotheses(graph, options.kernel, execution, maker(graph, options, execution)),
                        options.kernel.epochs) {}

BatchResult GraphPerceptron::fit(const GraphView& graph, std::span<const Label> labels,
                                 std::size_t num_classes, const Options& options,
                                 const Execution& execution) {
  return fit_hypotheses<GraphPerceptron>(graph, labels, num_classes, options, execution,
                                         "docs/learners/graph_perceptron.md",
                                         maker(graph, options, execution));
}

std::uint64_t GraphPerceptron::bytes(const ProblemSize& size, const Options& options) {
  if (options.kernel.on == KernelOn::graph)
    return size.num_nodes * kSequentialBytes +
           graph_kernel_bytes(size.num_nodes, size.num_arcs, size.num_classes, 0, options.kernel.solve);
  return size.num_nodes * kSequentialBytes +
         tree_hypotheses_bytes(size, options.kernel, tree_kernel_bytes(1, size.num_classes));
}

std::uint64_t GraphPerceptron::online_bytes(const ProblemSize& size, const Options& options) {
  if (options.kernel.on == KernelOn::graph) return bytes(size, options);
  return size.num_nodes * kSequentialBytes +
         static_cast<std::uint64_t>(options.kernel.num_trees) * tree_kernel_bytes(size.num_nodes, 1);
}

}  // namespace copse
