// SPDX-License-Identifier: Apache-2.0
#include "learners/hypothesis_committee.hpp"

#include <unordered_map>

#include "copse/graph/components.hpp"
#include "copse/support/parallel.hpp"
#include "learners/committee.hpp"

namespace copse {
namespace {

/// A hypothesis on a tree of a signed graph: switched to be seen from the root, the tree has no signs
/// (TreeParity), and the hypothesis within learns and answers from there. Its prior counts labels as they are
/// seen from there, too, so that switching nodes of the graph switches their answers and nothing else.
class SwitchedHypothesis final : public Hypothesis {
 public:
  SwitchedHypothesis(std::unique_ptr<Hypothesis> unsigned_one, TreeParity parity)
      : unsigned_(std::move(unsigned_one)), parity_(std::move(parity)) {}

  void reset() override {
    unsigned_->reset();
    prior_ = {};
    told_.clear();
  }
  bool learn(NodeId node, Label label, bool is_aggressive, const ClassPrior&) override {
    const Label seen = turned(label, parity_.is_other_side(node));
    const bool has_changed = unsigned_->learn(node, seen, is_aggressive, prior_);
    const auto [told, is_new] = told_.try_emplace(node, seen);
    if (!is_new) prior_.remove(told->second);
    told->second = seen;
    prior_.add(seen);
    return has_changed;
  }
  Margins margins(NodeId node, std::size_t) const override {
    Margins margins = unsigned_->margins(node, kSignedClasses);
    if (parity_.is_other_side(node)) std::swap(margins.of_class[0], margins.of_class[1]);
    return margins;
  }
  std::vector<Reason> reasons(NodeId node, Label label) const override {
    return unsigned_->reasons(node, turned(label, parity_.is_other_side(node)));
  }
  std::string note() const override { return unsigned_->note(); }

 private:
  std::unique_ptr<Hypothesis> unsigned_;
  TreeParity parity_;
  ClassPrior prior_;
  std::unordered_map<NodeId, Label> told_;
};

std::unique_ptr<Hypothesis> on_tree(const GraphView& graph, const SpanningForest& forest,
                                    const MakeTreeHypothesis& make) {
  if (!graph.is_signed()) return make(forest);
  return std::make_unique<SwitchedHypothesis>(make(forest), TreeParity(graph, forest));
}

CommitteeOptions committee_options(const KernelOptions& kernel) {
  return {.tree = kernel.tree, .num_trees = kernel.num_trees};
}

}  // namespace

Hypotheses tree_hypotheses(const GraphView& graph, const KernelOptions& kernel, const Execution& execution,
                           const MakeTreeHypothesis& make) {
  const TreeSampler sampler(graph, kernel.tree, execution);
  Hypotheses hypotheses(sampler.num_trees(kernel.num_trees));
  parallel_for(execution.threads, hypotheses.size(), [&](std::size_t tree) {
    execution.throw_if_cancelled();
    hypotheses[tree] = on_tree(graph, sampler.tree(tree), make);
    execution.report("trees", tree + 1, hypotheses.size());
  });
  return hypotheses;
}

BatchResult fit_tree_hypotheses(const GraphView& graph, std::span<const Label> labels,
                                std::size_t num_classes, const KernelOptions& kernel,
                                const Execution& execution, const char* page,
                                const MakeTreeHypothesis& make) {
  const std::vector<NodeId> order = fit_order(labels, execution.seed);
  const Components components = connected_components(graph, execution);
  std::vector<char> is_reached(components.count());
  for (const NodeId node : order) is_reached[components.of_node[node]] = 1;
  const auto cast = [&](SpanningForest&& forest, const Ballot& ballot) {
    const std::unique_ptr<Hypothesis> hypothesis = on_tree(graph, forest, make);
    forest = {};
    ClassPrior prior;
    bool has_changed = true;
    for (int epoch = 0; epoch < kernel.epochs && has_changed; ++epoch) {
      has_changed = false;
      for (const NodeId node : order) {
        has_changed |= hypothesis->learn(node, labels[node], false, prior);
        if (epoch == 0) prior.add(labels[node]);
      }
    }
    Buffer<Vote> votes(labels.size());
    for (NodeId node = 0; node < labels.size(); ++node) {
      if (labels[node] != kNoLabel || !is_reached[components.of_node[node]]) continue;
      Margins margins = hypothesis->margins(node, num_classes);
      const Decision decision = decide(margins, ballot.prior);
      const double distance = 1 / (1 + decision.lead);
      votes[node] = vote_of(distance, decision.label);
    }
    return votes;
  };
  return fit_committee(graph, labels, num_classes, committee_options(kernel), execution, page, cast);
}

bool is_single_tree(const GraphView& graph, const KernelOptions& kernel, const Execution& execution) {
  return kernel.num_trees == 1 || !TreeSampler(graph, kernel.tree, execution).is_random();
}

namespace {

constexpr std::uint64_t kSequentialBytes =
    10;                                   // per node: components, labels, what is labelled in a component
constexpr std::uint64_t kTreeBytes = 20;  // per node of a tree while it is drawn

}  // namespace

std::uint64_t sequential_bytes(const ProblemSize& size, const KernelOptions& kernel, std::uint64_t on_graph,
                               TreeBytes& on_tree) {
  if (kernel.on == KernelOn::tree)
    on_graph = committee_bytes(size, committee_options(kernel), kTreeBytes + on_tree(size.num_classes));
  return size.num_nodes * kSequentialBytes + on_graph;
}

std::uint64_t sequential_online_bytes(const ProblemSize& size, const KernelOptions& kernel,
                                      std::uint64_t on_graph, TreeBytes& on_tree) {
  if (kernel.on == KernelOn::tree)
    on_graph = size.num_nodes * static_cast<std::uint64_t>(kernel.num_trees) * on_tree(1);
  return size.num_nodes * kSequentialBytes + on_graph;
}

}  // namespace copse
