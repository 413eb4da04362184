// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/queries/query.hpp"
#include "learners/kernel_operator.hpp"

namespace copse {

/// The hypothesis of the projection algorithm (Herbster, Pontil & Wainer 2005, algorithm 2 with U_t = {t},
/// noncyclic, aggressive), one function per class: +1 is wanted at its own labels, -1 at all others. With two
/// classes one function is the other's negative, and this is the paper's g. A further function stands for a
/// class that nobody has named yet and takes -1 everywhere; a class starts as its copy.
class ProjectionHypothesis {
 public:
  explicit ProjectionHypothesis(NodeId num_nodes) : unseen_(num_nodes) {}

  std::size_t num_classes() const { return of_class_.size(); }

  /// Replaces the functions: values[c] is that of class c, the last one that of a class unseen.
  void assign(std::vector<std::vector<double>> values);

  /// Projects every function onto what `label` at `node` asks of it: g += (y - g_node) / K_nodenode K_node.
  /// `column` is K_node, the column of L^+. Returns the progress, ||g - g'||^2 summed over the functions and
  /// halved, which for two classes is that of the paper's g. Nothing moves where K_nodenode is 0: the node is
  /// a component of its own, and H(G) holds nothing but 0 there.
  double project(NodeId node, Label label, std::span<const double> column, int threads);

  /// Criterion 15 but for its division by K_ii: the smallest of ||distance to the half-spaces||^2 over the
  /// labels the node may turn out to have. (min(|g|, 1) - 1)^2 for two classes.
  double least_progress(NodeId node) const;
  /// Half of what the best function is above the second: |g| for two classes.
  double margin(NodeId node) const;
  /// The class of the best function, the first of equal ones. It may be num_classes(), the one unseen, while
  /// fewer than two have a name.
  Label best(NodeId node) const;

 private:
  /// How many functions compete, and the value of each: two at least.
  std::size_t num_rivals() const { return num_classes() < 2 ? 2 : num_classes(); }
  double value(std::size_t rival, NodeId node) const {
    return rival < num_classes() ? of_class_[rival][node] : unseen_[node];
  }

  std::vector<std::vector<double>> of_class_;
  std::vector<double> unseen_;
};

/// What act_st and act_mu share: the projection algorithm's hypothesis, of a signed graph in the kernel of
/// its signed Laplacian. Labels known from the start are interpolated with the least norm, which has no
/// order; every later one is projected onto, always, as the paper's active methods do. A solve per label and
/// one per query of a batch; after a label is taken back, one per label again.
class MarginQuery : public QueryStrategy {
 public:
  static constexpr bool kDependsOnOrder = true;
  MarginQuery(const GraphView& graph, const Execution& execution);

  static std::uint64_t margin_bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, std::size_t num_classes);

 protected:
  std::vector<std::string> remarks() const override;
  /// How urgent a node is under a hypothesis; higher first.
  virtual double score(const ProjectionHypothesis& margins, NodeId node) const = 0;
  /// Called before each choice: whatever best() learnt in the last one is to be forgotten.
  virtual void begin_choice() {}
  /// The best of the nodes that `open` allows.
  virtual Query best(const ProjectionHypothesis& margins, std::span<const char> open);

  /// The highest score, then the smallest tie key.
  Query highest(const ProjectionHypothesis& margins, std::span<const char> open) const;
  GraphLaplacian& laplacian() { return laplacian_; }
  /// K_node, the column of L^+, into a buffer that the next call reuses.
  std::span<const double> column(NodeId node);

 private:
  void learn_all(std::span<const Label> labels) final;
  void learn(NodeId node, Label label) final;
  void forget(NodeId node, Label label) final;
  std::vector<Query> choose(std::size_t count, std::vector<char> left) final;
  double measure_progress() final;
  void interpolate();
  /// Starts anew where a label has been taken back: projections cannot be undone.
  void bring_up_to_date();

  GraphLaplacian laplacian_;
  SolveReport report_;
  std::vector<double> column_;
  using Labelled = std::pair<NodeId, Label>;
  std::vector<Labelled> from_start_, since_;  // the second in the order they came
  std::size_t num_projected_ = 0;             // of the second
  bool is_stale_ = false;
  ProjectionHypothesis margins_;
  double progress_ = 0;
};

}  // namespace copse
