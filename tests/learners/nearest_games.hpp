// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/nearest_neighbor.hpp"
#include "copse/learners/pounce.hpp"
#include "learners/online_games.hpp"
#include "oracle/nearest_neighbor.hpp"
#include "oracle/pounce.hpp"

namespace copse {

inline void play_pounce_games(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t seed = first; seed < last; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const bool on_tree = random() % 3 == 0;
    const RandomGame game = random_game(seed, on_tree);
    PounceOptions options{.kernel = {.solve = {.tolerance = 1e-12}}};
    if (on_tree) options.kernel.on = KernelOn::tree, options.kernel.num_trees = 1;
    options.zero_is_mistake = random() % 3 != 0;
    options.max_columns = static_cast<int>(random() % 3) * 3;
    random();  // games stay what they were
    Pounce learner(game.graph, options, {});
    oracle::PounceTwin twin(game.graph, options.zero_is_mistake, on_tree ? 1e-12 : 1e-6);
    expect_same_game(game, learner, twin);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// Labels come, change and go; after each step the answers for all nodes agree.
inline void play_nearest_neighbor_games(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t seed = first; seed < last; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const RandomGame game = random_game(seed);
    NearestNeighborOptions options{.solve = {.tolerance = 1e-12}};
    const bool by_resistance = random() % 2 == 0;
    if (by_resistance) options.distance = NearestNeighborOptions::Distance::resistance;
    options.num_neighbors = static_cast<int>(1 + random() % 4);
    NearestNeighbor learner(game.graph, options, {});
    const oracle::DenseMatrix table =
        by_resistance ? oracle::resistance_table(game.graph) : oracle::geodesic_table(game.graph);
    std::map<NodeId, int> labels;
    for (const auto& [node, label] : game.trials) {
      if (random() % 4 == 0) {
        learner.retract(node);
        labels.erase(node);
      } else {
        learner.reveal(node, label);
        labels[node] = label;
      }
      for (NodeId u = 0; u < game.graph.num_nodes(); ++u) {
        if (labels.contains(u)) continue;
        const Prediction answer = learner.predict(u);
        const int wanted =
            oracle::nearest_neighbor(table, labels, u, static_cast<std::size_t>(options.num_neighbors), 1e-8);
        ASSERT_EQ(answer.reached, wanted >= 0) << u;
        if (wanted >= 0) {
          ASSERT_EQ(answer.label, wanted) << u;
        }
      }
    }
  }
}

}  // namespace copse
