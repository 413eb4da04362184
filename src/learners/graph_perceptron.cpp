// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/graph_perceptron.hpp"

#include "learners/kernel_machine.hpp"
#include "learners/machines.hpp"

namespace copse {
namespace {

SolveOptions solve_options(const GraphPerceptronOptions& options) {
  return {.tolerance = options.tolerance, .max_iterations = options.max_iterations};
}

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
  if (options.on == KernelOn::tree)
    return tree_machines(graph, options.tree, options.num_trees, execution,
                         on_trees(graph, options, execution.threads));
  std::vector<std::unique_ptr<Machine>> one;
  one.push_back(
      std::make_unique<KernelMachine>(graph_space(graph, {.bias = options.bias, .diagonal = options.diagonal},
                                                  solve_options(options), 0, execution),
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

std::uint64_t GraphPerceptron::bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                                     std::size_t num_classes, const Options& options, int threads) {
  if (options.on == KernelOn::graph)
    return num_nodes * kSequentialBytes +
           graph_space_bytes(num_nodes, num_arcs, num_classes, 0, solve_options(options));
  return num_nodes * kSequentialBytes + tree_machines_bytes(num_nodes, num_arcs, weighted, num_classes,
                                                            options.tree, options.num_trees, threads,
                                                            tree_space_bytes(1, num_classes));
}

std::uint64_t GraphPerceptron::online_bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                                            const Options& options, int threads) {
  if (options.on == KernelOn::graph) return bytes(num_nodes, num_arcs, weighted, 2, options, threads);
  return num_nodes * kSequentialBytes +
         static_cast<std::uint64_t>(options.num_trees) * tree_space_bytes(num_nodes, 1);
}

}  // namespace copse
