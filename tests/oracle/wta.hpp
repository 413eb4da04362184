// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/trees/line.hpp"

// The Weighted Tree Algorithm by looking at every labelled node of the line. Resistances are rounded to
// multiples of 2^-60, so that sums are exact and ties are ties; for weights between 2^-30 and 2^30.

namespace copse::oracle {

__extension__ using Place = __int128;

/// The labelled node that decides for `node` on a line: nearest by resistance (of two as near the one on the
/// side that the line says), on the same tree; kNoNode without one. `weighted` false counts edges.
inline NodeId nearest_on_line(const Line& line, const std::vector<Label>& labels, NodeId node,
                              bool weighted) {
  const NodeId n = line.num_nodes();
  std::vector<int> tree(n);
  std::vector<Place> place(n);
  std::size_t next_start = 0;
  NodeId here = kNoNode;
  for (NodeId i = 0; i < n; ++i) {
    if (i > 0) {
      tree[i] = tree[i - 1];
      place[i] = place[i - 1];
    }
    if (next_start < line.starts.size() && line.starts[next_start] == i) {
      tree[i] += 1;
      ++next_start;
    } else {
      place[i] +=
          static_cast<Place>((weighted && !line.weight.empty() ? 1.0L / line.weight[i] : 1.0L) * 0x1p60L);
    }
    if (line.node[i] == node) here = i;
  }
  const auto distance = [&](NodeId i) {
    return place[i] < place[here] ? place[here] - place[i] : place[i] - place[here];
  };
  NodeId best = kNoNode;
  for (NodeId i = 0; i < n; ++i) {
    if (labels[line.node[i]] == kNoLabel || tree[i] != tree[here]) continue;
    if (best == kNoNode || distance(i) < distance(best) ||
        (!line.ties_go_left && distance(i) == distance(best)))
      best = i;
  }
  return best == kNoNode ? kNoNode : line.node[best];
}

}  // namespace copse::oracle
