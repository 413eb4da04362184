// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "copse/learners/learner.hpp"
#include "copse/learners/option_blocks.hpp"

namespace copse {

using TreeCutOptions = CommitteeOptions;

/// Minimum cut on spanning trees: a node takes the class that the labelling of smallest cut gives to the
/// nearest place where labelled branches meet; majority of the trees. Shazoo's rule (Vitale, Cesa-Bianchi,
/// Gentile & Zappella 2011) for any number of classes; cost, ties and options in docs/learners/tree_cut.md.
class TreeCut final : public Learner {
 public:
  static constexpr SignUse kSigns = SignUse::itself;
  using Options = TreeCutOptions;
  TreeCut(const GraphView& graph, const Options& options, const Execution& execution);
  ~TreeCut() override;

  Prediction predict(NodeId node) const override;
  void scores(NodeId node, std::span<double> scores) const override;
  std::size_t num_classes() const override;
  void reveal(NodeId node, Label label) override;
  void retract(NodeId node) override;
  std::vector<Reason> explain(NodeId node) const override;
  std::size_t num_voters() const override;

  /// All nodes at once, tree by tree, in memory O(n). Equal, bit for bit, to revealing the labels one by one.
  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  void set_label(NodeId node, Label label);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace copse
