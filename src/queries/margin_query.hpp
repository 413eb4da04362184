// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/queries/query.hpp"
#include "learners/projection_hypothesis.hpp"

namespace copse {

/// What act_st and act_mu share: the projection algorithm's hypothesis. Labels known from the start are
/// interpolated with the least norm, which has no order; every later one is projected onto, always, as the
/// paper's active methods do. A solve a label and one a query of a batch.
class MarginQuery : public QueryStrategy {
 public:
  MarginQuery(const GraphView& graph, const Execution& execution);
  double progress() const final { return progress_; }
  std::vector<std::string> notes() const override;

  static std::uint64_t margin_bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, std::size_t num_classes);

 protected:
  /// How urgent a node is under a hypothesis; higher first.
  virtual double score(const ProjectionHypothesis& margins, NodeId node) const = 0;
  /// Called before each choice: whatever best() learnt in the last one is to be forgotten.
  virtual void begin_choice() {}
  /// The best of the nodes that `open` allows.
  virtual Query best(const ProjectionHypothesis& margins, std::span<const char> open);

  /// The highest score, then the smallest tie key.
  Query highest(const ProjectionHypothesis& margins, std::span<const char> open) const;
  /// K_node, the column of L^+, into a buffer that the next call reuses.
  std::span<const double> column(NodeId node);
  LaplacianSolver& solver() { return solver_; }

 private:
  void learn_all(std::span<const Label> labels) final;
  void learn(NodeId node, Label label) final;
  std::vector<Query> choose(std::size_t count) final;

  LaplacianSolver solver_;
  SolveReport report_;
  std::vector<double> column_;
  ProjectionHypothesis margins_;
  double progress_ = 0;
};

}  // namespace copse
