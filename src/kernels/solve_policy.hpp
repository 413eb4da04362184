// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/column_block.hpp"
#include "kernels/laplacian_system.hpp"

namespace copse {

/// What steps of a solve cost, in nanoseconds of one thread of a machine of 2023, from counts alone: a clock
/// would make the answer depend on the day. docs/benchmarks.md has the measurements; only their ratios matter
/// here.
struct SolveCosts {
  double nodes, arcs;
  bool is_local;  // the order of the nodes, see has_local_order

  static SolveCosts of(const LaplacianSystem& system, bool local) {
    return {static_cast<double>(system.num_nodes()), static_cast<double>(system.num_arcs), local};
  }

  /// A read that misses the cache, once vectors have outgrown it.
  double miss(double local_cost) const {
    return is_local ? local_cost : local_cost + 9 * std::min(1.0, nodes / 1e6);
  }
  /// Columns share the pass over the arcs: beside one column, another one costs about half.
  static double columns(double count) {
    const double blocks = std::ceil(count / kMaxWidth);
    return blocks + 0.45 * (count - blocks);
  }
  double jacobi_iteration() const { return arcs * miss(1) + nodes * 3.5; }
  double reorder() const { return arcs * 40 + nodes * 200; }
  /// By entries of the factor; before it is there, as many as meshes and social networks come to.
  double factor() const {
    return arcs * (is_local ? 200 : 200 + 400 * std::min(1.0, nodes / 1e6)) + nodes * 60;
  }
  double factor_iteration() const { return jacobi_iteration() + arcs * miss(4) + nodes * 12; }
  /// Randomized elimination takes this many iterations to bring the residual down by `reduction`, near
  /// enough.
  static double factor_iterations(double reduction) { return 5 + 4.5 * std::log10(std::max(1.0, reduction)); }
};

/// Chains and trees hanging off them cost nothing to eliminate: a mean degree below this is factored at once.
inline constexpr double kTreeLikeDegree = 2.7;

/// Small and sparse enough for an exact factorization without a second thought.
inline bool is_tiny(const LaplacianSystem& system) {
  return system.num_free <= 500 && system.num_arcs <= 16 * std::uint64_t{system.num_free};
}

/// Entries at which a randomized factor has failed its purpose: the graph is an expander.
inline std::uint64_t max_factor_entries(const LaplacianSystem& system) {
  return 4 * system.num_arcs + 16 * std::uint64_t{system.num_free};
}

}  // namespace copse
