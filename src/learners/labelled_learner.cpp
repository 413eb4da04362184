// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/labelled_learner.hpp"

#include <algorithm>

#include "learners/signs.hpp"

namespace copse {

LabelledLearner::LabelledLearner(const GraphView& graph)
    : is_signed_(graph.is_signed()), labels_(graph.num_nodes(), kNoLabel) {
  if (is_signed_) prior_.expect(kSignedClasses);
}

Prediction LabelledLearner::predict(NodeId node) const {
  if (labels_[node] != kNoLabel) return {labels_[node], 1, true};
  return prior_.total() == 0 ? Prediction{} : choose(node);
}

Prediction LabelledLearner::choose(NodeId node) const {
  std::vector<double> weights(num_classes());
  const double total = weigh(node, weights);
  if (total == 0) return unreached(prior_);
  Label best = 0;
  for (Label c = 1, end = static_cast<Label>(weights.size()); c < end; ++c)
    if (weights[c] != weights[best] ? weights[c] > weights[best] : prior_.prefers(c, best)) best = c;
  return {best, weights[best] / total, true};
}

void LabelledLearner::scores(NodeId node, std::span<double> scores) const {
  std::fill(scores.begin(), scores.end(), 0.0);
  if (labels_[node] != kNoLabel) {
    scores[labels_[node]] = 1;
    return;
  }
  const double total = prior_.total() == 0 ? 0 : weigh(node, scores);
  if (total == 0) return prior_.scores(scores);
  for (double& score : scores) score /= total;
}

void LabelledLearner::reveal(NodeId node, Label label) {
  if (is_signed_) check_signed_label(label);
  if (labels_[node] == label) return;
  retract(node);
  labels_[node] = label;
  prior_.add(label);
  learned(node);
}

void LabelledLearner::retract(NodeId node) {
  if (labels_[node] == kNoLabel) return;
  prior_.remove(labels_[node]);
  labels_[node] = kNoLabel;
  forgot(node);
}

}  // namespace copse
