// SPDX-License-Identifier: Apache-2.0
#include "learners/machines.hpp"

#include "copse/graph/components.hpp"
#include "copse/support/parallel.hpp"
#include "learners/committee.hpp"
#include "learners/switched_machine.hpp"

namespace copse {

std::vector<std::unique_ptr<Machine>> tree_machines(const GraphView& graph, TreeKind kind, int num_trees,
                                                    const Execution& execution, const MakeTreeMachine& make) {
  const TreeSampler sampler(graph, kind, execution);
  std::vector<std::unique_ptr<Machine>> machines(sampler.is_random() ? static_cast<std::size_t>(num_trees)
                                                                     : 1);
  parallel_for(execution.threads, machines.size(), [&](std::size_t tree) {
    execution.throw_if_cancelled();
    machines[tree] = machine_on_tree(graph, sampler.tree(tree), make);
    execution.report("trees", tree + 1, machines.size());
  });
  return machines;
}

BatchResult fit_tree_machines(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                              TreeKind kind, int num_trees, const Execution& execution, const char* page,
                              const MakeTreeMachine& make) {
  const std::vector<NodeId> order = fit_order(labels, execution.seed);
  const Components components = connected_components(graph, execution);
  std::vector<char> is_reached(components.count());
  for (const NodeId node : order) is_reached[components.of_node[node]] = 1;
  CommitteeOptions options;
  options.tree = kind;
  options.num_trees = num_trees;
  const auto cast = [&](SpanningForest&& forest, const Ballot& ballot, std::uint64_t) {
    const std::unique_ptr<Machine> machine = machine_on_tree(graph, forest, make);
    forest = {};
    ClassPrior prior;
    for (const NodeId node : order) {
      machine->learn(node, labels[node], false, prior);
      prior.add(labels[node]);
    }
    for (NodeId node = 0; node < labels.size(); ++node) {
      if (labels[node] != kNoLabel || !is_reached[components.of_node[node]]) continue;
      Margins margins = machine->margins(node, num_classes);
      const Decision decision = decide(margins, ballot.prior);
      const double distance = 1 / (1 + decision.lead);
      ballot.votes.add(node, ballot.tree, vote_of(distance, decision.label));
    }
  };
  return fit_committee(graph, labels, num_classes, options, execution, page, cast, TreeNodes::all);
}

bool is_single_tree(const GraphView& graph, TreeKind kind, int num_trees, const Execution& execution) {
  return num_trees == 1 || !TreeSampler(graph, kind, execution).is_random();
}

std::uint64_t tree_machines_bytes(const ProblemSize& size, const KernelOptions& kernel,
                                  std::uint64_t machine_bytes) {
  constexpr std::uint64_t kTreeBytes = 20;  // while it is drawn
  return committee_bytes(size, {.tree = kernel.tree, .num_trees = kernel.num_trees},
                         kTreeBytes + machine_bytes);
}

}  // namespace copse
