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

}  // namespace copse
