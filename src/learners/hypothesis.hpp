// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "copse/learners/learner.hpp"
#include "copse/learners/prior.hpp"
#include "learners/signs.hpp"

namespace copse {

/// Margins closer than this share of the largest correction made so far count as equal, and as 0 if that
/// close to it. Columns come from solves whose error is about 1e-8 of themselves, so that a margin which is 0
/// by symmetry comes out as 1e-8 or 1e-9; a hundred times that is still far below any margin worth having.
inline constexpr double kZeroMargin = 1e-6;

/// What a hypothesis says about a node.
struct Margins {
  std::vector<double> of_class;  // minus infinity where no label has been told
  double zero = 0;               // margins within this of 0 are 0
  double unit = 1;               // a margin that is neither weak nor strong

  explicit Margins(std::size_t num_classes)
      : of_class(num_classes, -std::numeric_limits<double>::infinity()) {}
};

struct Decision {
  Label label = kNoLabel;  // kNoLabel while no class is known
  double lead = 0;         // over the next class, in units; 0 where it was a tie
};

/// The class of the largest margin; of those that tie the one the prior prefers. Margins that tie with the
/// largest are made equal to it.
inline Decision decide(Margins& margins, const ClassPrior& prior) {
  constexpr double kNone = -std::numeric_limits<double>::infinity(), kMost = 1e300;
  double most = kNone, next = kNone;
  for (double& f : margins.of_class) {
    // Where weights are too far apart for the digits of a solve, which its report tells, a margin may be no
    // number, and then it says nothing, or beyond any.
    if (f != kNone) f = std::isnan(f) ? 0 : std::clamp(f, -kMost, kMost);
    most = std::max(most, f);
  }
  Decision decision;
  if (most == kNone) return decision;
  for (std::size_t c = 0; c < margins.of_class.size(); ++c) {
    double& f = margins.of_class[c];
    if (f < most - 2 * margins.zero || f == kNone) {
      next = std::max(next, f);
      continue;
    }
    if (decision.label != kNoLabel) next = most;
    f = most;
    const auto label = static_cast<Label>(c);
    if (decision.label == kNoLabel || prior.prefers(label, decision.label)) decision.label = label;
  }
  decision.lead = next == kNone ? 1 : (most - next) / margins.unit;
  return decision;
}

/// What a function says that is 0: yes where its class is more frequent than the rest, or as frequent and the
/// lowest.
inline bool says_yes_at_zero(Label label, bool is_lowest, const ClassPrior& prior) {
  const std::uint64_t own = label < prior.num_classes() ? prior.count(label) : 0, rest = prior.total() - own;
  return own != rest ? own > rest : is_lowest;
}

/// Scores from margins that went through `decide`: (1 + z) / 2 with z = m / (1 + |m|), m in units, divided by
/// their sum. No exponential: its last bit differs between C libraries.
inline void scores_of(const Margins& margins, std::span<double> scores) {
  double total = 0;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    scores[c] = 0;
    if (c >= margins.of_class.size() || std::isinf(margins.of_class[c])) continue;
    const double m = margins.of_class[c] / margins.unit;
    scores[c] = std::isinf(m) ? (m > 0 ? 1 : 0) : (1 + m / (1 + std::fabs(m))) / 2;
    if (scores[c] == 0) scores[c] = 0.5 / (1 + std::min(-m, 1e300));  // what rounding has left nothing of
    total += scores[c];
  }
  if (total > 0)
    for (double& score : scores) score /= total;
}

/// What a sequential learner holds and corrects trial by trial: one on the graph, or one on each tree of a
/// committee. Any number of threads may ask while none learns.
class Hypothesis {
 public:
  virtual ~Hypothesis() = default;
  /// Forgets every trial.
  virtual void reset() = 0;
  /// One trial; `prior` counts the labels before it. Returns whether the hypothesis has changed.
  virtual bool learn(NodeId node, Label label, bool is_aggressive, const ClassPrior& prior) = 0;
  /// One margin for each of `num_classes` classes.
  virtual Margins margins(NodeId node, std::size_t num_classes) const = 0;
  /// Nodes whose corrections speak for `label` at `node`, with shares that sum to 1, in any order. The label
  /// of a reason is left open. Not empty once a trial has changed the hypothesis in the node's component.
  virtual std::vector<Reason> reasons(NodeId node, Label label) const = 0;
  /// What a user should know; empty if nothing.
  virtual std::string note() const { return ""; }
};

/// Which function of a hypothesis speaks for which class. The first two classes share one, the papers' f, as
/// f and -f; the third splits them, and from then on each class has its own, which begins at 0 with its first
/// label.
class ClassFunctions {
 public:
  /// Gives a class that is new its function, made by functions.add_column(factor), `factor` times function 0;
  /// of a signed graph, both classes. Returns whether it was the third class.
  template <class Functions>
  bool meet(Label label, Functions& functions) {
    const bool is_third = meet_one(label, functions);
    if (functions.is_signed()) meet_one(turned(label, true), functions);
    return is_third;
  }

  bool knows(Label label) const { return label < classes_.size() && classes_[label].column != kNone; }
  std::size_t num_columns() const { return owner_.size(); }
  /// The function that speaks for a class, and whether for (1) or against it (-1).
  std::size_t column(Label label) const { return classes_[label].column; }
  double sign(Label label) const { return classes_[label].sign; }
  /// The class a function says yes to.
  Label owner(std::size_t column) const { return owner_[column]; }
  /// What a function should be at a node of this label.
  double target(std::size_t column, Label label) const { return owner_[column] == label ? 1 : -1; }
  Label lowest() const { return lowest_; }

  /// The margins of classes by the values of their functions.
  template <class Value>
  Margins margins(std::size_t num_classes, Value&& value) const {
    Margins margins(num_classes);
    for (Label c = 0; c < std::min(num_classes, classes_.size()); ++c)
      if (knows(c)) margins.of_class[c] = sign(c) * value(column(c));
    return margins;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Class {
    std::size_t column = kNone;
    double sign = 1;
  };

  template <class Functions>
  bool meet_one(Label label, Functions& functions) {
    if (knows(label)) return false;
    if (label >= classes_.size()) classes_.resize(std::size_t{label} + 1);
    lowest_ = std::min(label, lowest_);  // kNoLabel is the largest
    if (++count_ == 2) {
      classes_[label] = {0, -1};
      return false;
    }
    if (count_ == 3) {
      const auto second = std::ranges::find(classes_, -1, &Class::sign);
      *second = {functions.add_column(-1), 1};
      owner_.push_back(static_cast<Label>(second - classes_.begin()));
    }
    classes_[label] = {functions.add_column(0), 1};
    owner_.push_back(label);
    return count_ == 3;
  }

  std::vector<Class> classes_;  // by label
  std::vector<Label> owner_;    // by column
  std::size_t count_ = 0;
  Label lowest_ = kNoLabel;
};

}  // namespace copse
