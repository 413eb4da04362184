// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "copse/learners/fit_order.hpp"
#include "copse/learners/option_blocks.hpp"
#include "learners/fit_by_revealing.hpp"
#include "learners/machine.hpp"

namespace copse {

using MakeTreeMachine = std::function<std::unique_ptr<Machine>(const SpanningForest& forest)>;

/// Bytes a node that every sequential learner takes: components, labels, what is labelled in a component.
inline constexpr std::uint64_t kSequentialBytes = 10;

/// One machine a tree, for an online committee.
std::vector<std::unique_ptr<Machine>> tree_machines(const GraphView& graph, TreeKind kind, int num_trees,
                                                    const Execution& execution, const MakeTreeMachine& make);

/// A batch committee: each tree is drawn, plays all labels in fit_order, votes and is forgotten. The same
/// answers as the online committee after the same trials.
BatchResult fit_tree_machines(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                              TreeKind kind, int num_trees, const Execution& execution, const char* page,
                              const MakeTreeMachine& make);

/// Whether a committee of so many trees is one tree: then batch goes by the online learner, whose answer is a
/// margin and not a vote.
bool is_single_tree(const GraphView& graph, TreeKind kind, int num_trees, const Execution& execution);

/// Bytes of fit_tree_machines for machines of so many bytes a node.
std::uint64_t tree_machines_bytes(const ProblemSize& size, const KernelOptions& kernel,
                                  std::uint64_t machine_bytes);

/// Batch by the online learner, labels told in fit_order.
template <class L>
BatchResult fit_in_order(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const typename L::Options& options, const Execution& execution) {
  auto learner = std::make_unique<L>(graph, options, execution);
  const std::vector<NodeId> order = fit_order(labels, execution.seed);
  BatchResult result;
  result.units_asked = order.size();
  for (const NodeId node : order) {
    if (execution.cancelled()) {
      result.interrupted = true;
      break;
    }
    learner->reveal(node, labels[node]);
    execution.report("labels", ++result.units_done, order.size());
  }
  result.notes = learner->notes();
  result.predictor = std::make_unique<Revealed<L>>(std::move(learner), num_classes);
  return result;
}

/// Batch of a learner that works on the graph or on trees: a committee of trees votes tree by tree, all else
/// goes by the online learner. `on_trees()` gives the machine of a tree.
template <class L, class OnTrees>
BatchResult fit_machines(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const typename L::Options& options, const Execution& execution, const char* page,
                         OnTrees&& on_trees) {
  const KernelOptions& kernel = options.kernel;
  if (kernel.on == KernelOn::tree && !is_single_tree(graph, kernel.tree, kernel.num_trees, execution))
    return fit_tree_machines(graph, labels, num_classes, kernel.tree, kernel.num_trees, execution, page,
                             on_trees());
  return fit_in_order<L>(graph, labels, num_classes, options, execution);
}

}  // namespace copse
