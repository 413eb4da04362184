// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "copse/learners/learner.hpp"

namespace copse {

/// Scores a fixed number of classes, also those that no given label has.
template <class L>
class Revealed final : public Predictor {
 public:
  Revealed(std::unique_ptr<L> learner, std::size_t num_classes)
      : learner_(std::move(learner)), num_classes_(num_classes) {}
  Prediction predict(NodeId node) const override { return learner_->predict(node); }
  void scores(NodeId node, std::span<double> scores) const override {
    const std::size_t known = learner_->num_classes();
    learner_->scores(node, scores.first(known));
    std::fill(scores.begin() + static_cast<std::ptrdiff_t>(known), scores.end(), 0.0);
  }
  std::size_t num_classes() const override { return num_classes_; }

 private:
  std::unique_ptr<L> learner_;
  std::size_t num_classes_;
};

/// Batch by the online learner: for learners whose state is small and whose answers are looked up.
template <class L>
BatchResult fit_by_revealing(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                             const typename L::Options& options, const Execution& execution) {
  auto learner = std::make_unique<L>(graph, options, execution);
  for (NodeId node = 0; node < graph.num_nodes(); ++node) {
    if (labels[node] != kNoLabel) learner->reveal(node, labels[node]);
  }
  BatchResult result;
  result.predictor = std::make_unique<Revealed<L>>(std::move(learner), num_classes);
  return result;
}

}  // namespace copse
