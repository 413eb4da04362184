// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/option_blocks.hpp"
#include "copse/learners/solved_learner.hpp"

namespace copse {

struct HalvingOptions {
  int max_cut = 0;
  TreeKind tree = TreeKind::rst;
  int num_trees = 7;

  static Fields fields() {
    return {
        field("max_cut", &HalvingOptions::max_cut,
              "edges of a component that a labelling may cut; 0 finds the smallest power of two that agrees "
              "with the labels",
              between(0, 1 << 20)),
        tree_field(&HalvingOptions::tree, ", where a component is no tree and not small"),
        num_trees_field(&HalvingOptions::num_trees,
                        "spanning trees, where a component is no tree and not small")};
  }
};

/// The halving algorithm of Herbster & Pontil 2006, section 5.2: the majority of all labellings that cut at
/// most k edges of a component and agree with the labels known. Weights do not count. Labellings are counted
/// exactly by dynamic programming where the component is a tree, and listed where it is small; elsewhere they
/// are counted on spanning trees, whose shares are averaged. Costs and options in docs/learners/halving.md.
class Halving final : public SolvedLearner, public FitsByRevealing<Halving, HalvingOptions> {
 public:
  static constexpr SignUse kSigns = SignUse::itself;
  Halving(const GraphView& graph, const Options& options, const Execution& execution);

  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  std::vector<Reason> reasons(NodeId node) const override;
  ScoreTable solve() const override;
  Options options_;
};

}  // namespace copse
