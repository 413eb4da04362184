// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/graph/components.hpp"
#include "copse/graph/graph.hpp"

namespace copse {

/// A component as a graph of its own.
struct Subgraph {
  Graph graph;
  std::vector<NodeId> nodes;  // nodes[i] is the i-th node's number in the whole graph; ascending
};

Subgraph component_subgraph(const GraphView& graph, const Components& components, NodeId component);

}  // namespace copse
