// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/graph/neighbors.hpp"
#include "graph/key_source.hpp"

namespace copse {

/// Approximate neighbours of all points by faiss's HNSW, ranked in double. Rows for which fewer than k were
/// found are listed in `short_rows` and left unfilled.
Neighbors hnsw_neighbors(const PairDiscrepancy& exact, const DenseKeys& keys, const NeighborOptions& options,
                         const Execution& execution, std::vector<NodeId>& short_rows);

}  // namespace copse
