// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "copse/learners/fit_order.hpp"
#include "copse/learners/option_blocks.hpp"
#include "learners/hypothesis.hpp"

namespace copse {

using Hypotheses = std::vector<std::unique_ptr<Hypothesis>>;
using MakeTreeHypothesis = std::function<std::unique_ptr<Hypothesis>(const SpanningForest& forest)>;

/// How a sequential learner makes its hypothesis on the graph, or those on trees; on_trees() computes what
/// all trees share.
struct HypothesisMaker {
  std::function<std::unique_ptr<Hypothesis>()> on_graph;
  std::function<MakeTreeHypothesis()> on_trees;
};

/// One hypothesis per tree, for an online committee.
Hypotheses tree_hypotheses(const GraphView& graph, const KernelOptions& kernel, const Execution& execution,
                           const MakeTreeHypothesis& make);

/// A batch committee: each tree is drawn, plays all labels in fit_order, votes and is forgotten. The same
/// answers as the online committee after the same trials.
BatchResult fit_tree_hypotheses(const GraphView& graph, std::span<const Label> labels,
                                std::size_t num_classes, const KernelOptions& kernel,
                                const Execution& execution, const char* page, const MakeTreeHypothesis& make);

/// Whether a committee of so many trees is one tree: then batch goes by the online learner, whose answer is a
/// margin and not a vote.
bool is_single_tree(const GraphView& graph, const KernelOptions& kernel, const Execution& execution);

/// Bytes per node of a hypothesis on a tree with so many functions.
using TreeBytes = std::uint64_t(std::size_t columns);

/// Bytes of a sequential learner in batch and online, whose hypothesis on the graph takes `on_graph`.
std::uint64_t sequential_bytes(const ProblemSize& size, const KernelOptions& kernel, std::uint64_t on_graph,
                               TreeBytes& on_tree);
std::uint64_t sequential_online_bytes(const ProblemSize& size, const KernelOptions& kernel,
                                      std::uint64_t on_graph, TreeBytes& on_tree);

/// The hypotheses of an online learner.
inline Hypotheses make_hypotheses(const GraphView& graph, const KernelOptions& kernel,
                                  const Execution& execution, const HypothesisMaker& maker) {
  if (kernel.on == KernelOn::tree) return tree_hypotheses(graph, kernel, execution, maker.on_trees());
  Hypotheses one;
  one.push_back(maker.on_graph());
  return one;
}

/// Batch of a learner that works on the graph or on trees: a committee of trees votes tree by tree, all else
/// goes by the online learner.
template <class L>
BatchResult fit_hypotheses(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                           const typename L::Options& options, const Execution& execution, const char* page,
                           const HypothesisMaker& maker) {
  if (options.kernel.on == KernelOn::tree && !is_single_tree(graph, options.kernel, execution))
    return fit_tree_hypotheses(graph, labels, num_classes, options.kernel, execution, page, maker.on_trees());
  return fit_by_revealing(std::make_unique<L>(graph, options, execution), labels, num_classes);
}

}  // namespace copse
