// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "copse/laplacian/laplacian_solver.hpp"
#include "laplacian/column_block.hpp"
#include "laplacian/laplacian_system.hpp"

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

  /// 0 while vectors fit into the cache, 1 once they are far larger.
  double outgrown() const { return std::min(1.0, nodes / 1e6); }
  double read(double local_cost) const { return is_local ? local_cost : local_cost + 9 * outgrown(); }

  /// Columns share the pass over the arcs: beside one column, another one costs about half.
  static double columns(double count) {
    const double blocks = std::ceil(count / kMaxWidth);
    return blocks + 0.5 * (count - blocks);
  }
  double jacobi_iteration() const { return arcs * read(0.8) + nodes * (2.5 + outgrown()); }
  double reorder() const { return arcs * 30 + nodes * 150; }
  /// Of about as many entries as arcs: what meshes, neighbour graphs and social networks come to.
  double factor() const {
    return arcs * (is_local ? 190 + 40 * outgrown() : 190 + 440 * outgrown()) + nodes * 40;
  }
  double factor_iteration() const { return jacobi_iteration() + arcs * (2.8 + 4 * outgrown()) + nodes * 5; }
  /// The order of an exact factorization and what goes with it.
  double analysis() const { return arcs * 170 + nodes * 200; }
  static double exact(double operations, double entries, double supernodes) {
    return 0.09 * operations + 8 * entries + 400 * supernodes;
  }
  double exact_solve(double entries, double num_columns) const {
    return num_columns * (0.3 * entries + 20 * nodes) + std::ceil(num_columns / kMaxWidth) * 2.5 * entries;
  }
  /// Iterations with a factor that bring the residual down by `reduction`, near enough.
  static double factor_iterations(double reduction) { return 4 + 3.4 * std::log10(std::max(1.0, reduction)); }
};

/// Chains and trees hanging off them cost nothing to eliminate: a mean degree below this is factored at once.
inline constexpr double kTreeLikeDegree = 2.7;

/// Predictions err: a factor must promise to pay by this much.
inline constexpr double kFactorMargin = 1.2;

/// Where rows are short a second edge beside each costs little, and many columns gain from fewer iterations.
inline SolveMethod factor_for(const LaplacianSystem& system, std::size_t columns) {
  const bool is_sparse = system.num_arcs < 5 * std::uint64_t{system.num_free};
  return is_sparse && columns >= kMaxWidth ? SolveMethod::approximate_cholesky2
                                           : SolveMethod::approximate_cholesky;
}

/// Small and sparse enough for an exact factorization without a second thought.
inline bool is_tiny(const LaplacianSystem& system) {
  return system.num_free <= 500 && system.num_arcs <= 16 * std::uint64_t{system.num_free};
}

/// Levels of a graph that is flat, as grids and maps are: some sqrt(n) nodes each. Three-dimensional ones
/// have n^(2/3), expanders far more; the search for them ends early.
inline std::uint64_t max_flat_fill(const LaplacianSystem& system) {
  const double n = system.num_nodes();
  return static_cast<std::uint64_t>(4 * n * std::sqrt(n)) + 2 * system.num_arcs;
}

/// Nanoseconds that an exact factorization and `columns` solves are going to take, by the mean width w of the
/// levels alone: pieces of w^2 nodes are taken apart by separators of w, which costs about 25 n w operations
/// and leaves 6 n log w entries (on grids, with the order of minimum degree).
inline double expected_exact(const SolveCosts& costs, const LevelStructure& levels, double columns) {
  const double width = static_cast<double>(levels.fill) / (2 * costs.nodes) + 2;
  const double operations = 25 * costs.nodes * width, entries = 6 * costs.nodes * std::log2(width);
  return costs.analysis() + SolveCosts::exact(operations, entries, costs.nodes / 4) +
         costs.exact_solve(entries, columns);
}

/// Iterations by the degrees at least: none reaches farther than one edge, and the residual is not small
/// before everyone has heard of everyone. Grids need 1.6 times their depth.
inline double least_iterations(const LevelStructure& levels) { return 1.5 * levels.depth; }

/// A little more than a tree: most of it goes away node by node, and the core that is left is small.
inline bool is_nearly_a_tree(const LaplacianSystem& system) {
  const std::uint64_t nodes = system.num_free, arcs = system.num_arcs;
  return 10 * arcs > 21 * nodes && arcs < 3 * nodes;
}

/// Bytes that a factor of either kind may take: see LaplacianSolver::bytes.
inline std::uint64_t max_factor_bytes(std::uint64_t nodes, std::uint64_t arcs) {
  return 260 * nodes + 96 * arcs;
}

/// Entries at which a randomized factor has failed its purpose: the graph is an expander.
inline std::uint64_t max_factor_entries(const LaplacianSystem& system) {
  return 4 * system.num_arcs + 16 * std::uint64_t{system.num_free};
}

}  // namespace copse
