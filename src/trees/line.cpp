// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/line.hpp"

#include <algorithm>
#include <bit>

#include "copse/support/random.hpp"
#include "copse/trees/reroot.hpp"

namespace copse {

Line random_line(SpanningForest&& forest, std::uint64_t seed, std::uint64_t index) {
  Stream stream(seed, Purpose::line_layout, index);
  const std::uint32_t coins = stream.next32();
  reroot_at_random(forest, stream);
  return linearize(std::move(forest), {(coins & 1) != 0, (coins & 2) != 0});
}

namespace {

/// What the passes of linearize need beside the forest.
struct SubtreeWords {
  Buffer<NodeId> size;
  // Of the way from the last node of a subtree's preorder up to the parent of its root: the smallest weight.
  Buffer<Weight> low;
};

// Children before parents. The last child is the first that this pass meets, or, if they are laid out by
// descending rank, the last that it meets.
SubtreeWords measure_subtrees(const SpanningForest& tree, const LineLayout& layout) {
  const NodeId n = tree.num_nodes();
  SubtreeWords words{Buffer<NodeId>(n), Buffer<Weight>(tree.is_weighted() ? n : 0)};
  auto& [size, low] = words;
  for (NodeId rank = n; rank-- > 0;) {
    const NodeId parent = tree.parent[rank];
    ++size[rank];
    if (parent == rank) continue;
    size[parent] += size[rank];
    if (tree.is_weighted()) {
      low[rank] = low[rank] == 0 ? tree.weight[rank] : std::min(low[rank], tree.weight[rank]);
      if (low[parent] == 0 || layout.last_child_first) low[parent] = low[rank];
    }
  }
  return words;
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

// Parents before children. Afterwards parent[rank] is the place of the node on the line and weight[rank] the
// weight there. Once a node is placed its words are free and serve its children: `size` becomes where the
// next child goes (its first place, or the one behind its last).
std::vector<NodeId> place_nodes(SpanningForest& tree, const LineLayout& layout) {
  auto [size, low] = measure_subtrees(tree, layout);
  std::vector<NodeId> starts;
  NodeId next_tree = 0;
  for (NodeId rank = 0; rank < tree.num_nodes(); ++rank) {
    const NodeId parent = tree.parent[rank], nodes = size[rank];
    NodeId place = next_tree;
    if (parent == rank) {
      starts.push_back(place);
      next_tree += nodes;
    } else if (layout.last_child_first) {
      place = size[parent] -= nodes;
    } else {
      place = size[parent];
      size[parent] += nodes;
    }
    size[rank] = layout.last_child_first ? place + nodes : place + 1;
    if (tree.is_weighted()) {
      if (parent != rank) join_siblings(tree, low, rank, layout);
      low[rank] = 0;
    }
    tree.parent[rank] = place;
  }
  return starts;
}

// By place what was by rank; frees it.
template <class T>
Buffer<T> by_place(Buffer<T>& by_rank, const Buffer<NodeId>& place) {
  Buffer<T> line(by_rank.size());
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) line[place[rank]] = by_rank[rank];
  by_rank = {};
  return line;
}

}  // namespace

// Words a node: the forest (3, weighted) and two while places are found, then one more than the forest.
Line linearize(SpanningForest&& forest, const LineLayout& layout) {
  SpanningForest tree = std::move(forest);
  Line line;
  line.ties_go_left = layout.ties_go_left;
  line.starts = place_nodes(tree, layout);
  line.node = by_place(tree.node, tree.parent);
  if (tree.is_weighted()) line.weight = by_place(tree.weight, tree.parent);
  return line;
}

}  // namespace copse
