// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "copse/learners/sequential_learner.hpp"
#include "oracle/graphs.hpp"

// Small random games for online learners and their twins: graphs of every kind, labels that follow the graph
// or not, nodes that come again with other labels.

namespace copse {

struct RandomGame {
  Graph graph;
  std::vector<std::pair<NodeId, Label>> trials;
};

inline RandomGame random_game(std::uint64_t seed, bool only_trees = false) {
  std::mt19937_64 random(seed);
  RandomGame game;
  const auto n = static_cast<NodeId>(2 + random() % 11);
  const bool weighted = random() % 3 == 0;  // without weights margins of 0 and ties abound
  const std::uint64_t num_edges = n - 1 + random() % (2 * n);
  switch (only_trees ? 1 : random() % 6) {
    case 0:
      game.graph = oracle::random_graph({n, n, seed, weighted});
      break;
    case 1:
      game.graph = oracle::random_tree({n, 0, seed, weighted});
      break;
    case 2:
      game.graph = random() % 2 == 0 ? oracle::star(n) : oracle::complete(n);
      break;
    case 3:
      game.graph = random() % 2 == 0 ? oracle::path(n) : oracle::grid(2, (n + 1) / 2);
      break;
    default:
      game.graph = oracle::random_connected_graph({n, num_edges, seed, weighted});
      break;
  }
  const NodeId nodes = game.graph.num_nodes();
  const auto num_classes = static_cast<Label>(1 + random() % 4);
  std::vector<Label> truth(nodes);
  for (NodeId u = 0; u < nodes; ++u) truth[u] = static_cast<Label>(random() % num_classes);
  for (int smoothing = static_cast<int>(random() % 3); smoothing > 0; --smoothing)
    for (NodeId u = 0; u < nodes; ++u) {
      const auto near = game.graph.view().neighbors_of(u);
      if (!near.empty()) truth[u] = truth[near[random() % near.size()]];
    }
  const std::uint64_t num_trials = 1 + random() % (2 * nodes);
  const bool noisy = random() % 2 == 0;
  for (std::uint64_t t = 0; t < num_trials; ++t) {
    const auto u = static_cast<NodeId>(random() % nodes);
    const bool flip = noisy && random() % 5 == 0;
    game.trials.push_back({u, flip ? static_cast<Label>(random() % num_classes) : truth[u]});
  }
  return game;
}

/// Both play: before every trial the guesses for all nodes agree, after it whether something was learned.
template <class Twin>
void expect_same_game(const RandomGame& game, SequentialLearner& learner, Twin& twin) {
  std::uint64_t updates = 0;
  for (std::size_t t = 0; t <= game.trials.size(); ++t) {
    for (NodeId u = 0; u < game.graph.num_nodes(); ++u) {
      const Label guess = learner.guess(u).label;
      ASSERT_EQ(guess == kNoLabel ? -1 : guess, twin.guess(u)) << "node " << u << " before trial " << t;
    }
    if (t == game.trials.size()) break;
    const auto [node, label] = game.trials[t];
    learner.reveal(node, label);
    updates += twin.reveal(node, label);
    ASSERT_EQ(learner.num_updates(), updates) << "trial " << t;
  }
}

}  // namespace copse
