// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/line.hpp"

#include <algorithm>
#include <utility>

#include "support/bitset.hpp"
#include "copse/support/random.hpp"
#include "trees/prefetch.hpp"

namespace copse {
namespace {

// Passes over ranks meet their parents, anywhere in memory: these are fetched so many ranks before.
constexpr NodeId kAhead = 32;

/// By rank: how many nodes a subtree has, its root included.
Buffer<NodeId> subtree_sizes(const Buffer<NodeId>& parents) {
  const auto n = static_cast<NodeId>(parents.size());
  auto size = Buffer<NodeId>::for_overwrite(n);
  std::fill(size.begin(), size.end(), 1);
  for (NodeId rank = n; rank-- > 0;) {  // children before parents
    prefetch(&size[parents[rank < kAhead ? 0 : rank - kAhead]]);
    if (parents[rank] != rank) size[parents[rank]] += size[rank];
  }
  return size;
}

/// Of each tree, a rank chosen uniformly, unless it is the root's: the node with the number that is drawn. On
/// the way down to it subtrees are passed in the order of ranks.
std::vector<NodeId> random_ranks(const Buffer<NodeId>& parents, const Buffer<NodeId>& size,
                                 std::size_t num_trees, Stream& random) {
  const auto n = static_cast<NodeId>(parents.size());
  std::vector<NodeId> ranks;
  Buffer<NodeId> nth_below(n);  // by rank: which of the nodes below is chosen, from 1 on; 0: none
  std::size_t num_chosen = 0;
  for (NodeId rank = 0; num_chosen < num_trees; ++rank) {
    prefetch(&nth_below[parents[std::min(rank + kAhead, n - 1)]]);
    NodeId& nth = nth_below[parents[rank]];
    if (parents[rank] == rank) {
      // Single nodes, which the forest may leave out, draw nothing.
      if (size[rank] > 1) nth = static_cast<NodeId>(random.below(size[rank]));
      num_chosen += nth == 0;
    } else if (nth > size[rank]) {
      nth -= size[rank];
    } else if (nth != 0) {
      nth_below[rank] = std::exchange(nth, 0) - 1;
      if (nth_below[rank] != 0) continue;
      ranks.push_back(rank);
      ++num_chosen;
    }
  }
  return ranks;
}

enum class ChildOrder { ascending, descending };  // by rank

/// A forest whose nodes are given their places: those of a subtree are consecutive, the first of them is its
/// root's, and the others go to its children from the first one on, or from the last one on.
struct Placing {
  SpanningForest forest;
  ChildOrder order;
  Buffer<NodeId> size;         // of subtrees, by rank
  Buffer<NodeId> free;         // by rank: the first free place of its subtree, or the last one
  std::vector<NodeId> turned;  // ranks whose edges changed direction, parents first; all others still come
                               // behind their parents

  /// Turns the edges from the new root of a tree to the old one round.
  void move_root(NodeId new_root) {
    NodeId old_root = new_root;
    while (!forest.is_root(old_root)) old_root = forest.parent[old_root];
    free[new_root] = free[old_root];
    const NodeId all = size[old_root];
    NodeId parent = new_root, cut_off = 0;  // nodes in the subtree that the way comes from
    Weight weight = 0;
    for (NodeId rank = new_root;; rank = std::exchange(parent, rank)) {
      turned.push_back(rank);
      cut_off = std::exchange(size[rank], all - cut_off);
      std::swap(forest.parent[rank], parent);
      if (forest.is_weighted()) std::swap(forest.weight[rank], weight);
      if (rank == old_root) return;
    }
  }

  /// The places that begin at `first` are those of a tree.
  void place_root(NodeId rank, NodeId first) {
    free[rank] = order == ChildOrder::ascending ? first + 1 : first + size[rank] - 1;
  }
  void place_child(NodeId rank) {
    NodeId& parents_free = free[forest.parent[rank]];
    if (order == ChildOrder::ascending) {
      free[rank] = parents_free + 1;
      parents_free += size[rank];
    } else {
      free[rank] = parents_free;
      parents_free -= size[rank];
    }
  }
  /// Parents before children.
  void place_children() {
    const NodeId n = forest.num_nodes();
    Bitset is_turned(n);
    for (const NodeId rank : turned) {
      is_turned.set(rank);
      if (!forest.is_root(rank)) place_child(rank);
    }
    for (NodeId rank = 0; rank < n; ++rank) {
      prefetch(&free[forest.parent[std::min(rank + kAhead, n - 1)]]);
      if (!is_turned.test(rank) && !forest.is_root(rank)) place_child(rank);
    }
  }
  /// By rank, when all are placed: what is free ends behind the subtree, or is the place of its root.
  Buffer<NodeId> places() {
    if (order == ChildOrder::ascending)
      for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) free[rank] -= size[rank];
    size = {};
    return std::move(free);
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
  const std::size_t n = parents.size();
  auto line = Buffer<NodeId>::for_overwrite(n);
  for (std::size_t rank = 0; rank < n; ++rank) {
    prefetch(&place[parents[std::min<std::size_t>(rank + kAhead, n - 1)]]);
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

/// `random` chooses new roots; the old ones stay without it. 16 bytes per node, 20 with weights.
PlacedForest lay_out(SpanningForest&& forest, ChildOrder order, Stream* random) {
  const NodeId n = forest.num_nodes();
  PlacedForest line;
  Placing placing{std::move(forest), order, {}, Buffer<NodeId>::for_overwrite(n), {}};
  const SpanningForest& rooted = placing.forest;
  placing.size = subtree_sizes(rooted.parent);
  for (NodeId rank = 0, num_given = 0; rank < n; ++rank) {
    if (!rooted.is_root(rank)) continue;
    line.starts.push_back(num_given);
    placing.place_root(rank, num_given);
    num_given += placing.size[rank];
  }
  if (random != nullptr)
    for (const NodeId rank : random_ranks(rooted.parent, placing.size, line.starts.size(), *random))
      placing.move_root(rank);
  placing.place_children();
  line.place = placing.places();
  if (rooted.is_weighted()) {
    line.weight = by_place(rooted.weight, line.place);
    placing.forest.weight = {};
    join_neighbors(line.weight, parent_places(rooted.parent, line.place));
  }
  line.node = std::move(placing.forest.node);
  return line;
}

Line line_of(PlacedForest&& placed) {
  return {by_place(placed.node, placed.place), std::move(placed.weight), std::move(placed.starts),
          placed.ties_go_left};
}

}  // namespace

Line linearize(SpanningForest&& forest) {
  return line_of(lay_out(std::move(forest), ChildOrder::ascending, nullptr));
}

PlacedForest place_at_random(SpanningForest&& forest, std::uint64_t seed, std::uint64_t index) {
  Stream random(seed, Purpose::line_layout, index);
  const auto order = random.below(2) == 0 ? ChildOrder::ascending : ChildOrder::descending;
  const bool ties_go_left = random.below(2) == 0;
  PlacedForest line = lay_out(std::move(forest), order, &random);
  line.ties_go_left = ties_go_left;
  return line;
}

Line random_line(SpanningForest&& forest, std::uint64_t seed, std::uint64_t index) {
  return line_of(place_at_random(std::move(forest), seed, index));
}

}  // namespace copse
