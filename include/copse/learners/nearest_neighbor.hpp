// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "copse/learners/learner.hpp"
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

/// Majority of the labelled nodes that are nearest (Herbster & Pontil 2006, section 5.1, who show what is
/// wrong with it). Every node knows its nearest labels at any time. docs/learners/nearest_neighbor.md.
class NearestNeighbor final : public Learner {
 public:
  static constexpr SignUse kSigns = SignUse::cover;
  using Options = NearestNeighborOptions;
  NearestNeighbor(const GraphView& graph, const Options& options, const Execution& execution);
  ~NearestNeighbor() override;

  Prediction predict(NodeId node) const override;
  void scores(NodeId node, std::span<double> scores) const override;
  std::size_t num_classes() const override;
  void reveal(NodeId node, Label label) override;
  void retract(NodeId node) override;
  std::vector<Reason> explain(NodeId node) const override;

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(const ProblemSize& size, const Options& options);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace copse
