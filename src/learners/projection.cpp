// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/projection.hpp"

#include "learners/interpolation_machine.hpp"
#include "learners/kernel_machine.hpp"
#include "learners/machines.hpp"

namespace copse {
namespace {

using Strategy = ProjectionOptions::Strategy;

bool interpolates(const ProjectionOptions& options) {
  return options.strategy == Strategy::all && !options.cyclic;
}
/// Only methods that come back to earlier labels use a column twice.
std::size_t num_cached(const ProjectionOptions& options, std::uint64_t num_nodes) {
  const bool comes_back = options.strategy == Strategy::all && options.cyclic;
  return comes_back ? columns_to_keep(options.max_columns, num_nodes) : 0;
}

KernelRule rule(const ProjectionOptions& options) {
  return {.step = KernelRule::Step::projection,
          .zero_is_mistake = options.zero_is_mistake,
          .cyclic = options.cyclic,
          .aggressive = options.aggressive,
          .all = options.strategy == Strategy::all,
          .max_sweeps = options.max_sweeps};
}

MakeTreeMachine on_trees(const GraphView& graph, const ProjectionOptions& options, int threads) {
  if (interpolates(options))
    throw UsageError{"projection option on", "strategy=all on trees needs cyclic=true",
                     "take cyclic=true, strategy=last or on=graph"};
  auto shared = std::make_shared<const TreeSpaceShared>(graph, KernelTerms{}, threads);
  return [shared, options](const SpanningForest& forest) {
    return std::make_unique<KernelMachine>(tree_space(forest, shared), rule(options));
  };
}

std::vector<std::unique_ptr<Machine>> machines(const GraphView& graph, const ProjectionOptions& options,
                                               const Execution& execution) {
  if (options.kernel.on == KernelOn::tree)
    return tree_machines(graph, options.kernel.tree, options.kernel.num_trees, execution,
                         on_trees(graph, options, execution.threads));
  std::vector<std::unique_ptr<Machine>> one;
  if (interpolates(options))
    one.push_back(std::make_unique<InterpolationMachine>(graph, options.aggressive, options.zero_is_mistake,
                                                         options.kernel.solve, execution));
  else
    one.push_back(std::make_unique<KernelMachine>(
        graph_space(graph, {}, options.kernel.solve, num_cached(options, graph.num_nodes()), execution),
        rule(options)));
  return one;
}

}  // namespace

Projection::Projection(const GraphView& graph, const Options& options, const Execution& execution)
    : SequentialLearner(graph, execution, machines(graph, options, execution)) {}

BatchResult Projection::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                            const Options& options, const Execution& execution) {
  return fit_machines<Projection>(graph, labels, num_classes, options, execution,
                                  "docs/learners/projection.md",
                                  [&] { return on_trees(graph, options, execution.threads); });
}

std::uint64_t Projection::bytes(const ProblemSize& size, const Options& options) {
  const std::uint64_t common = size.num_nodes * kSequentialBytes;
  if (options.kernel.on == KernelOn::tree)
    return common + tree_machines_bytes(size, options.kernel, tree_space_bytes(1, size.num_classes));
  if (interpolates(options))  // functions, right-hand sides, components and what is given
    return common + size.num_nodes * (8 * (2 * size.num_classes + 1) + 6) +
           LaplacianSolver::bytes(size.num_nodes, size.num_arcs, size.num_classes + 1, options.kernel.solve);
  return common + graph_space_bytes(size.num_nodes, size.num_arcs, size.num_classes,
                                    num_cached(options, size.num_nodes), options.kernel.solve);
}

std::uint64_t Projection::online_bytes(const ProblemSize& size, const Options& options) {
  if (options.kernel.on == KernelOn::graph) return bytes(size, options);
  return size.num_nodes * kSequentialBytes +
         static_cast<std::uint64_t>(options.kernel.num_trees) * tree_space_bytes(size.num_nodes, 1);
}

}  // namespace copse
