// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/graph_perceptron.hpp"
#include "copse/learners/projection.hpp"
#include "copse/learners/shared_columns.hpp"
#include "learners/online_games.hpp"
#include "oracle/online_kernel.hpp"

namespace copse {

constexpr double kTightTolerance = 1e-12;

/// Every other game reads its columns from a store that games share.
struct ColumnsOfGame {
  SharedColumns columns;
  bool is_shared;
  ColumnsOfGame(const GraphView& graph, std::uint64_t seed) : columns(graph), is_shared(seed % 2 == 0) {}
  Execution execution() { return {.columns = is_shared ? &columns : nullptr}; }
  SolveOptions solve() const {
    return is_shared ? SolveOptions{} : SolveOptions{.tolerance = kTightTolerance};
  }
};

inline void play_perceptron_games(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t seed = first; seed < last; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const bool on_tree = random() % 3 == 0;
    const RandomGame game = random_game(seed, on_tree);
    ColumnsOfGame columns(game.graph, seed);
    GraphPerceptronOptions options{.kernel = {.solve = columns.solve()}};
    oracle::KernelGame rules;
    if (on_tree) options.kernel.on = KernelOn::tree, options.kernel.num_trees = 1;
    const double biases[] = {1, 0.25, 10, 1e-6};
    options.bias.number = rules.b = biases[random() % 4];
    rules.per_square = random() % 4 == 0;
    if (rules.per_square) options.bias.kind = KernelBias::Kind::per_square;
    if (random() % 3 == 0) options.diagonal = rules.c = 0.5;
    options.zero_is_mistake = rules.zero_is_mistake = random() % 3 != 0;
    GraphPerceptron learner(game.graph, options, columns.execution());
    oracle::OnlineKernelTwin twin(game.graph, rules);
    expect_same_game(game, learner, twin);
    if (testing::Test::HasFatalFailure()) return;
  }
}

inline void play_projection_games(std::uint64_t first, std::uint64_t last) {
  using Method = oracle::KernelGame::Method;
  for (std::uint64_t seed = first; seed < last; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const bool on_tree = random() % 3 == 0;
    const RandomGame game = random_game(seed, on_tree);
    ColumnsOfGame columns(game.graph, seed);
    ProjectionOptions options{.kernel = {.solve = columns.solve()}};
    oracle::KernelGame rules;
    const Method methods[] = {Method::one_projection, Method::half_space, Method::cyclic,
                              Method::interpolation};
    rules.method = methods[random() % (on_tree ? 3 : 4)];
    if (on_tree) options.kernel.on = KernelOn::tree, options.kernel.num_trees = 1;
    options.cyclic = rules.method == Method::half_space || rules.method == Method::cyclic;
    if (rules.method == Method::cyclic || rules.method == Method::interpolation)
      options.strategy = ProjectionOptions::Strategy::all;
    options.aggressive = rules.aggressive = random() % 3 == 0;
    options.zero_is_mistake = rules.zero_is_mistake = random() % 3 != 0;
    options.max_sweeps = rules.max_sweeps = random() % 2 == 0 ? 1 : 20;
    options.max_columns = static_cast<int>(random() % 3) * 2;
    Projection learner(game.graph, options, columns.execution());
    oracle::OnlineKernelTwin twin(game.graph, rules);
    expect_same_game(game, learner, twin);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace copse
