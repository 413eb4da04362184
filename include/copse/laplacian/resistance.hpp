// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/laplacian/pseudoinverse.hpp"
#include "copse/support/buffer.hpp"
#include "copse/trees/diameter.hpp"

namespace copse {

/// A figure a node or pair, and how far it may be off.
struct Estimates {
  std::vector<double> value, error;
  double confidence = 1;  // that all errors hold together; 1: for certain
  SolveReport report;
};

/// Effective resistances by solves, eight pairs at a time; 0 between a node and itself, infinite between
/// components. `tolerance` is the relative error wanted; solves are refined a few times to reach it.
///
/// For whatever x a solver gives to L x = e_u - e_v, the sum over the edges (a, b),
///   r(u, v) = 2 (x_u - x_v) - sum of w (x_a - x_b)^2  +  rho' L^+ rho,   rho = e_u - e_v - L x:
/// the value returned is all but the last term, never above r and wrong by the square of the residual only.
/// The error returned bounds that term, for certain: L^+ is at most the pseudoinverse of a spanning tree
/// (Rayleigh), whose product costs O(n).
Estimates exact_resistances(const GraphView& graph, std::span<const NodePair> pairs, double tolerance,
                            const SolveOptions& options, const Execution& execution);

struct TreeEstimateOptions {
  double error = 0.1;              // wanted, of every node, as a share of the mean resistance to a root
  double confidence = 0.95;        // that all errors hold together
  std::uint64_t max_trees = 1000;  // stop there, whatever the error
  SolveOptions solve;              // for the one column that the diagonal needs
};

/// Resistances to a root in every component from random spanning trees (Angriman, Predari, van der Grinten &
/// Meyerhenke, ESA 2020, here with weights). The flow from u to the root through an edge is the probability
/// that the tree's path from u uses it, less that it uses it backwards; along the shortest path from u, flow
/// over weight sums to r(u, root). A tree gives every node a sample of that sum. O(n log n) per tree.
///
/// `error` comes from the sample variance: the mean of N samples of deviation s is taken as normal, and as if
/// one more sample had been off by the largest edge of the path, since what is rare may not have been seen.
/// `certain_error` assumes nothing: samples lie within [-d, d] for the length d of the path, which by
/// empirical Bernstein (Maurer & Pontil 2009) or Hoeffding, whichever is smaller, bounds the mean. Both count
/// all nodes and all times of looking, so that they hold together with the confidence asked for.
struct RootResistances : Estimates {
  std::vector<double> certain_error;
  std::vector<NodeId> roots;  // by component
  std::uint64_t num_trees = 0;
  std::uint64_t num_inexact_trees = 0;  // drawn by a shortcut that is not quite the law (TreePath)
  bool reached = false;                 // whether the error wanted was
};
RootResistances tree_root_resistances(const GraphView& graph, const TreeEstimateOptions& options,
                                      const Execution& execution);

/// The diagonal of L^+ from these: L^+_uu = r(u, root) - L^+_root,root + 2 L^+_u,root, and one solve gives
/// the roots' columns in all components. The errors are those of r.
RootResistances tree_diagonal(const GraphView& graph, const TreeEstimateOptions& options,
                              const Execution& execution);

/// All resistances at once to a relative error, by random projection (Spielman & Srivastava 2008): every node
/// becomes a point of `num_projections` coordinates, and resistances are squared distances between points. A
/// solve per coordinate, 4 bytes each; the signs are a function of (seed, edge).
class ResistanceSketch {
 public:
  ResistanceSketch(const GraphView& graph, int num_projections, const SolveOptions& options,
                   const Execution& execution);

  double resistance(NodeId u, NodeId v) const;  // infinite between components
  double diagonal(NodeId u) const;              // of L^+
  const SolveReport& report() const { return report_; }

  /// With this confidence `questions` resistances or diagonal entries together are right to this share of
  /// themselves: 2 exp(-k (e^2/4 - e^3/6)) for one (Achlioptas 2003), the error of the solves aside.
  static double relative_error(int num_projections, double confidence, std::uint64_t questions);
  /// Coordinates for that error, at least.
  static int projections_for(double relative_error, double confidence, std::uint64_t questions);
  static std::uint64_t bytes(std::uint64_t num_nodes, int num_projections);

 private:
  std::size_t k_;
  std::vector<NodeId> component_;
  Buffer<float> points_;  // node by node
  SolveReport report_;
};

/// The diagonal of L^+ exactly: from the dense matrix up to `dense_nodes` nodes, beyond by a solve per node,
/// with the bounds of exact_resistances as errors.
Estimates exact_diagonal(const GraphView& graph, double tolerance, const SolveOptions& options,
                         const Execution& execution, NodeId dense_nodes = kMaxDenseNodes);

/// The largest effective resistance between two nodes of one component, R_G.
struct ResistanceDiameter : Interval {
  NodeId u = kNoNode, v = kNoNode;  // a pair that attains `lower`
  SolveReport report;
};

/// Exact up to `exact_nodes` nodes (dense). Else from below by double sweeps of solves in all components at
/// once, from above by the smallest diameter of a spanning tree (Rayleigh), and, where `diagonal_at_most` is
/// given, by (sqrt(L^+_uu) + sqrt(L^+_vv))^2 for its two largest values, which is at most 4 max L^+_uu.
ResistanceDiameter resistance_diameter(const GraphView& graph, const SolveOptions& options,
                                       const Execution& execution, NodeId exact_nodes = kExactDiameterNodes,
                                       std::span<const double> diagonal_at_most = {});

}  // namespace copse
