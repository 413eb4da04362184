// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/learner.hpp"
#include "copse/learners/prior.hpp"
#include "copse/support/options.hpp"

namespace copse {

struct MajorityVoteOptions {
  bool weighted = true;

  static Fields fields() {
    return {field("weighted", &MajorityVoteOptions::weighted,
                  "neighbours vote with the weight of their edge; false counts them")};
  }
};

/// Weighted majority of the labelled neighbours (WMV in Cesa-Bianchi et al. 2013, section 7); the most
/// frequent class where no neighbour is labelled. The baseline that any method must beat.
class MajorityVote final : public Learner {
 public:
  static constexpr SignUse kSigns = SignUse::cover;
  using Options = MajorityVoteOptions;
  MajorityVote(const GraphView& graph, const Options& options, const Execution& execution);

  Prediction predict(NodeId node) const override;
  void scores(NodeId node, std::span<double> scores) const override;
  std::size_t num_classes() const override { return prior_.num_classes(); }
  void reveal(NodeId node, Label label) override;
  void retract(NodeId node) override;
  std::vector<Reason> explain(NodeId node) const override;

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  /// Calls body(neighbour, label, weight) for every labelled neighbour.
  template <class Body>
  void for_each_vote(NodeId node, Body&& body) const;

  GraphView graph_;
  std::vector<Label> labels_;
  ClassPrior prior_;
};

}  // namespace copse
