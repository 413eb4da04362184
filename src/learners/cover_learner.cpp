// SPDX-License-Identifier: Apache-2.0
#include "learners/cover_learner.hpp"

#include <algorithm>
#include <map>

#include "learners/signs.hpp"

namespace copse {

CoverLearner::CoverLearner(const GraphView& graph, int threads, const Make& make)
    : LabelledLearner(graph), cover_(double_cover(graph, threads)), learner_(make(cover_)) {}

/// Where no label reaches a node both classes are as frequent on the cover: what was told decides instead.
Prediction CoverLearner::choose(NodeId node) const {
  const Prediction found = learner_->predict(node);
  return found.reached ? found : unreached(prior());
}

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

BatchResult CoverLearner::reveal_all(std::span<const Label> told) {
  std::vector<Label> both(told.begin(), told.end());
  for (NodeId node = 0; node < told.size(); ++node) {
    both.push_back(turned(told[node], true));
    if (told[node] == kNoLabel) continue;
    check_label(told[node]);
    set_label(node, told[node]);
  }
  return learner_->reveal_all(both);
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

}  // namespace copse
