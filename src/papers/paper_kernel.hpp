// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

#include "copse/graph/graph.hpp"
#include "copse/support/options.hpp"

namespace copse {

/// Options of graph_perceptron for the kernel G^+ + 11' + I of a weighted graph whose weights are `unit`
/// times those stored (Rojas Galeano & Herbster, section 5). copse divides weights by their mean, which
/// multiplies G^+ by it: the other terms follow, and a perceptron does not see the scale of the whole.
inline OptionValues paper_kernel(const GraphView& graph, double unit) {
  double sum = 0;
  for (const Weight weight : graph.weights) sum += weight;
  char mean_weight[40];
  std::snprintf(mean_weight, sizeof mean_weight, "%.17g",
                unit * sum / static_cast<double>(graph.weights.size()));
  return {{"bias", mean_weight}, {"diagonal", mean_weight}};
}

}  // namespace copse
