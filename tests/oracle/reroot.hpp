// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "copse/support/random.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse::oracle {

/// Roots every tree of three or more nodes at a node chosen uniformly, and makes a new forest of it: the ways
/// from new roots to old ones in front, the others behind them in the order they had.
inline SpanningForest reroot_at_random(const SpanningForest& forest, Stream& stream) {
  const NodeId n = forest.num_nodes();
  std::map<NodeId, std::vector<NodeId>> trees;  // root: its ranks
  std::vector<NodeId> root(n);
  for (NodeId rank = 0; rank < n; ++rank) {
    root[rank] = forest.is_root(rank) ? rank : root[forest.parent[rank]];
    trees[root[rank]].push_back(rank);
  }
  std::vector<NodeId> order;
  std::vector<NodeId> parent(forest.parent.begin(), forest.parent.end());
  std::vector<Weight> weight(n);
  for (NodeId rank = 0; rank < n; ++rank) weight[rank] = forest.edge_weight(rank);
  for (const auto& [old_root, ranks] : trees) {
    if (ranks.size() < 3) continue;
    NodeId above = ranks[stream.below(ranks.size())];
    Weight weight_above = 0;
    for (NodeId rank = above;; rank = forest.parent[rank]) {
      order.push_back(rank);
      parent[rank] = above;
      weight[rank] = weight_above;
      weight_above = forest.edge_weight(rank);
      above = rank;
      if (rank == old_root) break;
    }
  }
  for (NodeId rank = 0; rank < n; ++rank) {
    if (std::find(order.begin(), order.end(), rank) == order.end()) order.push_back(rank);
  }
  std::vector<NodeId> new_rank(n);
  for (NodeId i = 0; i < n; ++i) new_rank[order[i]] = i;
  SpanningForest result{Buffer<NodeId>(n), Buffer<NodeId>(n), Buffer<Weight>(forest.weight.size())};
  for (NodeId i = 0; i < n; ++i) {
    result.node[i] = forest.node[order[i]];
    result.parent[i] = new_rank[parent[order[i]]];
    if (forest.is_weighted()) result.weight[i] = weight[order[i]];
  }
  return result;
}

}  // namespace copse::oracle
