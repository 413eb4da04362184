// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "copse/learners/labelled_learner.hpp"
#include "copse/learners/option_blocks.hpp"

namespace copse {

struct NearestNeighborOptions {
  enum class Distance { geodesic, resistance };
  Distance distance = Distance::geodesic;
  int num_neighbors = 1;
  SolveOptions solve;

  static Fields fields() {
    using Self = NearestNeighborOptions;
    return joined(
        {{choice("distance", &Self::distance,
                 "geodesic: the shortest path, of 1/weight an edge; resistance: all paths in parallel",
                 {{"geodesic", Distance::geodesic}, {"resistance", Distance::resistance}}),
          field("num_neighbors", &Self::num_neighbors, "labels that vote", between(1, 1000))},
         block(&Self::solve, solver_fields(", for resistance"))});
  }
};

class NearestLists;

/// Majority of the labelled nodes that are nearest (Herbster & Pontil 2006, section 5.1, who show what is
/// wrong with it). Every node knows its nearest labels at any time. docs/learners/nearest_neighbor.md.
class NearestNeighbor final : public LabelledLearner,
                              public FitsByRevealing<NearestNeighbor, NearestNeighborOptions> {
 public:
  static constexpr SignUse kSigns = SignUse::cover;
  NearestNeighbor(const GraphView& graph, const Options& options, const Execution& execution);
  ~NearestNeighbor() override;

  /// Of a learner that has no labels yet.
  BatchResult reveal_all(std::span<const Label> labels) override;

  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  double weigh(NodeId node, std::span<double> weights) const override;
  Prediction choose(NodeId node) const override;
  std::vector<Reason> reasons(NodeId node) const override;
  void change_label(NodeId node, Label label) override;

  std::unique_ptr<NearestLists> lists_;
};

}  // namespace copse
