// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/line.hpp"

#include <algorithm>

namespace copse {

Line linearize(SpanningForest&& forest) {
  const SpanningForest tree = std::move(forest);
  const NodeId n = tree.num_nodes();
  const bool weighted = tree.is_weighted();

  // Children before parents: sizes of the subtrees, and for each node the smallest weight on the way from
  // the last node of its subtree's preorder up to its parent. Children are laid out by rank, so the last
  // one is the first that this pass meets.
  Buffer<NodeId> size(n);
  Buffer<Weight> low(weighted ? n : 0);
  for (NodeId rank = n; rank-- > 0;) {
    const NodeId parent = tree.parent[rank];
    ++size[rank];
    if (parent == rank) continue;
    size[parent] += size[rank];
    if (weighted) {
      low[rank] = low[rank] == 0 ? tree.weight[rank] : std::min(low[rank], tree.weight[rank]);
      if (low[parent] == 0) low[parent] = low[rank];
    }
  }

  // Parents before children. Once a node is placed its two words are free and serve its children:
  // `size` becomes the place of the next child, `low` that of the child placed last (0: none yet).
  // Between two siblings' subtrees the line jumps from the last node of one to the root of the next; the
  // path it skips has minimum low(previous sibling).
  Line line{Buffer<NodeId>(n), Buffer<Weight>(weighted ? n : 0), {}};
  NodeId next_tree = 0;
  for (NodeId rank = 0; rank < n; ++rank) {
    const NodeId parent = tree.parent[rank];
    NodeId place = next_tree;
    if (parent == rank) {
      line.starts.push_back(place);
      next_tree += size[rank];
    } else {
      place = size[parent];
      size[parent] += size[rank];
    }
    size[rank] = place + 1;
    line.node[place] = tree.node[rank];
    if (weighted) {
      if (parent != rank) {
        line.weight[place] = low[parent] == 0 ? tree.weight[rank] : std::min(low[parent], tree.weight[rank]);
        low[parent] = low[rank];
      }
      low[rank] = 0;
    }
  }
  return line;
}

}  // namespace copse
