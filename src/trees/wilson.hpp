// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "copse/support/execution.hpp"
#include "copse/trees/sample.hpp"
#include "trees/arc_sampler.hpp"

namespace copse {

/// A forest that Wilson's walks have drawn, or the part of it that they drew within the step limit.
struct WilsonResult {
  SpanningForest forest;  // complete iff `complete`; otherwise the ranks [0, num_ranked) of it
  NodeId num_ranked = 0;
  std::uint64_t steps = 0;  // of the walks: the arrows that were popped, and those that stayed
  bool complete = false;
};

/// One walk after the other, or several in turns where each would wait for memory at every step. The law is
/// the same, the trees are not.
enum class WalkOrder { one_by_one, interleaved };

/// Which is faster, by the size of the graph and how far apart in memory its neighbours lie. A function of
/// the graph alone, so that a seed means the same tree on every machine.
WalkOrder walk_order(const GraphView& graph);

/// For walks that may take so many steps per node, and some more where nodes are few.
inline std::uint64_t step_limit(std::uint64_t steps_per_node, NodeId num_nodes) {
  return steps_per_node * num_nodes + (1 << 14);
}

struct WilsonOptions {
  std::uint64_t step_limit = ~std::uint64_t{0};
  WalkOrder order = WalkOrder::one_by_one;
  Purpose purpose = Purpose::spanning_tree;  // what the walks' random numbers are for
};

/// The random spanning forest number `index` of execution.seed, rooted at `roots` (at least one per
/// component): P(T) is proportional to the product of the weights that `arcs` steps by. Expected steps: sum
/// over u of d_u R(u, roots) (Wilson 1996).
template <class Arcs>
WilsonResult wilson(const GraphView& graph, const Arcs& arcs, std::span<const NodeId> roots,
                    std::uint64_t index, const Execution& execution, const WilsonOptions& options = {});

}  // namespace copse
