// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "copse/graph/types.hpp"
#include "copse/learners/learner.hpp"
#include "copse/support/options.hpp"

namespace copse {

/// What classes are expected to take of the nodes.
enum class PriorKind {
  labels,   // their share of the known labels, smoothed
  uniform,  // the same for all
};

template <class Options>
Field prior_choice(PriorKind Options::*member) {
  return choice("prior", member, "what a class is expected to take: its share of the labels, or all the same",
                {{"labels", PriorKind::labels}, {"uniform", PriorKind::uniform}});
}

/// How often each class has been revealed: the answer where the graph gives none, and the judge of ties.
class ClassPrior {
 public:
  void add(Label label, std::uint64_t count = 1) {
    if (label >= counts_.size()) counts_.resize(std::size_t{label} + 1);
    counts_[label] += count;
    total_ += count;
  }
  void remove(Label label) {
    --counts_[label];
    --total_;
  }
  /// Classes that may be answered before any label has them.
  void expect(std::size_t num_classes) {
    if (counts_.size() < num_classes) counts_.resize(num_classes);
  }
  std::size_t num_classes() const { return counts_.size(); }
  std::uint64_t total() const { return total_; }
  std::uint64_t count(Label label) const { return counts_[label]; }
  double share(Label label) const {
    return total_ == 0 ? 0 : static_cast<double>(counts_[label]) / static_cast<double>(total_);
  }
  /// a goes before b where votes are equal: the more frequent class, then the lower index.
  bool prefers(Label a, Label b) const { return counts_[a] != counts_[b] ? counts_[a] > counts_[b] : a < b; }
  /// The most frequent class; kNoLabel while there is none.
  Label favourite() const;
  void scores(std::span<double> scores) const {
    for (std::size_t c = 0; c < scores.size(); ++c)
      scores[c] = c < counts_.size() ? share(static_cast<Label>(c)) : 0;
  }

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t total_ = 0;
};

/// The answer where no label reaches a node: the most frequent class.
inline Prediction unreached(const ClassPrior& prior) {
  const Label label = prior.favourite();
  return {label, label == kNoLabel ? 0 : prior.share(label), false};
}

}  // namespace copse
