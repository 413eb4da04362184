// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "copse/learners/learner.hpp"
#include "copse/learners/prior.hpp"

namespace copse {

/// Keeps the labels that a learner is told, once for all learners: a labelled node is answered with its
/// label, one that no label reaches with the prior, and the rest is the learner's.
class LabelledLearner : public Learner {
 public:
  Prediction predict(NodeId node) const final;
  void scores(NodeId node, std::span<double> scores) const final;
  std::size_t num_classes() const final { return prior_.num_classes(); }
  void reveal(NodeId node, Label label) final;
  void retract(NodeId node) final;

 protected:
  /// Of a signed graph both classes are known from the start, and there is no third.
  explicit LabelledLearner(const GraphView& graph);

  /// The weight of every class at an unlabelled node, into `weights`, which are 0. Returns their sum, 0 where
  /// no label reaches the node.
  virtual double weigh(NodeId node, std::span<double> weights) const = 0;
  /// The class of most weight, between equals the more frequent one; for whoever decides ties otherwise.
  virtual Prediction choose(NodeId node) const;
  /// After labels() have changed at `node`.
  virtual void learned(NodeId) {}
  virtual void forgot(NodeId) {}

  std::span<const Label> labels() const { return labels_; }
  const ClassPrior& prior() const { return prior_; }

 private:
  bool is_signed_;
  std::vector<Label> labels_;
  ClassPrior prior_;
};

}  // namespace copse
