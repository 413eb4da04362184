// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "copse/learners/fit_order.hpp"
#include "copse/learners/option_blocks.hpp"
#include "learners/fit_by_revealing.hpp"
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

/// Bytes per node that every sequential learner takes: components, labels, what is labelled in a component.
inline constexpr std::uint64_t kSequentialBytes = 10;

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

/// Bytes of fit_tree_hypotheses for hypotheses of so many bytes per node.
std::uint64_t tree_hypotheses_bytes(const ProblemSize& size, const KernelOptions& kernel,
                                    std::uint64_t hypothesis_bytes);

/// The hypotheses of an online learner.
inline Hypotheses make_hypotheses(const GraphView& graph, const KernelOptions& kernel,
                                  const Execution& execution, const HypothesisMaker& maker) {
  if (kernel.on == KernelOn::tree) return tree_hypotheses(graph, kernel, execution, maker.on_trees());
  Hypotheses one;
  one.push_back(maker.on_graph());
  return one;
}

/// Batch by the online learner, labels told in fit_order, again and again until none was a mistake.
template <class L>
BatchResult fit_in_order(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const typename L::Options& options, const Execution& execution) {
  auto learner = std::make_unique<L>(graph, options, execution);
  const std::vector<NodeId> order = fit_order(labels, execution.seed);
  BatchResult result;
  result.units_asked = order.size();
  for (int epoch = 0; epoch < learner->epochs() && !result.interrupted; ++epoch) {
    const std::uint64_t before = learner->num_updates();
    for (const NodeId node : order) {
      if (execution.cancelled()) {
        result.interrupted = true;
        break;
      }
      learner->reveal(node, labels[node]);
      if (epoch == 0) execution.report("labels", ++result.units_done, order.size());
    }
    if (learner->num_updates() == before) break;
  }
  result.notes = learner->notes();
  result.predictor = std::make_unique<Revealed<L>>(std::move(learner), num_classes);
  return result;
}

/// Batch of a learner that works on the graph or on trees: a committee of trees votes tree by tree, all else
/// goes by the online learner.
template <class L>
BatchResult fit_hypotheses(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                           const typename L::Options& options, const Execution& execution, const char* page,
                           const HypothesisMaker& maker) {
  if (options.kernel.on == KernelOn::tree && !is_single_tree(graph, options.kernel, execution))
    return fit_tree_hypotheses(graph, labels, num_classes, options.kernel, execution, page, maker.on_trees());
  return fit_in_order<L>(graph, labels, num_classes, options, execution);
}

}  // namespace copse
