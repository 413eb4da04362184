// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "copse/support/execution.hpp"
#include "copse/trees/sample.hpp"
#include "trees/arc_sampler.hpp"

namespace copse {

/// A forest that Wilson's walks have drawn, or the part of it that they drew within the step limit.
struct WilsonResult {
  SpanningForest forest;  // complete iff `complete`; otherwise the ranks [0, num_ranked) of it
  NodeId num_ranked = 0;
  std::uint64_t steps = 0;  // arrows drawn, a function of the tree number alone
  bool complete = false;
};

/// What to expect of the walks; it decides how fast they are, never where they go.
enum class Walks {
  usual,
  straight,  // hardly more steps than nodes
  winding    // twice as many and more
};

/// The random spanning forest number `index` of `seed`, rooted at `roots` (one a component): P(T) is
/// proportional to the product of the weights that `arcs` steps by. Expected steps: sum over u of
/// d_u R(u, root) (Wilson 1996). A pure function of (graph, roots, seed, index); of `execution` only whether
/// to go on is asked, now and then.
template <class Arcs>
WilsonResult wilson(const GraphView& graph, const Arcs& arcs, std::span<const NodeId> roots,
                    std::uint64_t seed, std::uint64_t index, std::uint64_t step_limit,
                    const Execution& execution = {}, Walks walks = Walks::usual,
                    TreeNodes nodes = TreeNodes::all);

extern template WilsonResult wilson(const GraphView&, const UniformArcs&, std::span<const NodeId>,
                                    std::uint64_t, std::uint64_t, std::uint64_t, const Execution&, Walks,
                                    TreeNodes);
extern template WilsonResult wilson(const GraphView&, const WeightedArcs&, std::span<const NodeId>,
                                    std::uint64_t, std::uint64_t, std::uint64_t, const Execution&, Walks,
                                    TreeNodes);

}  // namespace copse
