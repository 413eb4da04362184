// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/majority_vote.hpp"

#include <algorithm>

#include "learners/fit_by_revealing.hpp"
#include "learners/signs.hpp"

namespace copse {

MajorityVote::MajorityVote(const GraphView& graph, const Options& options, const Execution&)
    : graph_(graph), labels_(graph.num_nodes(), kNoLabel) {
  refuse_signs(graph, "majority_vote", kUseRegistry);
  if (!options.weighted) graph_.weights = {};
}

template <class Body>
void MajorityVote::for_each_vote(NodeId node, Body&& body) const {
  for (EdgeIndex arc = graph_.offsets[node]; arc < graph_.offsets[node + 1]; ++arc) {
    const NodeId neighbor = graph_.neighbors[arc];
    if (labels_[neighbor] != kNoLabel) body(neighbor, labels_[neighbor], graph_.weight(arc));
  }
}

Prediction MajorityVote::predict(NodeId node) const {
  if (labels_[node] != kNoLabel) return {labels_[node], 1, true};
  std::vector<double> weight(num_classes());
  double total = 0;
  for_each_vote(node, [&](NodeId, Label label, Weight w) {
    weight[label] += w;
    total += w;
  });
  if (total == 0) {
    const Label label = prior_.favourite();
    return {label, label == kNoLabel ? 0 : prior_.share(label), false};
  }
  Label best = 0;
  for (Label c = 1, end = static_cast<Label>(weight.size()); c < end; ++c) {
    if (weight[c] != weight[best] ? weight[c] > weight[best] : prior_.prefers(c, best)) best = c;
  }
  return {best, weight[best] / total, true};
}

void MajorityVote::scores(NodeId node, std::span<double> scores) const {
  std::fill(scores.begin(), scores.end(), 0.0);
  if (labels_[node] != kNoLabel) {
    scores[labels_[node]] = 1;
    return;
  }
  double total = 0;
  for_each_vote(node, [&](NodeId, Label label, Weight w) {
    scores[label] += w;
    total += w;
  });
  if (total == 0) return prior_.scores(scores);
  for (double& score : scores) score /= total;
}

void MajorityVote::reveal(NodeId node, Label label) {
  retract(node);
  labels_[node] = label;
  prior_.add(label);
}

void MajorityVote::retract(NodeId node) {
  if (labels_[node] == kNoLabel) return;
  prior_.remove(labels_[node]);
  labels_[node] = kNoLabel;
}

std::vector<Reason> MajorityVote::explain(NodeId node) const {
  std::vector<Reason> reasons;
  double total = 0;
  for_each_vote(node, [&](NodeId neighbor, Label label, Weight w) {
    reasons.push_back({neighbor, label, w, 1.0 / w});
    total += w;
  });
  for (Reason& reason : reasons) reason.share /= total;
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.share > b.share; });
  return reasons;
}

BatchResult MajorityVote::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                              const Options& options, const Execution& execution) {
  return fit_by_revealing<MajorityVote>(graph, labels, num_classes, options, execution);
}

std::uint64_t MajorityVote::bytes(std::uint64_t num_nodes, std::uint64_t, bool, std::size_t, const Options&,
                                  int) {
  return num_nodes * sizeof(Label);
}

}  // namespace copse
