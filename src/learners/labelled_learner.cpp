// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/labelled_learner.hpp"

#include <algorithm>

#include "learners/signs.hpp"

namespace copse {

LabelledLearner::LabelledLearner(const GraphView& graph)
    : is_signed_(graph.is_signed()), labels_(graph.num_nodes()) {
  clear_labels();
}

Prediction LabelledLearner::predict(NodeId node) const {
  if (has_label(node)) return {labels_[node], 1, true};
  return prior_.total() == 0 ? Prediction{} : choose(node);
}

Prediction LabelledLearner::choose(NodeId node) const {
  std::vector<double> weights(num_classes());
  double total = weigh(node, weights);
  const bool is_reached = total != 0;
  if (!is_reached) {
    unreached_scores(weights);
    total = 1;
  }
  const double enough = *std::max_element(weights.begin(), weights.end()) - resolution() * total;
  Label best = kNoLabel;
  for (Label c = 0, end = static_cast<Label>(weights.size()); c < end; ++c)
    if (weights[c] >= enough && (best == kNoLabel || prior_.prefers(c, best))) best = c;
  return {best, weights[best] / total, is_reached};
}

void LabelledLearner::scores(NodeId node, std::span<double> scores) const {
  std::fill(scores.begin(), scores.end(), 0.0);
  if (has_label(node)) {
    scores[labels_[node]] = 1;
    return;
  }
  const double total = prior_.total() == 0 ? 0 : weigh(node, scores);
  if (total == 0) return unreached_scores(scores);
  for (double& score : scores) score /= total;
}

std::vector<Reason> LabelledLearner::explain(NodeId node) const {
  if (has_label(node)) return {{node, labels_[node], 1, 0}};
  if (prior_.total() == 0) return {};
  std::vector<Reason> found = reasons(node);
  for (Reason& reason : found) reason.label = labels_[reason.node];
  std::ranges::stable_sort(found, std::greater{}, &Reason::share);
  return found;
}

LeaveOneOut LabelledLearner::weigh_labelled() const {
  LeaveOneOut result;
  std::vector<double> weights(num_classes());
  for (NodeId node = 0; node < labels_.size(); ++node) {
    if (!has_label(node)) continue;
    std::fill(weights.begin(), weights.end(), 0.0);
    const double total = weigh(node, weights);
    if (total == 0) continue;
    result.nodes.push_back(node);
    for (const double weight : weights) result.raw_scores.push_back(weight / total);
  }
  return result;
}

void LabelledLearner::reveal(NodeId node, Label label) {
  check_label(label);
  if (label == labels_[node]) return;
  change_label(node, label);
  set_label(node, label);
}

void LabelledLearner::retract(NodeId node) {
  if (!has_label(node)) return;
  change_label(node, kNoLabel);
  set_label(node, kNoLabel);
}

void LabelledLearner::set_label(NodeId node, Label label) {
  if (has_label(node)) prior_.remove(labels_[node]);
  if (label != kNoLabel) prior_.add(label);
  labels_[node] = label;
}

void LabelledLearner::clear_labels() {
  std::fill(labels_.begin(), labels_.end(), kNoLabel);
  prior_ = {};
  if (is_signed_) prior_.expect(kSignedClasses);
}

void LabelledLearner::check_label(Label label) const {
  if (is_signed_) check_signed_label(label);
}

}  // namespace copse
