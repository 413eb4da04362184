// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/labelled_learner.hpp"
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
class MajorityVote final : public LabelledLearner, public FitsByRevealing<MajorityVote, MajorityVoteOptions> {
 public:
  static constexpr SignUse kSigns = SignUse::cover;
  MajorityVote(const GraphView& graph, const Options& options, const Execution& execution);

  /// Of labelled nodes with a labelled neighbour.
  std::optional<LeaveOneOut> leave_one_out(const Execution&) const override { return weigh_labelled(); }

  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  double weigh(NodeId node, std::span<double> weights) const override;
  std::vector<Reason> reasons(NodeId node) const override;
  /// Calls body(neighbour, label, weight) for every labelled neighbour.
  template <class Body>
  void for_each_vote(NodeId node, Body&& body) const;

  GraphView graph_;
};

}  // namespace copse
