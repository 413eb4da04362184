// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "copse/learners/labelled_learner.hpp"
#include "copse/learners/options.hpp"

namespace copse {

class NearestLists;

struct NearestNeighborOptions {
  enum class Distance { geodesic, resistance };
  Distance distance = Distance::geodesic;
  int num_neighbors = 1;
  double tolerance = 1e-8;
  int max_iterations = 10000;

  static Fields fields() {
    using Self = NearestNeighborOptions;
    return {choice("distance", &Self::distance,
                   "geodesic: the shortest path, of 1/weight an edge; resistance: all paths in parallel",
                   {{"geodesic", Distance::geodesic}, {"resistance", Distance::resistance}}),
            field("num_neighbors", &Self::num_neighbors, "labels that vote", between(1, 1000)),
            field("tolerance", &Self::tolerance, "backward error at which the solver stops, for resistance",
                  between(1e-14, 0.1)),
            field("max_iterations", &Self::max_iterations, "most iterations of the solver", at_least(1))};
  }
};

/// Majority of the labelled nodes that are nearest (Herbster & Pontil 2006, section 5.1, who show what is
/// wrong with it). Every node knows its nearest labels at any time. docs/learners/nearest_neighbor.md.
class NearestNeighbor final : public LabelledLearner {
 public:
  using Options = NearestNeighborOptions;
  NearestNeighbor(const GraphView& graph, const Options& options, const Execution& execution);
  ~NearestNeighbor() override;

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                             std::size_t num_classes, const Options& options, int threads);

 private:
  Prediction answer(NodeId node) const override;
  void weigh(NodeId node, std::span<double> scores) const override;
  std::vector<Reason> reasons(NodeId node) const override;
  bool is_reached(NodeId node) const override;
  void change_label(NodeId node, Label label) override;

  std::unique_ptr<NearestLists> lists_;
};

}  // namespace copse
