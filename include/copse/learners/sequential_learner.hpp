// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "copse/learners/labelled_learner.hpp"

namespace copse {

class Hypothesis;

/// What learners that correct themselves by their mistakes have in common: the state depends on the order of
/// the labels. One hypothesis is learned on the graph, or one on each tree of a committee, which then votes.
///
/// A reveal is a trial of the papers' game: the hypothesis is compared with the label and may change. A node
/// may come again, with another label (label noise): that is a trial like any other. To retract a
/// label plays all trials again but those of its node, since what came later was learned from a state it had
/// shaped: exact, at the price of the whole game.
class SequentialLearner : public LabelledLearner {
 public:
  ~SequentialLearner() override;

  void reveal(NodeId node, Label label) final;
  /// In fit_order, again and again until no label was a mistake, `epochs` times at most.
  BatchResult reveal_all(std::span<const Label> labels) final;
  void retract(NodeId node) final;
  std::size_t num_voters() const override;

  /// The papers' prediction, also about a node whose label is known.
  Prediction guess(NodeId node) const final;
  /// One margin per class (minus infinity for classes without a label so far), the mean over the trees of a
  /// committee. With two classes they are the papers' f and -f. `margins` has num_classes() places.
  void margins(NodeId node, std::span<double> margins) const;
  /// Trials so far, and those of them that changed a hypothesis.
  std::uint64_t num_trials() const { return trials_.size(); }
  std::uint64_t num_updates() const;
  std::vector<std::string> notes() const final;

 protected:
  using Hypotheses = std::vector<std::unique_ptr<Hypothesis>>;
  /// `epochs`: most passes that a batch makes over the labels.
  SequentialLearner(const GraphView& graph, const Execution& execution, Hypotheses hypotheses, int epochs);

  /// A trial whose hypotheses change even where they are right: Herbster, Pontil & Wainer 2005, `aggressive`.
  void reveal_aggressively(NodeId node, Label label) { play({node, label, true}); }

 private:
  struct Trial {
    NodeId node;
    Label label;
    bool is_aggressive;
    bool has_changed = false;
  };
  void play(Trial trial);
  void learn(Trial& trial);
  bool is_reached(NodeId node) const;
  double weigh(NodeId node, std::span<double> weights) const final;
  Prediction choose(NodeId node) const final { return guess(node); }
  /// The labelled nodes whose corrections speak for the answer. A solve on a graph.
  std::vector<Reason> reasons(NodeId node) const final;
  template <class Body>
  void for_each_vote(NodeId node, Body&& body) const;

  Execution execution_;
  Hypotheses hypotheses_;
  int epochs_;
  std::vector<NodeId> component_;
  std::vector<NodeId> num_labelled_;  // by component
  std::vector<Trial> trials_;
};

}  // namespace copse
