// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "copse/support/execution.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// The pseudoinverse L^+ of the Laplacian of a spanning forest, without the matrix (Rojas Galeano & Herbster,
/// section 3): the diagonal, any entry and any effective resistance in O(1) after O(n), Gram matrices by
/// running minima, products L^+ x in passes over arrays in order. Nodes are the graph's. L^+ is 0 between
/// different trees, where the resistance is infinite.
///
/// Every tree is rooted at its centroid c, below which no subtree holds more than half of its nodes. With
/// d(i) the resistance from c to i, pi the resistance of an edge and kappa the nodes below it, each sum over
/// the edges named,
///
///   L^+_ij = d(lca(i, j)) + g(i) + g(j),   g(i) = 1/2 sum_all pi kappa^2/n^2 - sum_{c to i} pi kappa/n,
///
/// the paper's formula rearranged so that nothing cancels that need not: on the diagonal no term exceeds
/// 5 L^+_ii. The subtraction in r(i, j) = d(i) + d(j) - 2 d(lca) is made on integers: distances are counted
/// in units of 2^-e, in 64 bits while the farthest node is less than 2^28 times the smallest resistance away
/// from its centroid, in 128 bits beyond. A resistance is then right to 2^-32 of itself, unless it is made of
/// edges below 2^-92 of the farthest distance, which are right to 2^-124 of that.
///
/// Depth does not matter: nothing recurses. Any number of threads may ask.
class TreeKernel {
 public:
  explicit TreeKernel(const SpanningForest& forest);
  ~TreeKernel();
  TreeKernel(TreeKernel&&) noexcept;
  TreeKernel& operator=(TreeKernel&&) noexcept;

  NodeId num_nodes() const;
  /// Whether distances take 128 bits each.
  bool is_wide() const;

  /// L^+_ii, the squared norm of the node's coordinate.
  double diagonal(NodeId node) const;
  double entry(NodeId a, NodeId b) const;
  double resistance(NodeId a, NodeId b) const;

  /// The entries of L^+ between `rows` and `columns`, in any order and with repetitions, row by row.
  /// O(l log l) for l columns, then O(1) per entry in order; rows are shared among the threads.
  void gram(std::span<const NodeId> rows, std::span<const NodeId> columns, std::span<double> entries,
            int threads = 1) const;

  /// y = L^+ x for `columns` vectors at once, node by node: x[node * columns + column], y likewise. They may
  /// be the same array. O(n) time per column, and as much memory again as y.
  void multiply(std::span<const double> x, std::span<double> y, std::size_t columns = 1) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace copse
