// SPDX-License-Identifier: Apache-2.0
#include "trees/new_roots.hpp"

#include <algorithm>

#include "trees/prefetch.hpp"

namespace copse {
namespace {

constexpr NodeId kAhead = 32;
constexpr NodeId kSmallestTree = 3;  // with fewer nodes all roots give the same lines but for direction

/// A random rank of every large tree, in the order of the trees: of the nodes of a tree, by rank, the one
/// whose number was drawn.
std::vector<NodeId> random_ranks(const SpanningForest& forest, const NodesBelow& below, Stream& stream) {
  auto tree_of = Buffer<NodeId>::for_overwrite(forest.num_nodes());
  std::vector<NodeId> to_pass{0};  // by tree, from 1 on: nodes until the one drawn; 0 when it is behind us
  for (const NodeId root : below.large_roots)
    to_pass.push_back(1 + static_cast<NodeId>(stream.below(below.count[root] + 1)));
  const std::size_t num_trees = below.large_roots.size();
  std::vector<NodeId> ranks(num_trees);
  std::size_t num_found = 0;
  NodeId num_seen = 0;
  for (NodeId rank = 0; num_found < num_trees; ++rank) {
    NodeId tree;
    if (forest.is_root(rank)) {
      const bool is_large = num_seen < num_trees && below.large_roots[num_seen] == rank;
      tree = is_large ? ++num_seen : 0;
    } else {
      tree = tree_of[forest.parent[rank]];
    }
    tree_of[rank] = tree;
    if (to_pass[tree] == 0 || --to_pass[tree] != 0) continue;
    ranks[tree - 1] = rank;
    ++num_found;
  }
  return ranks;
}

/// Turns the edges from `new_root` to the root above it round.
void turn_edges(SpanningForest& forest, Buffer<NodeId>& below, NodeId new_root, std::vector<NodeId>& path) {
  const std::size_t begin = path.size();
  for (NodeId rank = new_root;; rank = forest.parent[rank]) {
    path.push_back(rank);
    if (forest.is_root(rank)) break;
  }
  const NodeId others = below[path.back()];  // in the tree, without a root
  for (std::size_t i = path.size(); --i > begin;) {
    below[path[i]] = others - (below[path[i - 1]] + 1);
    forest.parent[path[i]] = path[i - 1];
    if (forest.is_weighted()) forest.weight[path[i]] = forest.weight[path[i - 1]];
  }
  below[new_root] = others;
  forest.parent[new_root] = new_root;
  if (forest.is_weighted()) forest.weight[new_root] = 0;
}

}  // namespace

NodesBelow count_below(const SpanningForest& forest) {
  NodesBelow below{Buffer<NodeId>(forest.num_nodes()), {}};
  for (NodeId rank = forest.num_nodes(); rank-- > 0;) {
    const NodeId parent = forest.parent[rank];
    prefetch(&below.count[forest.parent[rank < kAhead ? 0 : rank - kAhead]]);
    if (parent != rank)
      below.count[parent] += below.count[rank] + 1;
    else if (below.count[rank] + 1 >= kSmallestTree)
      below.large_roots.push_back(rank);
  }
  std::reverse(below.large_roots.begin(), below.large_roots.end());
  return below;
}

VisitOrder take_random_roots(SpanningForest& forest, NodesBelow& below, Stream& stream) {
  VisitOrder order;
  for (const NodeId new_root : random_ranks(forest, below, stream))
    turn_edges(forest, below.count, new_root, order.front);
  order.sorted = order.front;
  std::sort(order.sorted.begin(), order.sorted.end());
  return order;
}

}  // namespace copse
