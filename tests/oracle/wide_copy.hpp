// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "copse/graph/graph.hpp"

namespace copse::oracle {

/// Which arrays are wide: neighbors, weights.
inline constexpr std::pair<bool, bool> kWidths[] = {{true, false}, {false, true}, {true, true}};

/// A graph's arrays at twice the width, as SciPy has them. Weights are off by less than what rounding to a
/// float takes away, by a different bit at either end of an edge: whoever forgets to round sees another
/// graph.
class WideCopy {
 public:
  explicit WideCopy(const GraphView& graph, std::uint64_t seed = 1)
      : graph_(graph),
        neighbors_(graph.neighbors.begin(), graph.neighbors.end()),
        weights_(graph.weights.begin(), graph.weights.end()) {
    std::mt19937_64 random(seed);
    for (double& weight : weights_) weight *= 1 + (static_cast<double>(random() % 2001) - 1000) * 1e-11;
  }

  GraphView view(bool wide_neighbors, bool wide_weights) const {
    GraphView view = graph_;
    if (wide_neighbors) view.neighbors = NeighborArray(std::span(neighbors_));
    if (wide_weights && graph_.is_weighted()) view.weights = WeightArray(std::span(weights_));
    return view;
  }

  std::vector<std::int64_t>& neighbors() { return neighbors_; }
  std::vector<double>& weights() { return weights_; }

 private:
  GraphView graph_;
  std::vector<std::int64_t> neighbors_;
  std::vector<double> weights_;
};

}  // namespace copse::oracle
