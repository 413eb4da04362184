// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/graph_perceptron.hpp"

#include "learners/hypothesis_committee.hpp"
#include "learners/kernel_hypothesis.hpp"

namespace copse {
namespace {

SolveOptions solve_options(const GraphPerceptronOptions& options) {
  return {.tolerance = options.tolerance, .max_iterations = options.max_iterations};
}

HypothesisMaker maker(const GraphView& graph, const GraphPerceptronOptions& options,
                      const Execution& execution) {
  const KernelTerms terms{.bias = options.bias, .diagonal = options.diagonal};
  const KernelRule rule{.step = KernelRule::Step::perceptron, .zero_is_mistake = options.zero_is_mistake};
  const auto on_graph = [=, &execution] {
    return kernel_hypothesis(graph_kernel(graph, terms, solve_options(options), 0, execution), rule);
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
                        make_hypotheses(graph, options, execution, maker(graph, options, execution))) {}

BatchResult GraphPerceptron::fit(const GraphView& graph, std::span<const Label> labels,
                                 std::size_t num_classes, const Options& options,
                                 const Execution& execution) {
  return fit_hypotheses<GraphPerceptron>(graph, labels, num_classes, options, execution,
                                         "docs/learners/graph_perceptron.md",
                                         maker(graph, options, execution));
}

std::uint64_t GraphPerceptron::bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                                     std::size_t num_classes, const Options& options, int threads) {
  if (options.on == KernelOn::graph)
    return num_nodes * kSequentialBytes +
           graph_kernel_bytes(num_nodes, num_arcs, num_classes, 0, solve_options(options));
  return num_nodes * kSequentialBytes + tree_hypotheses_bytes(num_nodes, num_arcs, weighted, num_classes,
                                                              options.tree, options.num_trees, threads,
                                                              tree_kernel_bytes(1, num_classes));
}

std::uint64_t GraphPerceptron::online_bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                                            const Options& options, int threads) {
  if (options.on == KernelOn::graph) return bytes(num_nodes, num_arcs, weighted, 2, options, threads);
  return num_nodes * kSequentialBytes +
         static_cast<std::uint64_t>(options.num_trees) * tree_kernel_bytes(num_nodes, 1);
}

}  // namespace copse
