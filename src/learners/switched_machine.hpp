// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>

#include "copse/trees/parity.hpp"
#include "learners/machine.hpp"
#include "learners/signs.hpp"

namespace copse {

/// A machine on a tree of a signed graph: seen from the root, the tree has no signs (TreeParity), and the
/// machine within learns and answers from there. Its prior counts labels as they are seen from there, too, so
/// that switching nodes of the graph switches their answers and nothing else.
class SwitchedMachine final : public Machine {
 public:
  SwitchedMachine(std::unique_ptr<Machine> machine, TreeParity parity)
      : machine_(std::move(machine)), parity_(std::move(parity)) {}

  void reset() override {
    machine_->reset();
    prior_ = {};
    told_.clear();
  }
  bool learn(NodeId node, Label label, bool is_aggressive, const ClassPrior&) override {
    const Label seen = turned(label, parity_.is_other_side(node));
    const bool has_changed = machine_->learn(node, seen, is_aggressive, prior_);
    const auto [told, is_new] = told_.try_emplace(node, seen);
    if (!is_new) prior_.remove(told->second);
    told->second = seen;
    prior_.add(seen);
    return has_changed;
  }
  Margins margins(NodeId node, std::size_t) const override {
    Margins margins = machine_->margins(node, kSignedClasses);
    if (parity_.is_other_side(node)) std::swap(margins.of_class[0], margins.of_class[1]);
    return margins;
  }
  std::vector<Reason> reasons(NodeId node, Label label) const override {
    return machine_->reasons(node, turned(label, parity_.is_other_side(node)));
  }
  std::string note() const override { return machine_->note(); }

 private:
  std::unique_ptr<Machine> machine_;
  TreeParity parity_;
  ClassPrior prior_;
  std::unordered_map<NodeId, Label> told_;
};

/// The machine of a tree, with or without signs.
template <class Make>
std::unique_ptr<Machine> machine_on_tree(const GraphView& graph, const SpanningForest& forest,
                                         const Make& make) {
  if (!graph.is_signed()) return make(forest);
  return std::make_unique<SwitchedMachine>(make(forest), TreeParity(graph, forest));
}

}  // namespace copse
