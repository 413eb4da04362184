// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// Connected components, numbered by their smallest node.
struct Components {
  std::vector<NodeId> of_node;  // component of each node
  std::vector<NodeId> sizes;    // nodes of each component
  std::size_t count() const { return sizes.size(); }
  NodeId largest() const;  // the component with the most nodes (the first of them)
};

Components connected_components(const GraphView& graph, const Execution& execution);
Components connected_components(const GraphView& graph, int threads = 1);

}  // namespace copse
