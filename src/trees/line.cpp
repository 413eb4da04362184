// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/line.hpp"

#include <algorithm>
#include <utility>

#include "copse/support/random.hpp"
#include "trees/prefetch.hpp"

namespace copse {
namespace {

/// Passes over ranks meet their parents, anywhere in memory: what belongs to these is asked for some ranks
/// before.
[[gnu::always_inline]] inline void fetch_for_parent(const Buffer<NodeId>& parents,
                                                    const Buffer<NodeId>& by_rank, std::size_t rank) {
  constexpr std::size_t kAhead = 32;
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
      : forest(std::move(rooted)), backwards(last_child_first), size(subtree_sizes(forest)) {}

  /// The trees one after the other. Returns their first places.
  std::vector<NodeId> place_roots() {
    std::vector<NodeId> starts;
    free = Buffer<NodeId>(forest.num_nodes());
    for (NodeId rank = 0, num_given = 0; rank < forest.num_nodes(); ++rank) {
      if (!forest.is_root(rank)) continue;
      starts.push_back(num_given);
      free[rank] = num_given + (backwards ? size[rank] : 1);
      num_given += size[rank];
    }
    return starts;
  }

  /// Of each tree a rank, uniformly. Single nodes draw nothing.
  std::vector<NodeId> random_ranks(Stream& random) const {
    auto tree = Buffer<NodeId>::for_overwrite(forest.num_nodes());  // by rank
    std::vector<NodeId> left, ranks;  // by tree: how many of its ranks to pass before one is taken
    for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
      fetch_for_parent(forest.parent, tree, rank);
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
      fetch_for_parent(forest.parent, free, rank);
      if (free[rank] == 0) place(rank);
    }
  }

  /// By rank, when all are placed: what is free is behind the subtree, or its root's place.
  Buffer<NodeId> places() && {
    if (!backwards)
      for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) free[rank] -= size[rank];
    else
      for (NodeId& place : free) --place;
    return std::move(free);
  }
};

/// By place what is by rank.
template <class T>
Buffer<T> by_place(const Buffer<T>& by_rank, const Buffer<NodeId>& place) {
  auto line = Buffer<T>::for_overwrite(by_rank.size());
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) line[place[rank]] = by_rank[rank];
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
Line lay_out(SpanningForest&& rooted, Stream* random, bool backwards) {
  Line line;
  Placing placing(std::move(rooted), backwards);
  SpanningForest& forest = placing.forest;
  const std::vector<NodeId> new_roots =
      random != nullptr ? placing.random_ranks(*random) : std::vector<NodeId>{};
  line.starts = placing.place_roots();
  for (const NodeId rank : new_roots) placing.move_root(rank);
  placing.place_others();
  const Buffer<NodeId> place = std::move(placing).places();
  placing.size = {};
  line.node = by_place(forest.node, place);
  forest.node = {};
  if (!forest.is_weighted()) return line;
  line.weight = by_place(forest.weight, place);
  forest.weight = {};
  for (NodeId& parent : forest.parent) parent = place[parent];
  join_neighbors(line.weight, by_place(forest.parent, place));
  return line;
}

}  // namespace

Line linearize(SpanningForest&& forest) { return lay_out(std::move(forest), nullptr, false); }

Line random_line(SpanningForest&& forest, std::uint64_t seed, std::uint64_t index) {
  Stream random(seed, Purpose::line_layout, index);
  const bool backwards = random.below(2) == 1, ties_go_left = random.below(2) == 0;
  Line line = lay_out(std::move(forest), &random, backwards);
  line.ties_go_left = ties_go_left;
  return line;
}

}  // namespace copse
