// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/reroot.hpp"

#include <algorithm>
#include <vector>

namespace copse {
namespace {

constexpr NodeId kSmallestTree = 3;  // with fewer nodes all roots give the same lines but for direction

/// A random rank of every tree that is large enough, in the order of the trees.
std::vector<NodeId> random_ranks(const SpanningForest& forest, Stream& stream) {
  const NodeId n = forest.num_nodes();
  if (n < kSmallestTree) return {};
  Buffer<NodeId> root(n), left(n);  // left[root]: nodes of its tree to pass until the chosen one
  for (NodeId rank = 0; rank < n; ++rank) {
    root[rank] = forest.is_root(rank) ? rank : root[forest.parent[rank]];
    ++left[root[rank]];
  }
  for (NodeId rank = 0; rank < n; ++rank) {
    if (!forest.is_root(rank)) continue;
    left[rank] = left[rank] < kSmallestTree ? 0 : 1 + static_cast<NodeId>(stream.below(left[rank]));
  }
  std::vector<std::pair<NodeId, NodeId>> chosen;  // root, rank
  for (NodeId rank = 0; rank < n; ++rank) {
    NodeId& count = left[root[rank]];
    if (count > 0 && --count == 0) chosen.push_back({root[rank], rank});
  }
  std::sort(chosen.begin(), chosen.end());
  std::vector<NodeId> ranks;
  for (const auto& pair : chosen) ranks.push_back(pair.second);
  return ranks;
}

}  // namespace

void reroot_at_random(SpanningForest& forest, Stream& stream) {
  // Only the edges between a new root and the old one change direction. Their nodes move to the front, new
  // root first; all others keep their order behind them, so parents still come before children.
  struct Moved {
    NodeId rank, new_rank, node, parent;
    Weight weight;
  };
  std::vector<Moved> moved;
  for (const NodeId new_root : random_ranks(forest, stream)) {
    Weight weight = 0;
    for (NodeId rank = new_root;; rank = forest.parent[rank]) {
      const auto new_rank = static_cast<NodeId>(moved.size());
      moved.push_back(
          {rank, new_rank, forest.node[rank], rank == new_root ? new_rank : new_rank - 1, weight});
      weight = forest.is_weighted() ? forest.weight[rank] : 0;
      if (forest.is_root(rank)) break;
    }
  }
  const std::vector<Moved> in_new_order = moved;
  std::sort(moved.begin(), moved.end(), [](const Moved& a, const Moved& b) { return a.rank < b.rank; });
  const auto new_rank = [&](NodeId rank) {
    const auto at = std::lower_bound(moved.begin(), moved.end(), rank,
                                     [](const Moved& m, NodeId r) { return m.rank < r; });
    if (at != moved.end() && at->rank == rank) return at->new_rank;
    return rank + static_cast<NodeId>(moved.end() - at);
  };
  // From the back: a node moves towards the back or stays, by the number of moved ones behind it.
  std::size_t before = moved.size();
  for (NodeId rank = forest.num_nodes(); rank-- > 0;) {
    if (before > 0 && moved[before - 1].rank == rank) {
      --before;
      continue;
    }
    const NodeId to = rank + static_cast<NodeId>(moved.size() - before);
    forest.node[to] = forest.node[rank];
    forest.parent[to] = new_rank(forest.parent[rank]);
    if (forest.is_weighted()) forest.weight[to] = forest.weight[rank];
  }
  for (const Moved& m : in_new_order) {
    forest.node[m.new_rank] = m.node;
    forest.parent[m.new_rank] = m.parent;
    if (forest.is_weighted()) forest.weight[m.new_rank] = m.weight;
  }
}

}  // namespace copse
