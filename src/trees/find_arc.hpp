// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "copse/graph/graph.hpp"

namespace copse {

/// The arc from `u` to its neighbour `v`. Short rows are counted rather than searched: the branches of a
/// search cannot be foreseen, and each wrong guess costs more than several comparisons. O(log d).
inline EdgeIndex find_arc(const GraphView& graph, NodeId u, NodeId v) {
  constexpr std::size_t kShort = 32;
  const std::span<const NodeId> row = graph.neighbors_of(u);
  EdgeIndex place = 0;
  if (row.size() > kShort) {
    place = static_cast<EdgeIndex>(std::lower_bound(row.begin(), row.end(), v) - row.begin());
  } else {
    for (const NodeId neighbor : row) place += neighbor < v;
  }
  return graph.offsets[u] + place;
}

}  // namespace copse
