// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "copse/learners/labelled_learner.hpp"
#include "copse/learners/option_blocks.hpp"

namespace copse {

using TreeCutOptions = CommitteeOptions;

/// Minimum cut on spanning trees: a node takes the class that the labelling of smallest cut gives to the
/// nearest place where labelled branches meet; majority of the trees. Shazoo's rule (Vitale, Cesa-Bianchi,
/// Gentile & Zappella 2011) for any number of classes; cost, ties and options in docs/learners/tree_cut.md.
class TreeCut final : public LabelledLearner {
 public:
  static constexpr SignUse kSigns = SignUse::itself;
  using Options = TreeCutOptions;
  TreeCut(const GraphView& graph, const Options& options, const Execution& execution);
  ~TreeCut() override;

  /// By drawing the trees again, each of which forgets every label in turn.
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override;
  std::size_t num_voters() const override;

  /// All nodes at once, tree by tree, in memory O(n). Equal, bit for bit, to revealing the labels one by one.
  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  double weigh(NodeId node, std::span<double> weights) const override;
  Prediction choose(NodeId node) const override;
  std::vector<Reason> reasons(NodeId node) const override;
  void change_label(NodeId node, Label label) override;
  /// `execution` has the seed of the committee.
  static LeaveOneOut leave_out(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                               const Options& options, const Execution& execution);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace copse
