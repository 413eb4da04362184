// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "copse/laplacian/laplacian_solver.hpp"
#include "laplacian/exact_cholesky.hpp"
#include "laplacian/laplacian_system.hpp"

// Which method SolveMethod::automatic takes, and when.
//
//  1. Tiny systems are factored exactly: whatever is found out about them costs more.
//  2. Forests and graphs of few cycles (a mean degree below 3: roads) are factored at once, and so are deep
//     graphs (grids, meshes): no iteration by the degrees reaches farther than one edge.
//  3. All others begin with the degrees, which is all that social networks and other expanders need. After
//     20, 40, 80, ... iterations the pace of the residual tells what is left; where that, for as many
//     right-hand sides as are expected, costs more than a factor, it is used from there on. Where few are
//     expected, every call finds that out for itself; where many are, a random column does once for all of
//     them. So no answer depends on earlier ones.
//  4. A factor is randomized, unless the graph is flat (narrow levels of a breadth-first search: roads,
//  grids)
//     and has enough right-hand sides that the exact one pays: its solves cost a fraction of the iterations.
//
// Costs are counted in iterations by the degrees for one column, from sizes alone: a clock would make the
// answer depend on the day.

namespace copse::policy {

constexpr double kFactor = 150;  // making a randomized factor: 110 on roads, 140 on grids, 230 on dense rows
constexpr double kFactorIteration = 4;   // an iteration with it: 3.8 on grids, 4.4 on dense rows
constexpr double kUsualReduction = 1e6;  // of a residual, before it is known
constexpr double kMargin = 1.2;          // predictions err: a factor must promise to pay by this much
constexpr int kFirstLook = 20;           // iterations before the pace of a residual says anything

/// One iteration for so many columns: in a block they share the pass over the arcs, and the second costs
/// half.
inline double shared(std::size_t columns) {
  const double blocks = std::ceil(static_cast<double>(columns) / kMaxWidth);
  return blocks + 0.5 * (static_cast<double>(columns) - blocks);
}

/// Iterating with a randomized factor until residuals have come down by `reduction`. Measured: 26 iterations
/// for 10^6 on grids, 12 to 14 on roads and citations.
inline double factored_iterations(double reduction, std::size_t columns) {
  return kFactorIteration * (4 + 3.4 * std::log10(std::max(1.0, reduction))) * shared(columns);
}

/// Whether `iterations` more by the degrees cost more than a factor and the iterations with it.
inline bool factor_pays(double iterations, double reduction, std::size_t columns) {
  return iterations * shared(columns) > kMargin * (kFactor + factored_iterations(reduction, columns));
}

/// Whether the first iterations, those by the degrees, may be on floats, whose range ends at 10^38. Of named
/// methods every round is one of doubles.
inline bool floats_suffice(const SolveOptions& options, const LaplacianSystem& system) {
  return options.method == SolveMethod::automatic && options.tolerance >= 1e-5 &&
         std::ranges::all_of(system.inverse_degree.span(), [](double inverse) {
           return inverse == 0 || (inverse > 1e-12 && inverse < 1e12);
         });
}

inline bool is_tiny(const LaplacianSystem& system) {
  return system.num_free <= 500 && system.num_arcs <= 16 * std::uint64_t{system.num_free};
}
/// Which the randomized factor solves exactly, and faster.
inline bool is_forest(const LaplacianSystem& system) {
  return system.num_arcs < 2 * std::uint64_t{system.num_nodes()};
}
inline bool has_few_cycles(const LaplacianSystem& system) {
  return system.num_arcs < 3 * std::uint64_t{system.num_nodes()};
}

/// Grids need 1.6 times their depth; a residual is not small before everyone has heard of everyone.
inline double least_iterations(const LevelStructure& levels) { return 1.5 * levels.depth; }

/// Levels of flat graphs have some sqrt(n) nodes. Three-dimensional ones have n^(2/3), expanders far more:
/// the search for them ends early.
inline std::uint64_t max_flat_fill(const LaplacianSystem& system) {
  const double n = system.num_nodes();
  return static_cast<std::uint64_t>(4 * n * std::sqrt(n)) + 2 * system.num_arcs;
}

/// Operations of an exact factorization, by the mean width w of the levels: pieces of w^2 nodes are taken
/// apart by separators of w, which costs about 25 n w on grids.
inline double expected_operations(const LaplacianSystem& system, const LevelStructure& levels) {
  return 25 * (static_cast<double>(levels.fill) / 2 + 2.0 * system.num_nodes());
}

/// Bytes that a factor of either kind may take: see LaplacianSolver::bytes.
inline std::uint64_t max_factor_bytes(std::uint64_t num_nodes, std::uint64_t num_arcs) {
  return 260 * num_nodes + 96 * num_arcs;
}

/// The order of an exact factor takes as long as a randomized factor, so that its operations may cost what
/// the iterations with the latter would. An iteration by the degrees lasts as long as 2 operations per arc
/// and 6 per node.
inline ExactLimits exact_limits(const LaplacianSystem& system, std::size_t columns) {
  const double per_iteration =
      8 * static_cast<double>(system.num_arcs) + 25 * static_cast<double>(system.num_nodes());
  return {factored_iterations(kUsualReduction, columns) * per_iteration,
          max_factor_bytes(system.num_nodes(), system.num_arcs)};
}

/// Entries at which a randomized factor has failed its purpose: the graph is an expander.
inline std::uint64_t max_factor_entries(const LaplacianSystem& system) {
  return 4 * system.num_arcs + 16 * std::uint64_t{system.num_free};
}

}  // namespace copse::policy
