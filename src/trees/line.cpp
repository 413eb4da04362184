// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/line.hpp"

#include <algorithm>

#include "copse/support/random.hpp"
#include "copse/trees/reroot.hpp"

namespace copse {

Line random_line(SpanningForest&& forest, std::uint64_t seed, std::uint64_t index) {
  Stream stream(seed, Purpose::line_layout, index);
  const std::uint32_t coins = stream.next32();
  reroot_at_random(forest, stream);
  return linearize(std::move(forest), {(coins & 1) != 0, (coins & 2) != 0});
}

Line linearize(SpanningForest&& forest, const LineLayout& layout) {
  const SpanningForest tree = std::move(forest);
  const NodeId n = tree.num_nodes();
  const bool weighted = tree.is_weighted();

  // Children before parents: sizes of the subtrees, and for each node the smallest weight on the way from
  // the last node of its subtree's preorder up to its parent (`low`). The last child is the first that this
  // pass meets, or, if they are laid out by descending rank, the last that it meets.
  Buffer<NodeId> size(n);
  Buffer<Weight> low(weighted ? n : 0);
  for (NodeId rank = n; rank-- > 0;) {
    const NodeId parent = tree.parent[rank];
    ++size[rank];
    if (parent == rank) continue;
    size[parent] += size[rank];
    if (weighted) {
      low[rank] = low[rank] == 0 ? tree.weight[rank] : std::min(low[rank], tree.weight[rank]);
      if (low[parent] == 0 || layout.last_child_first) low[parent] = low[rank];
    }
  }

  // Parents before children. Once a node is placed its words are free and serve its children: `size`
  // becomes where the next child goes (its first place, or the one behind its last), `low` that of the
  // child placed last (0: none yet). Between two siblings' subtrees the line jumps from the last node of
  // one to the root of the next; the path it skips has minimum low(the sibling in front).
  Line line{Buffer<NodeId>(n), Buffer<Weight>(weighted ? n : 0), {}, layout.ties_go_left};
  NodeId next_tree = 0;
  for (NodeId rank = 0; rank < n; ++rank) {
    const NodeId parent = tree.parent[rank], nodes = size[rank];
    NodeId place = next_tree;
    if (parent == rank) {
      line.starts.push_back(place);
      next_tree += nodes;
    } else if (layout.last_child_first) {
      place = size[parent] -= nodes;
    } else {
      place = size[parent];
      size[parent] += nodes;
    }
    size[rank] = layout.last_child_first ? place + nodes : place + 1;
    line.node[place] = tree.node[rank];
    if (!weighted) continue;
    if (parent != rank) {
      line.weight[place] = tree.weight[rank];
      if (low[parent] != 0) {  // two siblings meet: at this one's place, or at that of the one placed before
        Weight& joint = line.weight[layout.last_child_first ? place + nodes : place];
        joint = std::min(joint, layout.last_child_first ? low[rank] : low[parent]);
      }
      low[parent] = low[rank];
    }
    low[rank] = 0;
  }
  return line;
}

}  // namespace copse
