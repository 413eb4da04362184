// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "copse/trees/spanning_forest.hpp"

namespace copse::oracle {

/// Roots every tree at its node of `roots` and makes a new forest of it: the ways from new roots to old ones
/// in front, the others behind them in the order they had.
inline SpanningForest reroot(const SpanningForest& forest, const std::vector<NodeId>& roots) {
  const NodeId n = forest.num_nodes();
  std::vector<NodeId> order;
  std::vector<NodeId> parent(forest.parent.begin(), forest.parent.end());
  std::vector<Weight> weight(n);
  for (NodeId rank = 0; rank < n; ++rank) weight[rank] = forest.edge_weight(rank);
  for (const NodeId root : roots) {
    auto above = static_cast<NodeId>(std::ranges::find(forest.node, root) - forest.node.begin());
    Weight weight_above = 0;
    for (NodeId rank = above;; rank = forest.parent[rank]) {
      order.push_back(rank);
      parent[rank] = above;
      weight[rank] = weight_above;
      weight_above = forest.edge_weight(rank);
      above = rank;
      if (forest.is_root(rank)) break;
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
