// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "copse/laplacian/laplacian_solver.hpp"

namespace copse {

struct Interpolation {
  std::vector<double> value;  // by node, then by column
  SolveReport report;
};

/// The function g of smallest g' L g that takes `values` at `nodes` and sums to 0 on every component: the
/// minimum-norm interpolant in H(G) of Herbster, Pontil & Wainer 2005 (MNI), K~^+ y for the kernel L^+. Two
/// solves, however many labels: with h the harmonic extension of the values and z = L_UU^-1 1 on the other
/// nodes U,
///
///   g_U = h - (sum of values and of h) / (sum of z) z.
///
/// 0 on a component without a value. Where every node of a component has one, nothing is left to choose and
/// they stay, whatever their sum. UsageError for a node given twice or a value that is not finite.
///
/// Several functions at once share z: values[i * columns + column] for nodes[i], and value[node * columns +
/// column] in the answer.
Interpolation minimum_norm_interpolation(const GraphView& graph, std::span<const NodeId> nodes,
                                         std::span<const double> values, const SolveOptions& options,
                                         const Execution& execution, std::size_t columns = 1);

}  // namespace copse
