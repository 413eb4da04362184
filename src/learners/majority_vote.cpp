// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/majority_vote.hpp"

#include <algorithm>

#include "learners/signs.hpp"

namespace copse {

MajorityVote::MajorityVote(const GraphView& graph, const Options& options, const Execution&)
    : LabelledLearner(graph), graph_(graph) {
  refuse_signs(graph, "majority_vote", kUseRegistry);
  if (!options.weighted) graph_.weights = {};
}

template <class Body>
void MajorityVote::for_each_vote(NodeId node, Body&& body) const {
  for (EdgeIndex arc = graph_.offsets[node]; arc < graph_.offsets[node + 1]; ++arc) {
    const NodeId neighbor = graph_.neighbors[arc];
    if (labels()[neighbor] != kNoLabel) body(neighbor, labels()[neighbor], graph_.weight(arc));
  }
}

double MajorityVote::weigh(NodeId node, std::span<double> weights) const {
  double total = 0;
  for_each_vote(node, [&](NodeId, Label label, Weight w) {
    weights[label] += w;
    total += w;
  });
  return total;
}

std::vector<Reason> MajorityVote::reasons(NodeId node) const {
  std::vector<Reason> reasons;
  double total = 0;
  for_each_vote(node, [&](NodeId neighbor, Label label, Weight w) {
    reasons.push_back({neighbor, label, w, 1.0 / w});
    total += w;
  });
  for (Reason& reason : reasons) reason.share /= total;
  return reasons;
}

std::uint64_t MajorityVote::bytes(const ProblemSize& size, const Options&) {
  return size.num_nodes * sizeof(Label);
}

}  // namespace copse
