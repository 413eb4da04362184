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
  return is_reached(node) ? answer(node) : answer_of_prior();
}

void LabelledLearner::scores(NodeId node, std::span<double> scores) const {
  std::fill(scores.begin(), scores.end(), 0.0);
  if (has_label(node))
    scores[labels_[node]] = 1;
  else if (is_reached(node))
    weigh(node, scores);
  else
    prior_.scores(scores);
}

std::vector<Reason> LabelledLearner::explain(NodeId node) const {
  if (has_label(node)) return {{node, labels_[node], 1, 0}};
  return is_reached(node) ? reasons(node) : std::vector<Reason>{};
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

Prediction LabelledLearner::answer_of_prior() const {
  const Label label = prior_.favourite();
  return {label, label == kNoLabel ? 0 : prior_.share(label), false};
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
