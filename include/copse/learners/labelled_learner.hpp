// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "copse/learners/learner.hpp"
#include "copse/learners/prior.hpp"

namespace copse {

/// A learner that keeps the labels: a node that has one is answered by it, a node that no label reaches by
/// the classes' shares of all labels. Of a signed graph both classes are known from the start, and no third
/// one is.
class LabelledLearner : public Learner {
 public:
  Prediction predict(NodeId node) const final;
  void scores(NodeId node, std::span<double> scores) const final;
  std::size_t num_classes() const final { return prior_.num_classes(); }
  void reveal(NodeId node, Label label) override;
  void retract(NodeId node) override;
  std::vector<Reason> explain(NodeId node) const final;

 protected:
  explicit LabelledLearner(const GraphView& graph);

  // What the method says about a node that some label reaches; predict, scores and explain ask about nodes
  // without a label only. `scores` comes zeroed.
  virtual Prediction answer(NodeId node) const = 0;
  virtual void weigh(NodeId node, std::span<double> scores) const = 0;
  virtual std::vector<Reason> reasons(NodeId node) const = 0;
  /// May be left to the answers, where they are the prior's without a label that reaches the node.
  virtual bool is_reached(NodeId) const { return true; }
  /// The node is about to get this label instead of labels()[node], which is another one; kNoLabel is none.
  virtual void change_label(NodeId, Label) {}

  bool has_label(NodeId node) const { return labels_[node] != kNoLabel; }
  const std::vector<Label>& labels() const { return labels_; }
  const ClassPrior& prior() const { return prior_; }
  /// The answer for a node that no label reaches.
  Prediction answer_of_prior() const;
  /// Notes the label, or that there is none any more, and nothing else.
  void set_label(NodeId node, Label label);
  void clear_labels();
  /// Throws where the graph is signed and has no such class.
  void check_label(Label label) const;

 private:
  bool is_signed_;
  std::vector<Label> labels_;
  ClassPrior prior_;
};

}  // namespace copse
