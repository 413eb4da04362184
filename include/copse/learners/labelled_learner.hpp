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
  void reveal(NodeId node, Label label) override;
  void retract(NodeId node) override;
  std::vector<Reason> explain(NodeId node) const final;

 protected:
  /// Of a signed graph both classes are known from the start, and there is no third.
  explicit LabelledLearner(const GraphView& graph);

  /// The weight of every class at an unlabelled node, into `weights`, which are 0. Returns their sum, 0 where
  /// no label reaches the node.
  virtual double weigh(NodeId node, std::span<double> weights) const = 0;
  /// The shares of the classes where no label reaches a node: those of the labels, for whoever knows no
  /// better.
  virtual void unreached_scores(std::span<double> scores) const { prior_.scores(scores); }
  /// Weights that differ by less than this share of their sum are equal.
  virtual double resolution() const { return 0; }
  /// The class of most weight, between equals the more frequent one; for whoever decides ties otherwise.
  virtual Prediction choose(NodeId node) const;
  /// The labelled nodes behind the answer at an unlabelled node, in any order, their labels left open; none
  /// where no label reaches it.
  virtual std::vector<Reason> reasons(NodeId node) const = 0;
  /// `node` is about to have this label instead of labels()[node], which is another one; kNoLabel is none.
  virtual void change_label(NodeId, Label) {}

  /// For learners whose weigh() at a labelled node does not look at its own label.
  LeaveOneOut weigh_labelled() const;

  bool has_label(NodeId node) const { return labels_[node] != kNoLabel; }
  const std::vector<Label>& labels() const { return labels_; }
  const ClassPrior& prior() const { return prior_; }
  /// Notes the label, or that there is none any more, and nothing else.
  void set_label(NodeId node, Label label);
  void clear_labels();
  /// For a node that is new to the graph.
  void add_label_place() { labels_.push_back(kNoLabel); }
  /// UsageError where the graph is signed and has no such class.
  void check_label(Label label) const;

 private:
  bool is_signed_;
  std::vector<Label> labels_;
  ClassPrior prior_;
};

}  // namespace copse
