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

namespace copse {

/// Margins closer than this share of the largest correction made so far count as equal, and as 0 if that
/// close to it. Columns come from solves whose error is about 1e-8 of themselves, so that a margin which is 0
/// by symmetry comes out as 1e-8 or 1e-9; a hundred times that is still far below any margin worth having.
inline constexpr double kZeroMargin = 1e-6;

/// What a machine says about a node.
struct Margins {
  std::vector<double> of_class;  // minus infinity where no label has been told
  double zero = 0;               // margins within this of 0 are 0
  double unit = 1;               // a margin that is neither weak nor strong
};

struct Decision {
  Label label = kNoLabel;  // kNoLabel while no class is known
  double lead = 0;         // over the next class, in units; 0 where it was a tie
};

/// Where weights are too far apart for the digits of a solve, a margin may come out as no number, and then it
/// says nothing, or beyond any.
inline void make_finite(Margins& margins) {
  constexpr double kMost = 1e300;
  for (double& f : margins.of_class) {
    if (std::isnan(f)) f = 0;
    if (f != -std::numeric_limits<double>::infinity()) f = std::clamp(f, -kMost, kMost);
  }
}

/// The class of the largest margin; of those that tie the one the prior prefers. Margins that tie with the
/// largest are made equal to it.
inline Decision decide(Margins& margins, const ClassPrior& prior) {
  make_finite(margins);
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  double most = kNone, next = kNone;
  for (const double f : margins.of_class) most = std::max(most, f);
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

/// A hypothesis that is corrected trial by trial. Any number of threads may ask while none learns.
class Machine {
 public:
  virtual ~Machine() = default;
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

}  // namespace copse
