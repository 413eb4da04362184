// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// Sums over a forest that follow their coefficients: with a coefficient alpha_j at every node, 0 at first,
/// that `add` changes, the sums over j of alpha_j r(i, j) and of alpha_j L^+_ij for any node i. A kernel
/// perceptron on a tree is an add a mistake and a sum a prediction. Nodes of other trees do not count.
///
/// With c_e the sum of the coefficients below edge e, the sum of alpha_j d(lca(i, j)) is that of pi_e c_e
/// along the way from the centroid to i. The way crosses at most log2 n heavy paths (Sleator & Tarjan 1983),
/// and on each of them a Fenwick tree (1994) keeps what is below: O(log^2 n) for an add or a sum, no distance
/// is subtracted from another. Any number of threads may ask while none adds.
class TreeSums {
 public:
  explicit TreeSums(const SpanningForest& forest);
  ~TreeSums();
  TreeSums(TreeSums&&) noexcept;
  TreeSums& operator=(TreeSums&&) noexcept;

  void add(NodeId node, double amount);
  double resistance_sum(NodeId node) const;
  double kernel_sum(NodeId node) const;
  /// The sum of the coefficients in the node's tree.
  double coefficient_sum(NodeId node) const;

  /// Bytes of the sums of that many nodes, at most.
  static std::uint64_t bytes(std::uint64_t num_nodes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace copse
