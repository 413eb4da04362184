// SPDX-License-Identifier: Apache-2.0
#include "learners/kernel_hypothesis.hpp"

#include <map>
#include <unordered_map>

namespace copse {
namespace {

class KernelHypothesis final : public Hypothesis {
 public:
  KernelHypothesis(std::unique_ptr<KernelOperator> kernel, const KernelRule& rule)
      : kernel_(std::move(kernel)), rule_(rule) {}

  void reset() override {
    kernel_->clear();
    state_ = {};
  }

  bool learn(NodeId node, Label label, bool is_aggressive, const ClassPrior& prior) override {
    meet(node, label);
    if (!correct(node, label, is_aggressive || rule_.aggressive, prior)) return false;
    if (rule_.cyclic && rule_.all) sweep_until_right();
    return true;
  }

  Margins margins(NodeId node, std::size_t num_classes) const override {
    Margins margins = state_.functions.margins(
        num_classes, [&](std::size_t column) { return kernel_->value(column, node); });
    margins.zero = zero();
    if (rule_.step == KernelRule::Step::perceptron && state_.num_steps > 0)
      margins.unit = state_.sum_diagonal / static_cast<double>(state_.num_steps);
    return margins;
  }

  std::vector<Reason> reasons(NodeId node, Label label) const override {
    if (!state_.functions.knows(label)) return {};
    constexpr double kSmallest = std::numeric_limits<double>::min();  // different nodes are never at 0
    const std::map<NodeId, Correction> parts = corrections_for(label);
    std::vector<NodeId> nodes{node};
    for (const auto& part : parts) nodes.push_back(part.first);
    const std::vector<double> kernel = kernel_->kernel(node, nodes);
    std::vector<Reason> reasons;
    Reason nearest{kNoNode, kNoLabel, 1, std::numeric_limits<double>::infinity()};
    double total = 0;
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      if (std::isnan(kernel[i])) continue;  // another component
      const Correction& part = parts.at(nodes[i]);
      const double share = part.amount * kernel[i];
      const double resistance =
          std::max(kernel_->resistance(node, nodes[i], kernel[0], part.diagonal, kernel[i]), kSmallest);
      if (resistance < nearest.resistance) nearest = {nodes[i], kNoLabel, 1, resistance};
      if (!(share > 0)) continue;
      reasons.push_back({nodes[i], kNoLabel, share, resistance});
      total += share;
    }
    for (Reason& reason : reasons) reason.share /= total;
    if (reasons.empty() && nearest.node != kNoNode) reasons.push_back(nearest);
    return reasons;
  }

  std::string note() const override {
    if (state_.is_capped)
      return "some labels stayed on the wrong side after " + std::to_string(rule_.max_sweeps) +
             " sweeps: no function of the graph meets them all, or max_sweeps is too small";
    return kernel_->note();
  }

 private:
  /// What a node has been corrected by, in one function.
  struct Correction {
    double amount = 0;
    double diagonal = 0;  // K_ii
  };
  struct State {
    ClassFunctions functions;
    std::unordered_map<std::uint64_t, Correction> corrections;  // by key(node, column)
    std::uint64_t num_steps = 0;
    double largest = 0;        // correction so far: |amount| K_ii
    double sum_diagonal = 0;   // of K_ii over the steps
    std::vector<NodeId> seen;  // in the order of their first labels, and these now: where `all` is set
    std::unordered_map<NodeId, Label> label;
    bool is_capped = false;
  };
  static std::uint64_t key(NodeId node, std::size_t column) { return std::uint64_t{node} << 16 | column; }

  double zero() const { return kZeroMargin * state_.largest; }

  void meet(NodeId node, Label label) {
    if (rule_.all && state_.label.insert_or_assign(node, label).second) state_.seen.push_back(node);
    if (!state_.functions.meet(label, *kernel_)) return;
    // The second class has a function of its own from now on, with all that the first was corrected by.
    std::vector<std::pair<std::uint64_t, Correction>> mirrored;
    for (const auto& [of, correction] : state_.corrections)
      mirrored.push_back({of + 1, {-correction.amount, correction.diagonal}});
    state_.corrections.insert(mirrored.begin(), mirrored.end());
  }

  bool is_wrong(double y, double f, std::size_t column, const ClassPrior& prior) const {
    if (std::fabs(f) > zero()) return y * f < 0;
    if (rule_.zero_is_mistake || prior.total() == 0) return true;
    const Label label = state_.functions.owner(column);
    return says_yes_at_zero(label, label == state_.functions.lowest(), prior) != (y > 0);
  }

  bool correct(NodeId node, Label label, bool also_if_right, const ClassPrior& prior) {
    std::vector<std::size_t> wrong;
    for (std::size_t column = 0; column < state_.functions.num_columns(); ++column) {
      const double y = state_.functions.target(column, label), f = kernel_->value(column, node);
      const bool is_met = rule_.cyclic ? y * f >= 1 - zero() : std::fabs(y - f) <= zero();
      if (is_wrong(y, f, column, prior) || (also_if_right && !is_met)) wrong.push_back(column);
    }
    if (wrong.empty()) return false;
    const double diagonal = kernel_->prepare(node);  // may throw: nothing has changed yet
    if (!(diagonal > 0)) return false;               // a node without edges, in a kernel without bias
    for (const std::size_t column : wrong) {
      const double y = state_.functions.target(column, label);
      const double amount =
          rule_.step == KernelRule::Step::perceptron ? y : (y - kernel_->value(column, node)) / diagonal;
      step(node, column, amount, diagonal);
    }
    return true;
  }

  void step(NodeId node, std::size_t column, double amount, double diagonal) {
    kernel_->add(column, amount);
    Correction& correction = state_.corrections[key(node, column)];
    correction.amount += amount;
    correction.diagonal = diagonal;
    ++state_.num_steps;
    state_.largest = std::max(state_.largest, std::fabs(amount) * diagonal);
    state_.sum_diagonal += diagonal;
  }

  /// Herbster et al. 2005, algorithm 2, the inner loop: any label that is on the wrong side may be taken
  /// next, here in turns. Functions that no label contradicts are reached in finitely many steps where there
  /// are some; where there are none (every node of a component of one class) the sweeps are cut short.
  void sweep_until_right() {
    for (int sweep = 0; sweep < rule_.max_sweeps; ++sweep) {
      bool is_right = true;
      for (const NodeId node : state_.seen) {
        const Label label = state_.label.at(node);
        double diagonal = 0;
        for (std::size_t column = 0; column < state_.functions.num_columns(); ++column) {
          const double y = state_.functions.target(column, label), f = kernel_->value(column, node);
          if (!(y * f < -zero())) continue;
          if (diagonal == 0) diagonal = kernel_->prepare(node);
          if (!(diagonal > 0)) continue;
          step(node, column, (y - f) / diagonal, diagonal);
          is_right = false;
        }
      }
      if (is_right) return;
    }
    state_.is_capped = true;
  }

  /// All nodes that were corrected, with the amount that speaks for the label: where none does, the nearest
  /// is named.
  std::map<NodeId, Correction> corrections_for(Label label) const {
    const ClassFunctions& functions = state_.functions;
    std::map<NodeId, Correction> parts;
    for (const auto& [of, correction] : state_.corrections) {
      Correction& part = parts[static_cast<NodeId>(of >> 16)];
      part.diagonal = correction.diagonal;
      if ((of & 0xFFFF) == functions.column(label)) part.amount = functions.sign(label) * correction.amount;
    }
    return parts;
  }

  std::unique_ptr<KernelOperator> kernel_;
  KernelRule rule_;
  State state_;
};

}  // namespace

HypothesisMaker kernel_hypotheses(const GraphView& graph, const KernelTerms& terms, const KernelRule& rule,
                                  const SolveOptions& solve, std::size_t max_kept,
                                  const Execution& execution) {
  const auto make = [=](std::unique_ptr<KernelOperator> kernel) {
    return std::make_unique<KernelHypothesis>(std::move(kernel), rule);
  };
  const auto on_graph = [=, &execution] {
    return make(graph_kernel(graph, terms, solve, max_kept, execution));
  };
  const auto on_trees = [=, &execution] {
    auto shared = std::make_shared<const TreeKernelShared>(graph, terms, execution.threads);
    return [=](const SpanningForest& forest) { return make(tree_kernel(forest, shared)); };
  };
  return {on_graph, on_trees};
}

}  // namespace copse
