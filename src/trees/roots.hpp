// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/graph/components.hpp"

namespace copse {

/// A node of each component that random walks reach quickly: the one of largest weighted degree, or, in
/// components where all degrees are alike (meshes), one near the centre.
std::vector<NodeId> walk_roots(const GraphView& graph, const Components& components);

/// A node of small eccentricity, in edges, in the component of `start`: the node nearest to all landmarks,
/// each new landmark being the node farthest from the centre so far. Ten breadth-first sweeps.
NodeId approximate_centre(const GraphView& graph, NodeId start);

}  // namespace copse
