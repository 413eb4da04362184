// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "copse/learners/tree_committee.hpp"

namespace copse {

using WtaOptions = CommitteeOptions;  // `weighted` false is NWWTA in the paper

/// Weighted Tree Algorithm: the nearest revealed label on linearized spanning trees, by majority of the
/// trees. Cesa-Bianchi, Gentile, Vitale & Zappella 2013; cost and options in docs/learners/wta.md.
class Wta final : public TreeCommittee {
 public:
  static constexpr SignUse kSigns = SignUse::itself;
  using Options = WtaOptions;
  Wta(const GraphView& graph, const Options& options, const Execution& execution);
  ~Wta() override;

  /// The nearest other label on every line.
  std::optional<LeaveOneOut> leave_one_out(const Execution&) const override { return weigh_labelled(); }

  /// All nodes at once: one tree after the other is drawn, laid out, swept and forgotten, so that memory
  /// is O(n) whatever the size of the committee. Equal, bit for bit, to revealing the labels one by one.
  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(const ProblemSize& size, const Options& options);
  static std::uint64_t online_bytes(const ProblemSize& size, const Options& options);

 private:
  double weigh(NodeId node, std::span<double> weights) const override;
  Prediction choose(NodeId node) const override;
  std::vector<Reason> reasons(NodeId node) const override;
  void plant(std::size_t tree, SpanningForest&& forest, TreeParity&& parity) override;
  void tell_all(std::size_t tree, std::span<const Label> labels) override;
  void tell(std::size_t tree, NodeId node, Label label) override;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace copse
