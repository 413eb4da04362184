// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "copse/learners/learner.hpp"
#include "copse/learners/prior.hpp"

namespace copse {

struct ScoreTable;

/// What learners that solve linear systems have in common: they keep the labelled set, and the first
/// question after a change solves for the answers of all nodes, while other threads that ask wait. Online,
/// a label costs nothing and the next answer a whole solve: for labels that come in batches, not for long
/// games. No solve starts from the last solution: its error would then depend on the order of the labels,
/// and so would the last bits of the answers.
class SolvedLearner : public Learner {
 public:
  SolvedLearner(const GraphView& graph, const Execution& execution);
  ~SolvedLearner() override;

  Prediction predict(NodeId node) const final;
  void scores(NodeId node, std::span<double> scores) const final;
  std::size_t num_classes() const final { return prior_.num_classes(); }
  void reveal(NodeId node, Label label) final;
  void retract(NodeId node) final;

  /// Solves now if need be; what a user should know about the solution.
  const std::vector<std::string>& notes() const;

 protected:
  /// The answers for the labels known now: called once after each change, by one thread.
  virtual ScoreTable solve() const = 0;

  const GraphView& graph() const { return graph_; }
  const Execution& execution() const { return execution_; }
  std::span<const Label> labels() const { return labels_; }
  const ClassPrior& prior() const { return prior_; }
  const ScoreTable& table() const;

 private:
  struct Cache;
  GraphView graph_;
  Execution execution_;
  std::vector<Label> labels_;
  ClassPrior prior_;
  std::unique_ptr<Cache> cache_;
};

}  // namespace copse
