// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "copse/evaluation/protocols.hpp"

namespace copse {

std::vector<NodeId> ask_labels(QueryStrategy& strategy, std::span<const Label> labels, std::uint64_t budget,
                               std::uint64_t batch) {
  for (NodeId node = 0; node < labels.size(); ++node)
    if (labels[node] == kNoLabel) strategy.exclude(node);
  std::vector<NodeId> asked;
  while (asked.size() < budget) {
    const std::uint64_t count =
        std::min<std::uint64_t>(std::max<std::uint64_t>(batch, 1), budget - asked.size());
    const std::vector<Query> queries = strategy.next(static_cast<std::size_t>(count));
    if (queries.empty()) break;
    for (const Query& query : queries) {
      strategy.reveal(query.node, labels[query.node]);
      asked.push_back(query.node);
    }
  }
  return asked;
}

OnlineGame play_active(Learner& learner, std::span<const Label> labels, std::span<const NodeId> asked,
                       std::uint64_t seed, std::uint64_t index, const Execution& execution) {
  std::vector<Label> left(labels.begin(), labels.end());
  for (const NodeId node : asked) {
    learner.reveal_queried(node, labels[node]);
    left[node] = kNoLabel;
  }
  return play_online(learner, labels, random_order(left, seed, index), execution);
}

}  // namespace copse
