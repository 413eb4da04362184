// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "copse/graph/graph.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// E[Phi_T], the papers' measure of how hard a labelling is: the number of edges of a random spanning tree
/// whose ends have different labels. Edges are judged where both ends have one.
struct ExpectedTreeCut {
  double value = 0;
  double error = 0;             // standard error if sampled, else a bound of the error of the solves
  std::uint64_t num_trees = 0;  // that were drawn; 0: not sampled
};

/// The sum over the cut edges of weight times effective resistance (Cesa-Bianchi et al. 2013, eq. 1), where
/// that is affordable: on forests, on graphs of some thousand nodes, and wherever few edges are cut.
/// Otherwise, and where weights range too widely for the digits of a matrix, the mean over `num_trees` (at
/// least 1) random spanning trees.
ExpectedTreeCut expected_tree_cut(const GraphView& graph, std::span<const Label> labels,
                                  std::uint64_t num_trees, const Execution& execution);

}  // namespace copse
