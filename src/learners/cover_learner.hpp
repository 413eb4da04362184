// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "copse/graph/signs.hpp"
#include "copse/learners/labelled_learner.hpp"

// Learners of smooth functions on a signed graph, by the same learner on its double cover, where every label
// is told twice: y at the node and the other class at its mirror image. What the learner finds there is the
// same on both sides but for the classes, because nothing tells the sides apart; so that the half that is the
// graph's own is the answer of the signed problem (docs/signed.md). For learners whose answer is a function
// of the set of labels: what depends on an order would see the two labels of a node one after the other.

namespace copse {

/// The graph must outlive it as always; the cover is kept here.
class CoverLearner final : public LabelledLearner {
 public:
  using Make = std::function<std::unique_ptr<Learner>(const GraphView& cover)>;
  CoverLearner(const GraphView& graph, int threads, const Make& make);

  /// Of a learner that has no labels yet.
  BatchResult reveal_all(std::span<const Label> labels) override;
  void raw_scores(NodeId node, std::span<double> scores) const override;
  std::vector<std::string> notes() const override { return learner_->notes(); }
  std::size_t num_voters() const override { return learner_->num_voters(); }

 private:
  double weigh(NodeId node, std::span<double> weights) const override;
  Prediction choose(NodeId node) const override;
  std::vector<Reason> reasons(NodeId node) const override;
  void change_label(NodeId node, Label label) override;

  Graph cover_;
  std::unique_ptr<Learner> learner_;
};

/// Reasons on a cover of 2n nodes as reasons on the graph: a node and its mirror image are one.
std::vector<Reason> fold_reasons(const std::vector<Reason>& reasons, NodeId num_nodes);

}  // namespace copse
