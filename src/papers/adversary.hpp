// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/graph/labels.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// The lower bound of Cesa-Bianchi et al. 2013, theorem 1, as a labelling.
struct Adversary {
  Labels labels;                // of all nodes: "+1" and "-1"
  std::vector<NodeId> budget;   // the K nodes that were labelled by coins, to be presented first
  double expected_cut = 0;      // E[Phi_T] of the labelling, below K; estimated where `num_trees` is not 0
  std::uint64_t num_trees = 0;  // drawn for the estimate; 0: exact
};

/// K = `budget` nodes get labels by fair coins, functions of the seed: any algorithm errs on half of them in
/// expectation. They are the nodes with the fewest edges in a random spanning tree, on average (sum of
/// weight times resistance over their edges); all other nodes get one label, that which is cut less. A random
/// spanning tree then cuts fewer than K edges in expectation. Exact up to 1,500 nodes and on forests, beyond
/// from random trees. UsageError unless 1 <= budget <= nodes.
Adversary adversarial_labelling(const GraphView& graph, std::uint64_t budget, const Execution& execution);

}  // namespace copse
