// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "copse/graph/graph.hpp"

namespace copse::oracle {

/// An edge once, smaller end first, with its weight: a graph in a form that compares and prints well.
using EdgeMap = std::map<std::pair<std::uint64_t, std::uint64_t>, double>;

inline EdgeMap edges_of(const GraphView& graph) {
  check_graph(graph, "test");
  EdgeMap edges;
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      if (u < graph.neighbors[arc]) edges[{u, graph.neighbors[arc]}] = graph.signed_weight(arc);
    }
  }
  return edges;
}

}  // namespace copse::oracle
