// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "copse/laplacian/laplacian_solver.hpp"

namespace copse {

/// Most nodes of a dense pseudoinverse, unless a caller allows more: 512 MiB.
inline constexpr NodeId kMaxDenseNodes = 8192;

/// All of L^+, row by row, for small graphs: 8 n^2 bytes and O(n^3) time, a dense Cholesky factorization of
/// each component. UsageError, with the number of bytes, where the graph has more than `max_nodes` nodes.
std::vector<double> dense_pseudoinverse(const GraphView& graph, NodeId max_nodes = kMaxDenseNodes);

/// Columns of L^+ by solves: out[node * nodes.size() + i] is the entry between node and nodes[i]. `solver`
/// has no grounded nodes.
SolveReport pseudoinverse_columns(LaplacianSolver& solver, std::span<const NodeId> nodes,
                                  std::span<double> out);

struct NodePair {
  NodeId u = 0, v = 0;
};

}  // namespace copse
