// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/line.hpp"

#include <algorithm>
#include <utility>

#include "copse/support/random.hpp"
#include "trees/prefetch.hpp"

namespace copse {
namespace {

// Passes over ranks meet their parents, anywhere in memory: what belongs to them is fetched so many ranks
// before.
constexpr std::size_t kAhead = 32;

[[gnu::always_inline]] inline void fetch_for(const Buffer<NodeId>& parents, const Buffer<NodeId>& by_rank,
                                             std::size_t rank) {
  prefetch(&by_rank[parents[std::min(rank + kAhead, parents.size() - 1)]]);
}

/// A forest whose nodes are given their places: those of a subtree are consecutive, the first of them is its
/// root's, and the others go to its children by rank, from the first one on, or from the last one on if
/// `backwards`.
struct Placing {
  SpanningForest forest;
  bool backwards;
  Buffer<NodeId> size;  // of subtrees, by rank
  Buffer<NodeId> free;  // by rank: the next place of its subtree, or behind it; 0: it has none itself

  Placing(SpanningForest&& rooted, bool last_child_first)
      : forest(std::move(rooted)), backwards(last_child_first), free(forest.num_nodes()) {
    const NodeId n = forest.num_nodes();
    size = Buffer<NodeId>::for_overwrite(n);
    std::fill(size.begin(), size.end(), 1);
    for (NodeId i = 0; i < n; ++i) {  // children before parents
      const NodeId rank = n - 1 - i;
      prefetch(&size[forest.parent[rank < kAhead ? 0 : rank - kAhead]]);
      if (!forest.is_root(rank)) size[forest.parent[rank]] += size[rank];
    }
  }

  /// The trees one after the other. Returns their first places.
  std::vector<NodeId> place_roots() {
    std::vector<NodeId> starts;
    for (NodeId rank = 0, num_given = 0; rank < forest.num_nodes(); ++rank) {
      if (!forest.is_root(rank)) continue;
      starts.push_back(num_given);
      free[rank] = num_given + (backwards ? size[rank] : 1);
      num_given += size[rank];
    }
    return starts;
  }

  /// Of each tree a rank, uniformly. Single nodes, which the forest may leave out, draw nothing.
  std::vector<NodeId> random_ranks(std::size_t num_trees, Stream& random) const {
    auto tree = Buffer<NodeId>::for_overwrite(forest.num_nodes());  // by rank
    std::vector<NodeId> left, ranks;  // by tree: how many of its ranks to pass before one is taken
    for (NodeId rank = 0; ranks.size() < num_trees; ++rank) {
      fetch_for(forest.parent, tree, rank);
      if (forest.is_root(rank)) {
        tree[rank] = static_cast<NodeId>(left.size());
        left.push_back(size[rank] == 1 ? 0 : static_cast<NodeId>(random.below(size[rank])));
      } else {
        tree[rank] = tree[forest.parent[rank]];
      }
      if (left[tree[rank]]-- == 0) ranks.push_back(rank);
    }
    return ranks;
  }

  /// Turns the edges between a new root and the old one round, and places their nodes.
  void move_root(NodeId new_root) {
    NodeId old_root = new_root;
    while (!forest.is_root(old_root)) old_root = forest.parent[old_root];
    free[new_root] = free[old_root];
    const NodeId all = size[old_root];
    NodeId parent = new_root, cut_off = 0;  // nodes in the subtree that the way comes from
    Weight weight = 0;
    for (NodeId rank = new_root;; rank = std::exchange(parent, rank)) {
      cut_off = std::exchange(size[rank], all - cut_off);
      std::swap(forest.parent[rank], parent);
      if (forest.is_weighted()) std::swap(forest.weight[rank], weight);
      if (rank != new_root) place(rank);
      if (rank == old_root) return;
    }
  }

  /// The parent has a place.
  void place(NodeId rank) {
    NodeId& parents_free = free[forest.parent[rank]];
    free[rank] = backwards ? parents_free : parents_free + 1;
    parents_free += backwards ? 0 - size[rank] : size[rank];
  }
  void place_others() {
    for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
      fetch_for(forest.parent, free, rank);
      if (free[rank] == 0) place(rank);
    }
  }
};

/// By place what is by rank. A pass of its own: writes whose places are all known wait for memory side by
/// side.
template <class T>
Buffer<T> by_place(const Buffer<T>& by_rank, const Buffer<NodeId>& place) {
  auto line = Buffer<T>::for_overwrite(by_rank.size());
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) line[place[rank]] = by_rank[rank];
  return line;
}

/// By place: that of the parent.
Buffer<NodeId> parent_places(const Buffer<NodeId>& parents, const Buffer<NodeId>& place) {
  auto line = Buffer<NodeId>::for_overwrite(parents.size());
  for (std::size_t rank = 0; rank < parents.size(); ++rank) {
    fetch_for(parents, place, rank);
    line[place[rank]] = place[parents[rank]];
  }
  return line;
}

/// Of edges to parents, edges to the places before: the tree path from there climbs to the parent. From the
/// last place to the first, so that what is climbed are still edges of the tree; each is climbed once.
void join_neighbors(Buffer<Weight>& weight, const Buffer<NodeId>& parent) {
  for (auto place = static_cast<NodeId>(weight.size()); place-- > 0;) {
    if (parent[place] == place) continue;
    for (NodeId below = place - 1; below != parent[place]; below = parent[below])
      weight[place] = std::min(weight[place], weight[below]);
  }
}

/// `random` chooses new roots; the old ones stay without it. `backwards`: children from the last to the
/// first. 16 bytes per node, 20 with weights.
PlacedForest lay_out(SpanningForest&& rooted, Stream* random, bool backwards) {
  PlacedForest line;
  Placing placing(std::move(rooted), backwards);
  SpanningForest& forest = placing.forest;
  const NodeId n = forest.num_nodes();
  line.starts = placing.place_roots();
  if (random != nullptr)
    for (const NodeId rank : placing.random_ranks(line.starts.size(), *random)) placing.move_root(rank);
  placing.place_others();
  for (NodeId rank = 0; rank < n; ++rank)  // all are placed: what is free is behind the subtree, or its root
    placing.free[rank] -= backwards ? 1 : placing.size[rank];
  line.place = std::move(placing.free);
  placing.size = {};
  if (forest.is_weighted()) {
    line.weight = by_place(forest.weight, line.place);
    forest.weight = {};
    join_neighbors(line.weight, parent_places(forest.parent, line.place));
  }
  line.node = std::move(forest.node);
  return line;
}

Line line_of(PlacedForest&& placed) {
  return {by_place(placed.node, placed.place), std::move(placed.weight), std::move(placed.starts),
          placed.ties_go_left};
}

}  // namespace

Line linearize(SpanningForest&& forest) { return line_of(lay_out(std::move(forest), nullptr, false)); }

PlacedForest place_at_random(SpanningForest&& forest, std::uint64_t seed, std::uint64_t index) {
  Stream random(seed, Purpose::line_layout, index);
  const bool backwards = random.below(2) == 1, ties_go_left = random.below(2) == 0;
  PlacedForest line = lay_out(std::move(forest), &random, backwards);
  line.ties_go_left = ties_go_left;
  return line;
}

Line random_line(SpanningForest&& forest, std::uint64_t seed, std::uint64_t index) {
  return line_of(place_at_random(std::move(forest), seed, index));
}

}  // namespace copse
