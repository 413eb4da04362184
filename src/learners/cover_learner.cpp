// SPDX-License-Identifier: Apache-2.0
#include "learners/cover_learner.hpp"

#include <algorithm>
#include <map>

#include "learners/signs.hpp"

namespace copse {
namespace {

/// Where no label reaches a node both classes are as frequent on the cover: what was told decides instead.
Prediction answer(const Predictor& predictor, const ClassPrior& prior, NodeId node) {
  const Prediction found = predictor.predict(node);
  if (found.reached) return found;
  return unreached(prior);
}

class CoverAnswers final : public Predictor {
 public:
  CoverAnswers(Graph cover, std::unique_ptr<Predictor> predictor, ClassPrior prior, std::size_t num_classes)
      : cover_(std::move(cover)),
        predictor_(std::move(predictor)),
        prior_(std::move(prior)),
        num_classes_(num_classes) {}

  Prediction predict(NodeId node) const override { return answer(*predictor_, prior_, node); }
  void scores(NodeId node, std::span<double> scores) const override {
    if (!predictor_->predict(node).reached) return prior_.scores(scores);
    predictor_->scores(node, scores);
  }
  void raw_scores(NodeId node, std::span<double> scores) const override {
    if (!predictor_->predict(node).reached) return prior_.scores(scores);
    predictor_->raw_scores(node, scores);
  }
  std::size_t num_classes() const override { return num_classes_; }

 private:
  Graph cover_;
  std::unique_ptr<Predictor> predictor_;
  ClassPrior prior_;
  std::size_t num_classes_;
};

}  // namespace

CoverLearner::CoverLearner(const GraphView& graph, int threads, const Make& make)
    : LabelledLearner(graph), cover_(double_cover(graph, threads)), learner_(make(cover_)) {}

Prediction CoverLearner::choose(NodeId node) const { return answer(*learner_, prior(), node); }

double CoverLearner::weigh(NodeId node, std::span<double> weights) const {
  if (!learner_->predict(node).reached) return 0;
  learner_->scores(node, weights);
  return 1;
}

void CoverLearner::raw_scores(NodeId node, std::span<double> scores) const {
  if (!learner_->predict(node).reached) return this->scores(node, scores);
  learner_->raw_scores(node, scores);
}

void CoverLearner::change_label(NodeId node, Label label) {
  const NodeId mirror = static_cast<NodeId>(labels().size()) + node;
  if (label == kNoLabel) {
    learner_->retract(node);
    learner_->retract(mirror);
  } else {
    learner_->reveal(node, label);
    learner_->reveal(mirror, turned(label, true));
  }
}

std::vector<Reason> CoverLearner::reasons(NodeId node) const {
  return fold_reasons(learner_->explain(node), static_cast<NodeId>(labels().size()));
}

std::vector<Reason> fold_reasons(const std::vector<Reason>& reasons, NodeId num_nodes) {
  std::map<NodeId, Reason> merged;
  for (const Reason& reason : reasons) {
    Reason& sum = merged[reason.node < num_nodes ? reason.node : reason.node - num_nodes];
    sum.share += reason.share;
    sum.resistance += reason.share * reason.resistance;
  }
  std::vector<Reason> folded;
  folded.reserve(merged.size());
  for (const auto& [node, sum] : merged)
    folded.push_back({node, kNoLabel, sum.share, sum.share > 0 ? sum.resistance / sum.share : 0});
  return folded;
}

BatchResult fit_on_cover(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         int threads, const FitOnCover& fit) {
  check_signed_classes(num_classes);
  Graph cover = double_cover(graph, threads);
  std::vector<Label> both(2 * labels.size(), kNoLabel);
  ClassPrior prior;
  for (std::size_t node = 0; node < labels.size(); ++node) {
    if (labels[node] == kNoLabel) continue;
    both[node] = labels[node];
    both[labels.size() + node] = turned(labels[node], true);
    prior.add(labels[node]);
  }
  BatchResult result = fit(cover, both);
  result.predictor = std::make_unique<CoverAnswers>(std::move(cover), std::move(result.predictor),
                                                    std::move(prior), num_classes);
  return result;
}

}  // namespace copse
