// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/graph/components.hpp"

namespace copse {

/// A node of each component that random walks reach quickly: the one of largest weighted degree, or, in
/// components where all degrees are alike and distances are long (meshes), one near the centre.
std::vector<NodeId> walk_roots(const GraphView& graph, const Components& components);

}  // namespace copse
