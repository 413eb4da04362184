// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/learner.hpp"

#include <algorithm>

namespace copse {
namespace {

/// Scores a fixed number of classes, also those that no given label has.
class Revealed final : public Predictor {
 public:
  Revealed(std::unique_ptr<Learner> learner, std::size_t num_classes)
      : learner_(std::move(learner)), num_classes_(num_classes) {}
  Prediction predict(NodeId node) const override { return learner_->predict(node); }
  void scores(NodeId node, std::span<double> scores) const override { learner_->scores(node, known(scores)); }
  void raw_scores(NodeId node, std::span<double> scores) const override {
    learner_->raw_scores(node, known(scores));
  }
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override {
    std::optional<LeaveOneOut> left_out = learner_->leave_one_out(execution);
    const std::size_t columns = learner_->num_classes();
    if (!left_out || columns == num_classes_) return left_out;
    std::vector<double> wide(left_out->nodes.size() * num_classes_);
    for (std::size_t i = 0; i < left_out->nodes.size(); ++i)
      std::copy_n(&left_out->raw_scores[i * columns], columns, &wide[i * num_classes_]);
    left_out->raw_scores = std::move(wide);
    return left_out;
  }
  std::size_t num_classes() const override { return num_classes_; }

 private:
  /// The places of the classes that the learner knows; the others become 0.
  std::span<double> known(std::span<double> scores) const {
    std::ranges::fill(scores.subspan(learner_->num_classes()), 0.0);
    return scores.first(learner_->num_classes());
  }

  std::unique_ptr<Learner> learner_;
  std::size_t num_classes_;
};

}  // namespace

BatchResult Learner::reveal_all(std::span<const Label> labels) {
  for (NodeId node = 0; node < labels.size(); ++node)
    if (labels[node] != kNoLabel) reveal(node, labels[node]);
  return {};
}

BatchResult fit_by_revealing(std::unique_ptr<Learner> learner, std::span<const Label> labels,
                             std::size_t num_classes) {
  BatchResult result = learner->reveal_all(labels);
  result.notes = learner->notes();
  result.predictor = std::make_unique<Revealed>(std::move(learner), num_classes);
  return result;
}

}  // namespace copse
