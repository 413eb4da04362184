// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/line.hpp"

#include <algorithm>
#include <limits>

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

/// By rank: the place in the depth-first preorder. A subtree has consecutive places, the first of them for
/// its root; the others go to its children from the last one on.
Buffer<NodeId> preorder(const Buffer<NodeId>& parents, std::vector<NodeId>& starts) {
  const auto n = static_cast<NodeId>(parents.size());
  const Buffer<NodeId> size = subtree_sizes(parents);
  auto last_free = Buffer<NodeId>::for_overwrite(n);  // of the places of its subtree: at last its own
  NodeId num_given = 0;
  for (NodeId rank = 0; rank < n; ++rank) {  // parents before children
    const NodeId parent = parents[rank];
    prefetch(&last_free[parents[std::min(rank + kAhead, n - 1)]]);
    if (parent == rank) {
      starts.push_back(num_given);
      num_given += size[rank];
      last_free[rank] = num_given - 1;
    } else {
      last_free[rank] = last_free[parent];
      last_free[parent] -= size[rank];
    }
  }
  return last_free;
}

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

/// Calls body(begin, end) for the places of every tree.
template <class Body>
void for_each_tree(const PlacedForest& line, Body&& body) {
  for (std::size_t tree = 0; tree < line.starts.size(); ++tree)
    body(line.starts[tree], tree + 1 < line.starts.size() ? line.starts[tree + 1] : line.num_nodes());
}

/// Given the weights of edges to parents, finds those between neighbours on the circle: the tree path from
/// the place before climbs to the parent. Each edge is climbed once.
void join_neighbors(PlacedForest& line, const Buffer<NodeId>& parent) {
  Buffer<Weight>& weight = line.weight;
  const auto smallest_between = [&](NodeId below, NodeId above, Weight smallest) {
    for (; below != above; below = parent[below]) smallest = std::min(smallest, weight[below]);
    return smallest;
  };
  for_each_tree(line, [&](NodeId begin, NodeId end) {
    weight[begin] = smallest_between(end - 1, begin, std::numeric_limits<Weight>::infinity());
    // From the last place on, so that what is climbed are still edges of the tree.
    for (NodeId place = end; --place > begin;)
      weight[place] = smallest_between(place - 1, parent[place], weight[place]);
  });
}

/// 16 bytes per node, 20 with weights.
PlacedForest circles_of(SpanningForest&& forest) {
  PlacedForest line;
  line.place = preorder(forest.parent, line.starts);
  line.node = std::move(forest.node);
  if (forest.is_weighted()) {
    line.weight = by_place(forest.weight, line.place);
    forest.weight = {};
    join_neighbors(line, parent_places(forest.parent, line.place));
  }
  return line;
}

/// Every tree begins at the place of its circle that cut(size) says.
template <class Cut>
void cut_open(PlacedForest& line, Cut&& cut) {
  struct Tree {
    NodeId begin, cut, end;
  };
  std::vector<Tree> trees;
  for_each_tree(line, [&](NodeId begin, NodeId end) {
    trees.push_back({begin, begin + static_cast<NodeId>(cut(end - begin)), end});
  });
  const auto is_before = [](NodeId place, const Tree& tree) { return place < tree.end; };
  for (NodeId& place : line.place) {
    const Tree& tree = *std::upper_bound(trees.begin(), trees.end(), place, is_before);
    place = place >= tree.cut ? place - (tree.cut - tree.begin) : place + (tree.end - tree.cut);
  }
  if (line.weight.empty()) return;
  for (const Tree& tree : trees) {
    Weight* const weight = line.weight.data();
    std::rotate(weight + tree.begin, weight + tree.cut, weight + tree.end);
    weight[tree.begin] = 0;
  }
}

Line line_of(PlacedForest&& placed) {
  return {by_place(placed.node, placed.place), std::move(placed.weight), std::move(placed.starts),
          placed.ties_go_left};
}

}  // namespace

Line linearize(SpanningForest&& forest) {
  PlacedForest line = circles_of(std::move(forest));
  cut_open(line, [](NodeId) { return 0; });
  return line_of(std::move(line));
}

PlacedForest place_at_random(SpanningForest&& forest, std::uint64_t seed, std::uint64_t index) {
  Stream random(seed, Purpose::line_layout, index);
  PlacedForest line = circles_of(std::move(forest));
  line.ties_go_left = random.below(2) == 0;
  // Single nodes draw nothing: they may be left out.
  cut_open(line, [&](NodeId size) { return size == 1 ? 0 : random.below(size); });
  return line;
}

Line random_line(SpanningForest&& forest, std::uint64_t seed, std::uint64_t index) {
  return line_of(place_at_random(std::move(forest), seed, index));
}

}  // namespace copse
