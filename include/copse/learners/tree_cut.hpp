// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "copse/learners/tree_committee.hpp"

namespace copse {

using TreeCutOptions = CommitteeOptions;

/// Minimum cut on spanning trees: a node takes the class that the labelling of smallest cut gives to the
/// nearest place where labelled branches meet; majority of the trees. Shazoo's rule (Vitale, Cesa-Bianchi,
/// Gentile & Zappella 2011) for any number of classes; cost, ties and options in docs/learners/tree_cut.md.
class TreeCut final : public TreeCommittee {
 public:
  static constexpr SignUse kSigns = SignUse::itself;
  using Options = TreeCutOptions;
  TreeCut(const GraphView& graph, const Options& options, const Execution& execution);
  ~TreeCut() override;

  /// By drawing the trees again, each of which forgets every label in turn.
  std::optional<LeaveOneOut> leave_one_out(const Execution& execution) const override;

  /// All nodes at once, tree by tree, in memory O(n). Equal, bit for bit, to revealing the labels one by one.
  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  double weigh(NodeId node, std::span<double> weights) const override;
  Prediction choose(NodeId node) const override;
  std::vector<Reason> reasons(NodeId node) const override;
  void plant(std::size_t tree, SpanningForest&& forest, TreeParity&& parity) override;
  void tell_all(std::size_t tree, std::span<const Label> labels) override;
  void tell(std::size_t tree, NodeId node, Label label) override;
  /// `execution` has the seed of the committee.
  static LeaveOneOut leave_out(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                               const Options& options, const Execution& execution);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace copse
