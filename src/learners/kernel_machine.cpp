// SPDX-License-Identifier: Apache-2.0
#include "learners/kernel_machine.hpp"

#include <map>

namespace copse {

KernelMachine::KernelMachine(std::unique_ptr<KernelSpace> space, const KernelRule& rule)
    : space_(std::move(space)), rule_(rule) {}

void KernelMachine::reset() {
  space_->clear();
  classes_.clear();
  owner_.clear();
  num_classes_ = 0;
  lowest_ = kNoLabel;
  is_mirrored_ = false;
  updates_.clear();
  largest_ = sum_diagonal_ = 0;
  seen_.clear();
  label_.clear();
  is_capped_ = false;
}

/// Gives a class that is new its function.
void KernelMachine::meet(NodeId node, Label label) {
  if (rule_.all && label_.insert_or_assign(node, label).second) seen_.push_back(node);
  if (label >= classes_.size()) classes_.resize(std::size_t{label} + 1);
  if (classes_[label].column != kNoColumn) return;
  ++num_classes_;
  lowest_ = std::min(lowest_, label);  // kNoLabel is the largest
  if (num_classes_ == 2) {
    classes_[label] = {0, -1};
    is_mirrored_ = true;
    return;
  }
  if (is_mirrored_) {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      if (classes_[c].sign > 0) continue;
      classes_[c] = {space_->add_negative_column(), 1};
      owner_.push_back(static_cast<Label>(c));
    }
    for (std::size_t i = updates_.size(); i-- > 0;) {
      Update mirrored = updates_[i];
      mirrored.column = 1;
      mirrored.amount = -mirrored.amount;
      updates_.push_back(mirrored);
    }
    sum_diagonal_ *= 2;
    is_mirrored_ = false;
  }
  classes_[label] = {space_->add_column(), 1};
  owner_.push_back(label);
}

bool KernelMachine::is_wrong(double y, double f, std::size_t column, const ClassPrior& prior) const {
  if (std::fabs(f) > zero()) return y * f < 0;
  if (rule_.zero_is_mistake || prior.total() == 0) return true;
  // A tie: the class is guessed where it is more frequent than the rest, or as frequent and the first.
  const Label label = owner_[column];
  const std::uint64_t own = label < prior.num_classes() ? prior.count(label) : 0, rest = prior.total() - own;
  const bool guess = own != rest ? own > rest : label == lowest_;
  return guess != (y > 0);
}

void KernelMachine::step(NodeId node, std::size_t column, double amount, double diagonal) {
  space_->add(column, amount);
  updates_.push_back({node, column, amount, diagonal});
  largest_ = std::max(largest_, std::fabs(amount) * diagonal);
  sum_diagonal_ += diagonal;
}

bool KernelMachine::correct(NodeId node, Label label, bool also_if_right, const ClassPrior& prior) {
  std::vector<std::size_t> wrong;
  for (std::size_t column = 0; column < owner_.size(); ++column) {
    const double y = target(column, label), f = space_->value(column, node);
    const bool is_met = rule_.cyclic ? y * f >= 1 - zero() : std::fabs(y - f) <= zero();
    if (is_wrong(y, f, column, prior) || (also_if_right && !is_met)) wrong.push_back(column);
  }
  if (wrong.empty()) return false;
  const double diagonal = space_->prepare(node);  // may throw: nothing has changed yet
  if (!(diagonal > 0)) return false;              // a node without edges, in a kernel without bias
  for (const std::size_t column : wrong) {
    const double y = target(column, label);
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
      for (std::size_t column = 0; column < owner_.size(); ++column) {
        const double y = target(column, label), f = space_->value(column, node);
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
  for (std::size_t c = 0; c < std::min(num_classes, classes_.size()); ++c) {
    if (classes_[c].column != kNoColumn)
      margins.of_class[c] = classes_[c].sign * space_->value(classes_[c].column, node);
  }
  margins.zero = zero();
  if (rule_.step == KernelRule::Step::perceptron && !updates_.empty())
    margins.unit = sum_diagonal_ / static_cast<double>(updates_.size());
  return margins;
}

std::vector<Reason> KernelMachine::reasons(NodeId node, Label label) const {
  if (label >= classes_.size() || classes_[label].column == kNoColumn) return {};
  constexpr double kSmallest = std::numeric_limits<double>::min();  // different nodes are never at 0
  struct Part {
    double amount = 0, diagonal = 0;
  };
  std::map<NodeId, Part> parts;  // all corrected nodes: where none speaks for the label, the nearest is named
  for (const Update& update : updates_) {
    Part& part = parts[update.node];
    part.diagonal = update.diagonal;
    if (update.column == classes_[label].column) part.amount += classes_[label].sign * update.amount;
  }
  std::vector<NodeId> nodes{node};
  for (const auto& part : parts) nodes.push_back(part.first);
  const std::vector<double> kernel = space_->kernel(node, nodes);
  std::vector<Reason> reasons;
  Reason nearest{kNoNode, kNoLabel, 1, std::numeric_limits<double>::infinity()};
  double total = 0;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    if (std::isnan(kernel[i])) continue;  // another component
    const Part& part = parts.at(nodes[i]);
    const double share = part.amount * kernel[i];
    const double resistance = std::max(space_->resistance(kernel[0], part.diagonal, kernel[i]), kSmallest);
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
