// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "copse/evaluation/protocols.hpp"

namespace copse {

std::uint64_t OnlineGame::mistakes() const {
  return static_cast<std::uint64_t>(std::count(mistake.begin(), mistake.end(), true));
}

std::vector<double> OnlineGame::past_error() const {
  std::vector<double> shares(mistake.size());
  std::uint64_t count = 0;
  for (std::size_t t = 0; t < mistake.size(); ++t) {
    count += mistake[t];
    shares[t] = static_cast<double>(count) / static_cast<double>(t + 1);
  }
  return shares;
}

std::vector<double> OnlineGame::future_error() const {
  std::vector<double> shares(mistake.size());
  std::uint64_t count = 0;
  for (std::size_t t = mistake.size(); t-- > 0;) {
    count += mistake[t];
    shares[t] = static_cast<double>(count) / static_cast<double>(mistake.size() - t);
  }
  return shares;
}

OnlineGame play_online(Learner& learner, std::span<const Label> labels, std::span<const NodeId> order,
                       const Execution& execution) {
  for (const NodeId u : order) {
    if (u < labels.size() && labels[u] != kNoLabel) continue;
    throw UsageError{"online game", "node " + std::to_string(u) + " has no label",
                     "a game is played over labelled nodes only: random_order() gives them"};
  }
  OnlineGame game;
  game.mistake.resize(order.size());
  const auto start = std::chrono::steady_clock::now();
  const std::size_t trials_per_report = order.size() / 100 + 1;
  for (std::size_t t = 0; t < order.size(); ++t) {
    if (t % trials_per_report == 0) {
      execution.throw_if_cancelled();
      execution.report("trials", t, order.size());
    }
    const Label truth = labels[order[t]];
    game.mistake[t] = learner.predict(order[t]).label != truth;
    learner.reveal(order[t], truth);
  }
  execution.report("trials", order.size(), order.size());
  game.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return game;
}

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
