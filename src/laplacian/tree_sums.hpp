// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// Sums over a forest that follow their coefficients: with a coefficient alpha_j at every node, 0 at first,
/// that `add` changes, the sums over j of alpha_j r(i, j) and of alpha_j L^+_ij for any node i. A kernel
/// perceptron on a tree is one add per mistake and one sum per prediction. Nodes of other trees do not count.
///
/// With c_e the sum of the coefficients below edge e, the sum of alpha_j d(lca(i, j)) is that of pi_e c_e
/// along the way from the centroid to i. The way crosses at most log2 n heavy paths (Sleator & Tarjan 1983),
/// and on each of them a Fenwick tree (1994) keeps what is below: O(log^2 n) for an add or a sum, no distance
/// is subtracted from another. Any number of threads may ask while none adds.
///
/// Several columns of coefficients, numbered from 0, share the shape of the forest; there is one at first.
class TreeSums {
 public:
  explicit TreeSums(const SpanningForest& forest);
  ~TreeSums();
  TreeSums(TreeSums&&) noexcept;
  TreeSums& operator=(TreeSums&&) noexcept;

  void add(NodeId node, double amount, std::size_t column = 0);
  double resistance_sum(NodeId node, std::size_t column = 0) const;
  double kernel_sum(NodeId node, std::size_t column = 0) const;
  /// The sum of the coefficients in the node's tree.
  double coefficient_sum(NodeId node, std::size_t column = 0) const;

  std::size_t num_columns() const;
  /// One more column of zeros, or of the coefficients of another times `factor`. Returns its number.
  std::size_t add_column();
  std::size_t add_column(std::size_t other, double factor);
  /// Back to one column of zeros.
  void clear();

  /// L^+_ii, and the resistance between two nodes (infinite between trees), in O(log n).
  double diagonal(NodeId node) const;
  double resistance(NodeId a, NodeId b) const;

  /// Bytes of the sums of that many nodes, at most.
  static std::uint64_t bytes(std::uint64_t num_nodes, std::size_t columns = 1);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace copse
