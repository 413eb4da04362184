// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/graph_perceptron.hpp"

#include "learners/kernel_machine.hpp"
#include "learners/machines.hpp"

namespace copse {
namespace {

KernelRule rule(const GraphPerceptronOptions& options) {
  return {.step = KernelRule::Step::perceptron, .zero_is_mistake = options.zero_is_mistake};
}

MakeTreeMachine on_trees(const GraphView& graph, const GraphPerceptronOptions& options, int threads) {
  auto shared = std::make_shared<const TreeSpaceShared>(
      graph, KernelTerms{.bias = options.bias, .diagonal = options.diagonal}, threads);
  return [shared, options](const SpanningForest& forest) {
    return std::make_unique<KernelMachine>(tree_space(forest, shared), rule(options));
  };
}

std::vector<std::unique_ptr<Machine>> machines(const GraphView& graph, const GraphPerceptronOptions& options,
                                               const Execution& execution) {
  if (options.kernel.on == KernelOn::tree)
    return tree_machines(graph, options.kernel.tree, options.kernel.num_trees, execution,
                         on_trees(graph, options, execution.threads));
  std::vector<std::unique_ptr<Machine>> one;
  one.push_back(
      std::make_unique<KernelMachine>(graph_space(graph, {.bias = options.bias, .diagonal = options.diagonal},
                                                  options.kernel.solve, 0, execution),
                                      rule(options)));
  return one;
}

}  // namespace

GraphPerceptron::GraphPerceptron(const GraphView& graph, const Options& options, const Execution& execution)
    : SequentialLearner(graph, execution, machines(graph, options, execution)) {}

BatchResult GraphPerceptron::fit(const GraphView& graph, std::span<const Label> labels,
                                 std::size_t num_classes, const Options& options,
                                 const Execution& execution) {
  return fit_machines<GraphPerceptron>(graph, labels, num_classes, options, execution,
                                       "docs/learners/graph_perceptron.md",
                                       [&] { return on_trees(graph, options, execution.threads); });
}

std::uint64_t GraphPerceptron::bytes(const ProblemSize& size, const Options& options) {
  if (options.kernel.on == KernelOn::graph)
    return size.num_nodes * kSequentialBytes +
           graph_space_bytes(size.num_nodes, size.num_arcs, size.num_classes, 0, options.kernel.solve);
  return size.num_nodes * kSequentialBytes +
         tree_machines_bytes(size, options.kernel, tree_space_bytes(1, size.num_classes));
}

std::uint64_t GraphPerceptron::online_bytes(const ProblemSize& size, const Options& options) {
  if (options.kernel.on == KernelOn::graph) return bytes(size, options);
  return size.num_nodes * kSequentialBytes +
         static_cast<std::uint64_t>(options.kernel.num_trees) * tree_space_bytes(size.num_nodes, 1);
}

}  // namespace copse
