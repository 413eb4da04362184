// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// Sums over a forest that follow their coefficients: with a coefficient alpha_j at every node, 0 at first,
/// that `add` changes, the sum over j of alpha_j L^+_ij for any node i. A kernel perceptron on a tree is one
/// add per mistake and one sum per prediction. Nodes of other trees do not count.
///
/// With c_e the sum of the coefficients below edge e, the sum of alpha_j d(lca(i, j)) is that of pi_e c_e
/// along the way from the centroid to i. The way crosses at most log2 n heavy paths (Sleator & Tarjan 1983),
/// and on each of them a Fenwick tree (1994) keeps what is below: O(log^2 n) for an add or a sum, no distance
/// is subtracted from another. Any number of threads may ask while none adds.
///
/// Several columns of coefficients, numbered from 0, share the shape of the forest; there is none at first.
class TreeSums {
 public:
  explicit TreeSums(const SpanningForest& forest);

  void add(NodeId node, double amount, std::size_t column);
  double kernel_sum(NodeId node, std::size_t column) const;
  /// The sum of the coefficients in the node's tree.
  double coefficient_sum(NodeId node, std::size_t column) const;

  /// One more column: of zeros, or of `factor` times the coefficients of column 0. Returns its number.
  std::size_t add_column(double factor = 0);
  void clear() { columns_.clear(); }

  /// L^+_ii, and the resistance between two nodes (infinite between trees), in O(log n).
  double diagonal(NodeId node) const;
  double resistance(NodeId a, NodeId b) const;

  /// Bytes of the sums of that many nodes, at most.
  static std::uint64_t bytes(std::uint64_t num_nodes, std::size_t columns = 1);

 private:
  /// A heavy path: an interval of positions.
  struct HeavyPath {
    NodeId begin, end;
    NodeId above;  // position of the parent of its first node; kNoNode where that is a root
    NodeId tree;
  };
  struct Place {
    double length;  // resistance from `above` of the heavy path (from the root itself, on its path) to here
    double offset;  // g of tree_kernel.hpp
  };
  /// A node of a Fenwick tree. An amount enters a heavy path at the lowest place of it that lies above the
  /// node.
  struct Entered {
    double amount, amount_by_length;
  };
  struct Totals {
    double coefficients = 0, by_offset = 0;  // sums of alpha, alpha g
  };
  /// What one set of coefficients sums to.
  struct Column {
    Buffer<Entered> fenwick;      // by position: a tree of its own for every path, in the path's interval
    std::vector<double> entered;  // by path: all amounts
    std::vector<Totals> totals;   // by tree
  };

  /// Visits the heavy paths from p up to the root: visit(path, place on it). Returns the distance of p.
  template <class Visit>
  double climb(NodeId p, Visit&& visit) const;
  void enter(Column& column, NodeId number, NodeId p, double amount) const;
  double below(const Column& column, NodeId number, NodeId p) const;
  NodeId tree_of(NodeId p) const { return paths_[path_of_[p]].tree; }

  Buffer<NodeId> position_;  // by node
  Buffer<NodeId> path_of_;   // by position, as the places
  Buffer<Place> places_;
  std::vector<HeavyPath> paths_;
  std::size_t num_trees_;
  std::vector<Column> columns_;
};

}  // namespace copse
