// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "copse/graph/components.hpp"
#include "copse/graph/signs.hpp"
#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/learners/learner.hpp"
#include "copse/learners/option_blocks.hpp"
#include "copse/learners/shared_columns.hpp"
#include "copse/support/buffer.hpp"
#include "copse/trees/spanning_forest.hpp"

namespace copse {

/// Weights are divided by this where a kernel adds other terms to L^+: b, c and ridges then mean the same on
/// every graph.
double mean_weight(const GraphView& graph, int threads);

/// The Laplacian L of a graph as kernel methods need it, signed or not: the only place where those on a whole
/// graph tell the two apart. Of a signed graph, L^+ times a vector is solved for on the double cover, with
/// the mirror image of the vector taken off. A balanced component has two sides (SignBalance), and L is 0 for
/// the function that is 1 on one of them and -1 on the other; without signs, all nodes are on one side.
class GraphLaplacian {
 public:
  GraphLaplacian(const GraphView& graph, const SolveOptions& options, const Execution& execution);

  bool is_signed() const { return graph_.is_signed(); }
  NodeId num_nodes() const { return graph_.num_nodes(); }
  NodeId num_components() const { return components_.count(); }
  NodeId component(NodeId node) const { return components_.of_node[node]; }
  NodeId component_size(NodeId node) const { return components_.sizes[component(node)]; }
  bool is_balanced(NodeId node) const { return !is_signed() || balance_.is_balanced[component(node)] != 0; }
  double side(NodeId node) const { return is_signed() && balance_.side[node] != 0 ? -1 : 1; }
  const GraphView& graph() const { return graph_; }

  /// The solver that is kept: of the graph, or of the double cover of a signed one.
  LaplacianSolver& solver();
  /// x = L^+ x by that solver.
  SolveReport solve(std::span<double> x);
  /// L^+ e_node times `scale`, from columns that serve this graph and scale.
  std::span<const double> shared_column(SharedColumns& columns, NodeId node, double scale);
  /// The same by a solver of its own. Thread-safe.
  void solve_afresh(std::span<double> x) const;
  /// Forgets what the solver had to say.
  void reset() { report_ = {.converged = true}; }
  /// Of the last solve that fell short.
  std::string note() const { return report_.note(); }

 private:
  const GraphView& solved_graph() const { return is_signed() ? cover_.view() : graph_; }
  SolveReport solve_by(LaplacianSolver& solver, std::span<double> x) const;

  GraphView graph_;
  SolveOptions options_;
  Execution execution_;
  Graph cover_;  // of a signed graph, as the balance
  Components components_;
  SignBalance balance_;
  std::optional<LaplacianSolver> solver_;
  SolveReport report_{.converged = true};
};

/// A column of L^+ in half the memory: 6e-8 of a value is less than solves are wrong by. Resistances may lie
/// beyond the range of float (an edge of weight 1e-40 has one of 1e40), so that all are divided by a power of
/// two, which costs no digit.
class FloatColumn {
 public:
  explicit FloatColumn(std::span<const double> column);
  double operator[](std::size_t i) const { return values_[i] * unit_; }

 private:
  Buffer<float> values_;
  double unit_ = 1;
};

/// Functions on the nodes, numbered from 0 ("columns"), by their values.
class DenseFunctions {
 public:
  DenseFunctions(std::size_t num_nodes, int threads) : num_nodes_(num_nodes), threads_(threads) {}

  double& value(std::size_t column, NodeId node) { return values_[column][node]; }
  double value(std::size_t column, NodeId node) const { return values_[column][node]; }
  void add(std::size_t column, double amount, std::span<const double> direction);
  /// One more function: 0, or `factor` times function 0. Returns its number.
  std::size_t add_column(double factor = 0);
  void clear() { values_.clear(); }

 private:
  std::size_t num_nodes_;
  int threads_;
  std::vector<Buffer<double>> values_;
};

/// The kernel K = L^+ + b 11' + c I, of each component by itself, weights divided by their mean. Of a signed
/// graph, 1 is the function that is 1 on one side of a balanced component and -1 on the other; a component
/// that is not balanced has no such function, and its L no kernel.
struct KernelTerms {
  KernelBias bias{.kind = KernelBias::Kind::number, .number = 0};
  double diagonal = 0;
};

/// A kernel of the graph or of a tree, and a few functions of the form sum_j alpha_j K_j (numbered from 0),
/// to which multiples of its columns can be added. O(n) memory per function: nothing of size n x n.
class KernelOperator {
 public:
  virtual ~KernelOperator() = default;

  virtual double value(std::size_t column, NodeId node) const = 0;
  /// Makes the kernel's column of `node` ready for `add` and returns K_ii.
  virtual double prepare(NodeId node) = 0;
  /// Adds that column, times `amount`.
  virtual void add(std::size_t column, double amount) = 0;
  /// One more function: 0, or `factor` times function 0. Returns its number.
  virtual std::size_t add_column(double factor) = 0;
  /// Forgets all functions.
  virtual void clear() = 0;

  /// The kernel between `node` and each of `others`, from scratch: a solve on a graph. NaN in another
  /// component. Thread-safe.
  virtual std::vector<double> kernel(NodeId node, std::span<const NodeId> others) const = 0;
  /// The effective resistance between different nodes, in the graph's own units, from their entries; of a
  /// signed graph to the node or its mirror image, whichever is nearer.
  double resistance(NodeId i, NodeId j, double k_ii, double k_jj, double k_ij) const {
    return (k_ii + k_jj - 2 * toward(i, j, k_ij) - 2 * diagonal_) / scale_;
  }
  virtual std::string note() const { return ""; }
  /// Of a signed graph, a function speaks about both classes.
  virtual bool is_signed() const { return false; }

 protected:
  KernelOperator(double scale, double diagonal) : scale_(scale), diagonal_(diagonal) {}
  /// L^+ is multiplied by this: the mean weight.
  double scale() const { return scale_; }

 private:
  /// The kernel's entry, or that of the mirror image.
  virtual double toward(NodeId, NodeId, double k_ij) const { return k_ij; }

  double scale_, diagonal_;
};

/// On the whole graph: a solve for each column that is prepared, values read from an array. The first
/// `max_kept` columns are kept as floats (as doubles where all n fit SharedColumns), for methods that come
/// back to them in turns: to drop the one used longest ago would be to drop the one that comes next.
std::unique_ptr<KernelOperator> graph_kernel(const GraphView& graph, const KernelTerms& terms,
                                             const SolveOptions& solve, std::size_t max_kept,
                                             const Execution& execution);

/// What the kernels of all trees of a graph share.
struct TreeKernelShared {
  Components components;
  double mean_weight = 1;
  KernelTerms terms;
  TreeKernelShared(const GraphView& graph, const KernelTerms& kernel_terms, int threads);
};

/// On a spanning forest: O(log^2 n) for a value or a sum, no solve.
std::unique_ptr<KernelOperator> tree_kernel(const SpanningForest& forest,
                                            std::shared_ptr<const TreeKernelShared> shared);

/// Bytes of a kernel with a function per class, and per node of a tree with so many functions.
std::uint64_t graph_kernel_bytes(const ProblemSize& size, std::size_t max_kept, const SolveOptions& solve);
std::uint64_t tree_kernel_bytes(std::size_t columns);

}  // namespace copse
