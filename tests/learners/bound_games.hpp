// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "copse/learners/wta.hpp"
#include "copse/trees/line.hpp"
#include "oracle/graphs.hpp"

// Games on a tree (its own only spanning tree: drawn as `mst`, which no weight slows down) against an
// adversary who picks the next node knowing the learner's answer, checked against the bounds of
// docs/bounds.md (after Cesa-Bianchi et al. 2013, theorems 2 and 3):
//   line  m <= 1 + P + 2 P log2(1 + R W / (2 P)) + |F|
//   tree  m <= 1 + 2 P + 4 P log2(1 + R W / P) + 2 |F|
// with P the cut edges, W their weight, R the resistance of the uncut edges outside F, for every set F of
// uncut edges: all sizes of F are tried, the largest resistances first, as that is the best F of its size.

namespace copse {

struct Cut {
  double edges = 0, weight = 0;
  std::vector<double> uncut_resistances;  // descending
};

inline Cut cut_of(const std::vector<std::pair<Weight, bool>>& edges) {  // weight, is cut
  Cut cut;
  for (const auto& [weight, is_cut] : edges) {
    if (is_cut) {
      cut.edges += 1;
      cut.weight += weight;
    } else {
      cut.uncut_resistances.push_back(1.0 / weight);
    }
  }
  std::sort(cut.uncut_resistances.rbegin(), cut.uncut_resistances.rend());
  return cut;
}

inline double smallest_bound(const Cut& cut, bool of_line) {
  if (cut.edges == 0) return 1;
  double resistance = 0, best = 1e300;
  for (const double r : cut.uncut_resistances) resistance += r;
  for (std::size_t dropped = 0; dropped <= cut.uncut_resistances.size(); ++dropped) {
    const double product = std::max(resistance, 0.0) * cut.weight / cut.edges;
    best = std::min(best, of_line ? 1 + cut.edges + 2 * cut.edges * std::log2(1 + product / 2) +
                                        static_cast<double>(dropped)
                                  : 1 + 2 * cut.edges + 4 * cut.edges * std::log2(1 + product) +
                                        2 * static_cast<double>(dropped));
    if (dropped < cut.uncut_resistances.size()) resistance -= cut.uncut_resistances[dropped];
  }
  return best;
}

inline void play_bound_games(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t game = first; game < last; ++game) {
    std::mt19937_64 random(game);
    const auto n = static_cast<NodeId>(2 + random() % 24);
    const bool on_path = random() % 2 == 0, weighted = random() % 4 != 0;
    std::vector<Edge> edges = oracle::random_tree_edges(n, random, weighted);
    if (on_path) {
      for (NodeId u = 1; u < n; ++u) edges[u - 1] = {u - 1, u, edges[u - 1].weight};
    }
    // From light to heavy over many orders of magnitude in some games.
    if (weighted && random() % 3 == 0) {
      for (Edge& edge : edges)
        edge.weight = static_cast<Weight>(std::exp2(static_cast<double>(random() % 41) - 20));
    }
    const Graph graph = oracle::make_graph(n, edges, weighted);
    // Clustered labels: a random label, flipped along few edges; or noise.
    std::vector<Label> truth(n);
    const std::uint64_t flips = 1 + random() % 8;
    const SpanningForest tree = TreeSampler(graph, TreeKind::mst, {.seed = game}).tree(0);
    for (NodeId rank = 0; rank < n; ++rank)
      truth[tree.node[rank]] = static_cast<Label>((rank == 0 ? 0 : truth[tree.node[tree.parent[rank]]]) ^
                                                  (random() % 10 < flips ? 1 : 0));

    Wta learner(graph, {.tree = TreeKind::mst, .num_trees = 1}, {.seed = game});
    std::vector<NodeId> left;
    for (NodeId u = 0; u < n; ++u) left.push_back(u);
    const bool adversarial = random() % 2 == 0;
    int mistakes = 0;
    while (!left.empty()) {
      std::size_t pick = random() % left.size();
      if (adversarial) {  // a node that would be a mistake, if there is one
        for (std::size_t i = 0; i < left.size(); ++i) {
          if (learner.predict(left[(pick + i) % left.size()]).label !=
              truth[left[(pick + i) % left.size()]]) {
            pick = (pick + i) % left.size();
            break;
          }
        }
      }
      const NodeId node = left[pick];
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(pick));
      mistakes += learner.predict(node).label != truth[node];
      learner.reveal(node, truth[node]);
    }

    std::vector<std::pair<Weight, bool>> tree_edges, line_edges;
    for (NodeId rank = 1; rank < n; ++rank)
      tree_edges.push_back(
          {tree.edge_weight(rank), truth[tree.node[rank]] != truth[tree.node[tree.parent[rank]]]});
    const Line line = random_line(TreeSampler(graph, TreeKind::mst, {.seed = game}).tree(0), game, 0);
    for (NodeId i = 1; i < n; ++i)
      line_edges.push_back(
          {line.weight.empty() ? Weight{1} : line.weight[i], truth[line.node[i]] != truth[line.node[i - 1]]});
    const Cut tree_cut = cut_of(tree_edges), line_cut = cut_of(line_edges);
    ASSERT_LE(line_cut.edges, 2 * tree_cut.edges) << "game " << game;
    ASSERT_LE(line_cut.weight, 2 * tree_cut.weight * (1 + 1e-9)) << "game " << game;
    ASSERT_LE(mistakes, smallest_bound(line_cut, true) + 1e-9) << "line, game " << game;
    ASSERT_LE(mistakes, smallest_bound(tree_cut, false) + 1e-9) << "tree, game " << game;
  }
}

}  // namespace copse
