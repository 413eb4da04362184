// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "copse/learners/learner.hpp"

namespace copse {

/// Columns of 0 for classes that no given label has.
inline void widen(LeaveOneOut& table, std::size_t columns, std::size_t wanted) {
  if (columns == wanted) return;
  std::vector<double> wide(table.nodes.size() * wanted);
  for (std::size_t i = 0; i < table.nodes.size(); ++i)
    std::copy_n(&table.raw_scores[i * columns], columns, &wide[i * wanted]);
  table.raw_scores = std::move(wide);
}

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
  void raw_scores(NodeId node, std::span<double> scores) const override {
    const std::size_t known = learner_->num_classes();
    learner_->raw_scores(node, scores.first(known));
    std::fill(scores.begin() + static_cast<std::ptrdiff_t>(known), scores.end(), 0.0);
  }
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override {
    std::optional<LeaveOneOut> left_out = learner_->leave_one_out(execution);
    if (left_out) widen(*left_out, learner_->num_classes(), num_classes_);
    return left_out;
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
