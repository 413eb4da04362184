// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "copse/graph/build.hpp"
#include "copse/graph/names.hpp"

namespace copse {

/// Edges whose ends are integer ids minus `base`, not nodes yet.
struct IntegerEdges {
  std::vector<EdgeChunk> chunks;
  std::vector<NodeId> more_ids;  // of nodes that no edge may mention, minus base as well
  std::uint64_t base = 0;
  NodeId smallest = kNoNode, largest = 0;  // of all of these
};

/// Whether numbering by a bit an id of the range would take more memory than the edges themselves.
bool lie_too_thinly(NodeId smallest, NodeId largest, std::uint64_t num_edges);

/// Numbers the nodes in the order of their ids, which are exactly the ids that occur, and rewrites the
/// chunks. One bit an id of the range: no hashing. Consecutive ids take no names at all. nullopt, with
/// nothing changed, when the ids lie too thinly for that.
std::optional<NodeNames> number_nodes(IntegerEdges& edges, int threads);

}  // namespace copse
