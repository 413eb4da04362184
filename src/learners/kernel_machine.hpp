// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>

#include "learners/kernel_space.hpp"
#include "learners/machine.hpp"

namespace copse {

/// When a function is corrected, and by how much of the kernel's column.
struct KernelRule {
  enum class Step {
    perceptron,  // g += y K_i (Herbster & Pontil 2006, figure 1)
    projection,  // g += (y - g_i) / K_ii K_i, to the next function that has g_i = y (Herbster et al. 2005)
  };
  Step step = Step::perceptron;
  bool zero_is_mistake = true;  // a margin of 0 is corrected; else only where the guess was wrong
  bool cyclic = false;          // project on half-spaces: a margin of 1 or more is let be
  bool aggressive = false;      // correct also where the sign is right
  bool all = false;             // cyclic: come back to earlier labels that are wrong now
  int max_sweeps = 100;         // over these, after one label
};

/// Kernel methods that keep one function a class and correct it when it is wrong: class against rest. The
/// first two classes are each other's mirror image and share one function, the papers' f; from the third on
/// each has its own, which begins at 0 with its first label.
class KernelMachine final : public Machine {
 public:
  KernelMachine(std::unique_ptr<KernelSpace> space, const KernelRule& rule);

  void reset() override;
  bool learn(NodeId node, Label label, bool is_aggressive, const ClassPrior& prior) override;
  Margins margins(NodeId node, std::size_t num_classes) const override;
  std::vector<Reason> reasons(NodeId node, Label label) const override;
  std::string note() const override;

 private:
  static constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

  /// Where a class has its function.
  struct Class {
    std::size_t column = kNoColumn;
    double sign = 1;
  };
  struct Update {
    NodeId node;
    std::size_t column;
    double amount;
    double diagonal;  // K_ii
  };

  void meet(NodeId node, Label label);
  double target(std::size_t column, Label label) const { return owner_[column] == label ? 1 : -1; }
  double zero() const { return kZeroMargin * largest_; }
  bool is_wrong(double y, double f, std::size_t column, const ClassPrior& prior) const;
  bool correct(NodeId node, Label label, bool also_if_right, const ClassPrior& prior);
  void step(NodeId node, std::size_t column, double amount, double diagonal);
  void sweep_until_right();

  std::unique_ptr<KernelSpace> space_;
  KernelRule rule_;
  std::vector<Class> classes_;  // by label
  std::vector<Label> owner_;    // by column: the class it is the function of
  std::size_t num_classes_ = 0;
  Label lowest_ = kNoLabel;  // class
  bool is_mirrored_ = false;
  std::vector<Update> updates_;
  double largest_ = 0;        // correction so far: |amount| K_ii
  double sum_diagonal_ = 0;   // of K_ii over the updates
  std::vector<NodeId> seen_;  // in the order of their first labels, and these now: where `all` is set
  std::unordered_map<NodeId, Label> label_;
  bool is_capped_ = false;
};

}  // namespace copse
