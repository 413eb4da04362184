// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "copse/learners/labelled_learner.hpp"

namespace copse {

struct ScoreTable;

/// What learners that solve linear systems have in common: they keep the labelled set, and the first
/// question after a change solves for the answers of all nodes, while other threads that ask wait. Online,
/// a label costs nothing and the next answer a whole solve: for labels that come in batches, not for long
/// games. No solve starts from the last solution: its error would then depend on the order of the labels,
/// and so would the last bits of the answers.
class SolvedLearner : public LabelledLearner {
 public:
  /// `tolerance`: of its solves, if there are any.
  SolvedLearner(const GraphView& graph, const Execution& execution, double tolerance = 1e-8);
  ~SolvedLearner() override;

  /// The solution itself: what scores() clips at 0 and divides by the sum.
  void raw_scores(NodeId node, std::span<double> scores) const final;

  /// Solves now if need be; what a user should know about the solution.
  std::vector<std::string> notes() const final;

 protected:
  /// The answers for the labels known now: called once after each change, by one thread.
  virtual ScoreTable solve() const = 0;

  const GraphView& graph() const { return graph_; }
  const Execution& execution() const { return execution_; }
  const ScoreTable& table() const;

 private:
  double weigh(NodeId node, std::span<double> weights) const final;
  void unreached_scores(std::span<double> scores) const final;
  /// The digits that a solve carries: what the graph ties is a tie of the answer, whatever was added and
  /// taken away on the way to it.
  double resolution() const final { return tolerance_; }
  void change_label(NodeId node, Label label) final;

  struct Cache;
  GraphView graph_;
  Execution execution_;
  double tolerance_;
  std::unique_ptr<Cache> cache_;
};

}  // namespace copse
