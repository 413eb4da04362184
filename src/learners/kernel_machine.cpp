// SPDX-License-Identifier: Apache-2.0
#include "learners/kernel_machine.hpp"

#include <map>

#include "learners/signs.hpp"

namespace copse {

KernelMachine::KernelMachine(std::unique_ptr<KernelSpace> space, const KernelRule& rule)
    : space_(std::move(space)), rule_(rule) {}

void KernelMachine::reset() {
  space_->clear();
  functions_ = {};
  corrections_.clear();
  num_steps_ = 0;
  largest_ = sum_diagonal_ = 0;
  seen_.clear();
  label_.clear();
  is_capped_ = false;
}

void KernelMachine::meet(NodeId node, Label label) {
  if (rule_.all && label_.insert_or_assign(node, label).second) seen_.push_back(node);
  const ClassFunctions::Met met = functions_.meet(label, *space_);
  if (space_->is_signed()) functions_.meet(turned(label, true), *space_);
  if (met != ClassFunctions::Met::third) return;
  // The second class has a function of its own from now on, with all that the first was corrected by.
  std::vector<std::pair<std::uint64_t, Correction>> mirrored;
  for (const auto& [of, correction] : corrections_)
    mirrored.push_back({of + 1, {-correction.amount, correction.diagonal}});
  corrections_.insert(mirrored.begin(), mirrored.end());
}

bool KernelMachine::is_wrong(double y, double f, std::size_t column, const ClassPrior& prior) const {
  if (std::fabs(f) > zero()) return y * f < 0;
  if (rule_.zero_is_mistake || prior.total() == 0) return true;
  // A tie: the class is guessed where it is more frequent than the rest, or as frequent and the first.
  const Label label = functions_.owner(column);
  const std::uint64_t own = label < prior.num_classes() ? prior.count(label) : 0, rest = prior.total() - own;
  const bool guess = own != rest ? own > rest : label == functions_.lowest();
  return guess != (y > 0);
}

void KernelMachine::step(NodeId node, std::size_t column, double amount, double diagonal) {
  space_->add(column, amount);
  Correction& correction = corrections_[key(node, column)];
  correction.amount += amount;
  correction.diagonal = diagonal;
  ++num_steps_;
  largest_ = std::max(largest_, std::fabs(amount) * diagonal);
  sum_diagonal_ += diagonal;
}

bool KernelMachine::correct(NodeId node, Label label, bool also_if_right, const ClassPrior& prior) {
  std::vector<std::size_t> wrong;
  for (std::size_t column = 0; column < functions_.num_columns(); ++column) {
    const double y = functions_.target(column, label), f = space_->value(column, node);
    const bool is_met = rule_.cyclic ? y * f >= 1 - zero() : std::fabs(y - f) <= zero();
    if (is_wrong(y, f, column, prior) || (also_if_right && !is_met)) wrong.push_back(column);
  }
  if (wrong.empty()) return false;
  const double diagonal = space_->prepare(node);  // may throw: nothing has changed yet
  if (!(diagonal > 0)) return false;              // a node without edges, in a kernel without bias
  for (const std::size_t column : wrong) {
    const double y = functions_.target(column, label);
    const double amount =
        rule_.step == KernelRule::Step::perceptron ? y : (y - space_->value(column, node)) / diagonal;
    step(node, column, amount, diagonal);
  }
  return true;
}

bool KernelMachine::learn(NodeId node, Label label, bool is_aggressive, const ClassPrior& prior) {
  meet(node, label);
  if (!correct(node, label, is_aggressive || rule_.aggressive, prior)) return false;
  if (rule_.cyclic && rule_.all) sweep_until_right();
  return true;
}

/// Herbster et al. 2005, algorithm 2, the inner loop: any label that is on the wrong side may be taken next,
/// here in turns. Functions that no label contradicts are reached in finitely many steps where there are
/// some; where there are none (every node of a component of one class) the sweeps are cut short.
void KernelMachine::sweep_until_right() {
  for (int sweep = 0; sweep < rule_.max_sweeps; ++sweep) {
    bool is_right = true;
    for (const NodeId node : seen_) {
      const Label label = label_.at(node);
      double diagonal = 0;
      for (std::size_t column = 0; column < functions_.num_columns(); ++column) {
        const double y = functions_.target(column, label), f = space_->value(column, node);
        if (!(y * f < -zero())) continue;
        if (diagonal == 0) diagonal = space_->prepare(node);
        if (!(diagonal > 0)) continue;
        step(node, column, (y - f) / diagonal, diagonal);
        is_right = false;
      }
    }
    if (is_right) return;
  }
  is_capped_ = true;
}

Margins KernelMachine::margins(NodeId node, std::size_t num_classes) const {
  Margins margins;
  margins.of_class.assign(num_classes, -std::numeric_limits<double>::infinity());
  for (std::size_t c = 0; c < num_classes; ++c) {
    const auto label = static_cast<Label>(c);
    if (functions_.knows(label))
      margins.of_class[c] = functions_[label].sign * space_->value(functions_[label].column, node);
  }
  margins.zero = zero();
  if (rule_.step == KernelRule::Step::perceptron && num_steps_ > 0)
    margins.unit = sum_diagonal_ / static_cast<double>(num_steps_);
  return margins;
}

std::vector<Reason> KernelMachine::reasons(NodeId node, Label label) const {
  if (!functions_.knows(label)) return {};
  constexpr double kSmallest = std::numeric_limits<double>::min();  // different nodes are never at 0
  std::map<NodeId, Correction> parts;  // all nodes: where none speaks for the label, the nearest is named
  for (const auto& [of, correction] : corrections_) {
    Correction& part = parts[static_cast<NodeId>(of >> 16)];
    part.diagonal = correction.diagonal;
    if ((of & 0xFFFF) == functions_[label].column) part.amount = functions_[label].sign * correction.amount;
  }
  std::vector<NodeId> nodes{node};
  for (const auto& part : parts) nodes.push_back(part.first);
  const std::vector<double> kernel = space_->kernel(node, nodes);
  std::vector<Reason> reasons;
  Reason nearest{kNoNode, kNoLabel, 1, std::numeric_limits<double>::infinity()};
  double total = 0;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    if (std::isnan(kernel[i])) continue;  // another component
    const Correction& part = parts.at(nodes[i]);
    const double share = part.amount * kernel[i];
    const double resistance = std::max(
        space_->resistance(kernel[0], part.diagonal, space_->toward(node, nodes[i], kernel[i])), kSmallest);
    if (resistance < nearest.resistance) nearest = {nodes[i], kNoLabel, 1, resistance};
    if (!(share > 0)) continue;
    reasons.push_back({nodes[i], kNoLabel, share, resistance});
    total += share;
  }
  for (Reason& reason : reasons) reason.share /= total;
  if (reasons.empty() && nearest.node != kNoNode) reasons.push_back(nearest);
  return reasons;
}

std::string KernelMachine::note() const {
  if (is_capped_)
    return "some labels stayed on the wrong side after " + std::to_string(rule_.max_sweeps) +
           " sweeps: no function of the graph meets them all, or max_sweeps is too small";
  return space_->note();
}

}  // namespace copse
