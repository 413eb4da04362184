// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "papers/tree_cut.hpp"
#include "papers/bounds.hpp"
#include "copse/evaluation/protocols.hpp"
#include "copse/learners/projection.hpp"
#include "oracle/active_projection.hpp"
#include "oracle/graphs.hpp"

// Games on random graphs with random, clustered and adversarial labels, in an order chosen at random or by
// someone who sees the learner's answers, against every bound that speaks of the learner.

namespace copse {

struct BoundGame {
  Graph graph;
  std::vector<Label> truth;
};

inline BoundGame make_bound_game(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto n = static_cast<NodeId>(4 + random() % 20);
  const bool weighted = random() % 2 == 0;
  BoundGame game;
  game.graph =
      random() % 3 == 0
          ? oracle::random_tree({.num_nodes = n, .seed = seed, .weighted = weighted})
          : oracle::random_connected_graph(
                {.num_nodes = n, .num_edges = n + random() % 30, .seed = seed, .weighted = weighted});
  game.truth.assign(n, 0);
  const std::uint64_t kind = random() % 3;
  if (kind == 0) {  // noise
    for (Label& label : game.truth) label = static_cast<Label>(random() % 2);
  } else if (kind == 1) {  // a ball around a node
    std::vector<NodeId> queue{static_cast<NodeId>(random() % n)};
    const std::size_t size = 1 + random() % (n - 1);
    std::vector<bool> seen(n);
    seen[queue[0]] = true;
    const GraphView view = game.graph;
    for (std::size_t i = 0; i < queue.size() && i < size; ++i) {
      game.truth[queue[i]] = 1;
      for (const NodeId v : view.neighbors_of(queue[i])) {
        if (!seen[v]) queue.push_back(v);
        seen[v] = true;
      }
    }
  } else {
    game.truth = adversarial_labelling(game.graph, 1 + random() % n, {.seed = seed}).labels.of_node;
  }
  for (Label& label : game.truth)  // some nodes never come
    if (random() % 4 == 0) label = kNoLabel;
  game.truth[0] = 0, game.truth[1] = 1;
  return game;
}

/// The nodes that come, one after the other: a mistake if there is one to be had and the game is adversarial.
inline double play_mistakes(Learner& learner, const std::vector<Label>& truth, std::mt19937_64& random,
                            bool adversarial) {
  std::vector<NodeId> left;
  for (NodeId u = 0; u < truth.size(); ++u)
    if (truth[u] != kNoLabel) left.push_back(u);
  double mistakes = 0;
  while (!left.empty()) {
    const std::size_t start = random() % left.size();
    std::size_t pick = start;
    for (std::size_t i = 0; adversarial && i < left.size(); ++i) {
      const std::size_t at = (start + i) % left.size();
      if (learner.predict(left[at]).label == truth[left[at]]) continue;
      pick = at;
      break;
    }
    const NodeId node = left[pick];
    mistakes += learner.predict(node).label != truth[node] ? 1 : 0;
    learner.reveal(node, truth[node]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(pick));
  }
  return mistakes;
}

inline OptionValues options_of(const std::string& learner) {
  OptionValues values;
  for (std::size_t colon = learner.find(':'); colon != std::string::npos;) {
    const std::size_t next = learner.find(':', colon + 1);
    const std::string one = learner.substr(colon + 1, next == std::string::npos ? next : next - colon - 1);
    values[one.substr(0, one.find('='))] = one.substr(one.find('=') + 1);
    colon = next;
  }
  return values;
}

inline void play_all_bounds(std::uint64_t first, std::uint64_t last) {
  std::map<std::string, int> checked;
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const BoundGame game = make_bound_game(seed);
    const BoundReport report = mistake_bounds(game.graph, game.truth, {.num_trees = 2}, {.seed = seed});
    for (const Bound& bound : report.bounds) {
      const std::string name = bound.learner.substr(0, bound.learner.find(':'));
      // Bounds in expectation are those of trees, whose own games are in tests/learners/bound_games.hpp.
      if (bound.in_expectation || std::isinf(bound.value)) continue;
      bool is_known = false;
      for (const LearnerRow& row : learner_rows()) is_known = is_known || row.name == name;
      if (!is_known) continue;
      std::mt19937_64 random(seed);
      for (const bool adversarial : {false, true}) {
        const auto learner = learner_row(name).make(game.graph, options_of(bound.learner), {.seed = seed});
        const double mistakes = play_mistakes(*learner, game.truth, random, adversarial);
        ASSERT_LE(mistakes, bound.value + 1e-6)
            << bound.name << ", game " << seed << (adversarial ? ", adversarial" : "");
        ++checked[bound.name];
      }
    }
  }
  EXPECT_GE(checked.size(), 4u);
}

/// Theorem 5.1, with the learner's own mistakes put in: 1-proj after some labels were asked for by act_st.
inline void play_active_bounds(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t seed = first; seed < last; ++seed) {
    SCOPED_TRACE(seed);
    BoundGame game = make_bound_game(seed);
    const NodeId n = game.graph.num_nodes();
    game.truth[n - 1] = kNoLabel;  // with a node to spare there is always an interpolant
    std::mt19937_64 random(seed);
    const auto strategy = learner_row("one_projection").make(game.graph, {}, {});
    const auto asking = query_row("act_st").make(game.graph, {}, {.seed = seed});
    const std::vector<NodeId> asked = ask_labels(*asking, game.truth, 1 + random() % 4);
    Learner& learner = *strategy;
    oracle::DenseProjection twin(game.graph);
    double progress = 0;
    std::vector<std::size_t> at;
    std::vector<double> y;
    for (NodeId u = 0; u < n; ++u) {
      if (game.truth[u] == kNoLabel) continue;
      at.push_back(u);
      y.push_back(game.truth[u] == 0 ? 1 : -1);
    }
    bool is_seen[2] = {false, false};
    for (const NodeId u : asked) {
      is_seen[game.truth[u]] = true;
      learner.reveal_queried(u, game.truth[u]);
      progress += twin.project(u, game.truth[u] == 0 ? 1 : -1);
    }
    EXPECT_NEAR(asking->progress(), progress, 1e-5 * (1 + progress));
    const std::vector<double> u = oracle::dense_interpolant(twin.kernel, at, y);
    const oracle::DenseMatrix l = oracle::laplacian(game.graph);
    double norm = 0;
    for (NodeId i = 0; i < n; ++i)
      for (NodeId j = 0; j < n; ++j) norm += u[i] * l(i, j) * u[j];
    ASSERT_LE(progress, norm * (1 + 1e-6));
    // The rest of the game, the twin alongside: a mistake is y g <= 0.
    double inverse_sum = 0, mistakes = 0;
    std::vector<double> diagonal;
    for (NodeId v = 0; v < n; ++v) {
      if (game.truth[v] == kNoLabel || std::find(asked.begin(), asked.end(), v) != asked.end()) continue;
      diagonal.push_back(twin.kernel(v, v));
      const double sign = game.truth[v] == 0 ? 1 : -1;
      if (learner.num_classes() == 2 && is_seen[0] && is_seen[1] && std::fabs(twin.g[v]) > 1e-4) {
        EXPECT_EQ(learner.predict(v).label, twin.g[v] > 0 ? 0 : 1) << v;
      }
      is_seen[game.truth[v]] = true;
      if (sign * twin.g[v] <= 1e-9) {
        mistakes += 1;
        inverse_sum += 1 / twin.kernel(v, v);
        twin.project(v, sign);
      }
      learner.reveal(v, game.truth[v]);
    }
    EXPECT_LE(inverse_sum, (norm - progress) * (1 + 1e-6) + 1e-6);  // eq. 14
    EXPECT_LE(mistakes, static_cast<double>(projection_bound(norm, diagonal, progress)) + 1e-9);
  }
}

}  // namespace copse
