// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "copse/laplacian/resistance.hpp"

namespace copse {

/// A right-hand side: 1 at `plus`, and -1 at `minus` or, if that is kNoNode, spread evenly over the
/// component. Both are of one component.
struct UnitSource {
  NodeId plus, minus;
};

/// b' L^+ b for each b, from below, with a certain bound on what is missing: see exact_resistances.
Estimates quadratic_forms(const GraphView& graph, std::span<const UnitSource> sources, double tolerance,
                          const SolveOptions& options, const Execution& execution);

}  // namespace copse
