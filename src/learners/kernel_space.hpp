// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "copse/graph/components.hpp"
#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/learners/option_blocks.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// The kernel K = L^+ + b 11' + c I, of each component by itself, weights divided by their mean. Of a signed
/// graph, L is the signed Laplacian and 1 the function that is 1 on one side of a balanced component and -1
/// on the other (SignBalance); a component that is not balanced has no such function, and its L no kernel.
struct KernelTerms {
  KernelBias bias{.kind = KernelBias::Kind::number, .number = 0};
  double diagonal = 0;
};

/// Functions on the nodes of the form sum_j alpha_j K_j, a few of them ("columns", numbered from 0), to which
/// multiples of a kernel column can be added. O(n) memory a function: nothing of size n x n.
class KernelSpace {
 public:
  virtual ~KernelSpace() = default;

  virtual double value(std::size_t column, NodeId node) const = 0;
  /// Makes the kernel's column of `node` ready for `add` and returns K_ii.
  virtual double prepare(NodeId node) = 0;
  /// Adds that column, times `amount`.
  virtual void add(std::size_t column, double amount) = 0;
  /// One more function: 0, or the negative of function 0. Returns its number.
  virtual std::size_t add_column() = 0;
  virtual std::size_t add_negative_column() = 0;
  /// Forgets all functions.
  virtual void clear() = 0;

  /// The kernel between `node` and each of `others`, from scratch: a solve on a graph. NaN in another
  /// component. Thread-safe.
  virtual std::vector<double> kernel(NodeId node, std::span<const NodeId> others) const = 0;
  /// The effective resistance between different nodes, in the graph's own units, from their entries.
  double resistance(double k_ii, double k_jj, double k_ij) const {
    return (k_ii + k_jj - 2 * k_ij - 2 * diagonal_) / scale_;
  }
  virtual std::string note() const { return ""; }
  /// Of a signed graph: a function speaks about both classes, and a kernel entry may be that of a node's
  /// mirror image; toward() gives the one of the two that is nearer.
  virtual bool is_signed() const { return false; }
  virtual double toward(NodeId, NodeId, double k_ij) const { return k_ij; }

 protected:
  KernelSpace(double scale, double diagonal) : scale_(scale), diagonal_(diagonal) {}
  /// L^+ is multiplied by this: the mean weight.
  double scale() const { return scale_; }

 private:
  double scale_, diagonal_;
};

/// On the whole graph: a solve for each column that is prepared, values read from an array. Up to
/// `max_cached` columns are kept as floats, those used last: for methods that come back to them.
std::unique_ptr<KernelSpace> graph_space(const GraphView& graph, const KernelTerms& terms,
                                         const SolveOptions& solve, std::size_t max_cached,
                                         const Execution& execution);

/// What the spaces of all trees of a graph share.
struct TreeSpaceShared {
  Components components;
  double mean_weight = 1;
  KernelTerms terms;
  TreeSpaceShared(const GraphView& graph, const KernelTerms& kernel_terms, int threads);
};

/// On a spanning forest: O(log^2 n) for a value or a sum, no solve.
std::unique_ptr<KernelSpace> tree_space(const SpanningForest& forest,
                                        std::shared_ptr<const TreeSpaceShared> shared);

/// Bytes of a space of so many functions.
std::uint64_t graph_space_bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, std::size_t columns,
                                std::size_t max_cached, const SolveOptions& solve);
std::uint64_t tree_space_bytes(std::uint64_t num_nodes, std::size_t columns);

}  // namespace copse
