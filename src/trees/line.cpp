// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/line.hpp"

#include <algorithm>
#include <bit>

#include "copse/support/random.hpp"
#include "trees/new_roots.hpp"

namespace copse {

namespace {

/// A forest whose nodes are to be put on a line, as take_random_roots leaves it.
struct Rooted {
  SpanningForest tree;
  NodesBelow below;
  VisitOrder order;
};

// Of the way from the last node of a subtree's preorder up to the parent of its root: the smallest weight.
// Children before parents. The last child is the first that this pass meets, or, if they are laid out the
// other way round, the last that it meets.
Buffer<Weight> lows_of(const Rooted& rooted, const LineLayout& layout) {
  const SpanningForest& tree = rooted.tree;
  Buffer<Weight> low(tree.num_nodes());
  rooted.order.for_each_backwards(tree.num_nodes(), [&](NodeId rank) {
    const NodeId parent = tree.parent[rank];
    if (parent == rank) return;
    low[rank] = low[rank] == 0 ? tree.weight[rank] : std::min(low[rank], tree.weight[rank]);
    if (low[parent] == 0 || layout.last_child_first) low[parent] = low[rank];
  });
  return low;
}

// Where two subtrees of siblings meet, the line jumps from the last node of the one in front to the root of
// the other; the path it skips has minimum low(the one in front). `parents_word` is the word `low` of the
// parent, which has been placed and does not need it: it remembers the child placed last, by its rank plus 1
// if that is the one behind, else by its `low`.
void join_siblings(SpanningForest& tree, Buffer<Weight>& low, NodeId rank, const LineLayout& layout) {
  Weight& parents_word = low[tree.parent[rank]];
  if (layout.last_child_first) {
    if (const auto behind = std::bit_cast<NodeId>(parents_word); behind != 0)
      tree.weight[behind - 1] = std::min(tree.weight[behind - 1], low[rank]);
    parents_word = std::bit_cast<Weight>(rank + 1);
  } else {
    if (parents_word != 0) tree.weight[rank] = std::min(tree.weight[rank], parents_word);
    parents_word = low[rank];
  }
}

// Parents before children: put(rank, place) for every node. Returns where trees begin. Once a node is placed
// its word `below` is free and says where its next child goes: the first place, or the one behind the last.
template <bool kLastChildFirst, class Put>
Bitset place_nodes(Rooted& rooted, Put&& put) {
  const Buffer<NodeId>& parents = rooted.tree.parent;
  Buffer<NodeId>& below = rooted.below.count;
  Bitset starts(rooted.tree.num_nodes());
  NodeId next_tree = 0;
  rooted.order.for_each(rooted.tree.num_nodes(), [&](NodeId rank) {
    const NodeId parent = parents[rank], size = below[rank] + 1;
    NodeId place;
    if (parent == rank) {
      place = next_tree;
      starts.set(place);
      next_tree += size;
    } else if (kLastChildFirst) {
      place = below[parent] -= size;
    } else {
      place = below[parent];
      below[parent] += size;
    }
    below[rank] = kLastChildFirst ? place + size : place + 1;
    put(rank, place);
  });
  return starts;
}

// The places go where the parents stood. Returns where trees begin.
Bitset place_nodes(Rooted& rooted, const LineLayout& layout) {
  SpanningForest& tree = rooted.tree;
  const auto place_by = [&](auto&& put) {
    return layout.last_child_first ? place_nodes<true>(rooted, put) : place_nodes<false>(rooted, put);
  };
  if (!tree.is_weighted()) return place_by([&](NodeId rank, NodeId place) { tree.parent[rank] = place; });
  Buffer<Weight> low = lows_of(rooted, layout);
  return place_by([&](NodeId rank, NodeId place) {
    if (!tree.is_root(rank)) join_siblings(tree, low, rank, layout);
    low[rank] = 0;
    tree.parent[rank] = place;
  });
}

// By place what was by rank. A pass of its own: writes whose places are all known wait for memory side by
// side.
template <class T>
Buffer<T> by_place(const Buffer<T>& by_rank, const Buffer<NodeId>& place) {
  auto line = Buffer<T>::for_overwrite(by_rank.size());
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) line[place[rank]] = by_rank[rank];
  return line;
}

// `stream` chooses new roots; the old ones stay without it. Words a node: the forest (2, 3 if weighted) and
// two.
PlacedForest lay_out(SpanningForest&& forest, const LineLayout& layout, Stream* stream) {
  Rooted rooted{std::move(forest), {}, {}};
  rooted.below = count_below(rooted.tree);
  if (stream != nullptr) rooted.order = take_random_roots(rooted.tree, rooted.below, *stream);
  PlacedForest placed;
  placed.starts = place_nodes(rooted, layout);
  placed.ties_go_left = layout.ties_go_left;
  placed.node = std::move(rooted.tree.node);
  placed.place = std::move(rooted.tree.parent);
  rooted.below.count = {};
  placed.weight = by_place(rooted.tree.weight, placed.place);
  return placed;
}

Line line_of(PlacedForest&& placed) {
  std::vector<NodeId> starts;
  placed.starts.for_each([&](std::size_t place) { starts.push_back(static_cast<NodeId>(place)); });
  return {by_place(placed.node, placed.place), std::move(placed.weight), std::move(starts),
          placed.ties_go_left};
}

}  // namespace

Line linearize(SpanningForest&& forest, const LineLayout& layout) {
  return line_of(lay_out(std::move(forest), layout, nullptr));
}

PlacedForest place_at_random(SpanningForest&& forest, std::uint64_t seed, std::uint64_t index) {
  Stream stream(seed, Purpose::line_layout, index);
  const std::uint32_t coins = stream.next32();
  return lay_out(std::move(forest), {(coins & 1) != 0, (coins & 2) != 0}, &stream);
}

Line random_line(SpanningForest&& forest, std::uint64_t seed, std::uint64_t index) {
  return line_of(place_at_random(std::move(forest), seed, index));
}

}  // namespace copse
