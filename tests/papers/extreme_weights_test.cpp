// SPDX-License-Identifier: Apache-2.0
// Bounds and resistances of graphs with any weight that a file may hold.

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "papers/bounds.hpp"
#include "laplacian/algebraic_connectivity.hpp"
#include "copse/laplacian/resistance.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

void expect_number(double value, const std::string& what) { EXPECT_FALSE(std::isnan(value)) << what; }

void expect_figures(const Graph& graph, const std::string& name) {
  SCOPED_TRACE(name);
  const NodeId n = graph.num_nodes();
  std::vector<NodePair> pairs;
  for (NodeId v = 1; v < n; ++v) pairs.push_back({0, v});
  const Estimates exact = exact_resistances(graph, pairs, 1e-6, {}, {});
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_GT(exact.value[i], 0) << i;
    EXPECT_TRUE(std::isfinite(exact.value[i])) << i;
    EXPECT_TRUE(std::isfinite(exact.error[i])) << i;
  }
  for (const double value : exact_diagonal(graph, 1e-6, {}, {}).value)
    EXPECT_TRUE(value >= 0 && std::isfinite(value)) << value;
  const RootResistances trees = tree_diagonal(graph, {.max_trees = 50}, {});
  for (NodeId u = 0; u < n; ++u) EXPECT_TRUE(std::isfinite(trees.value[u])) << u;
  const ResistanceSketch sketch(graph, 16, {}, {});
  for (NodeId u = 0; u < n; ++u) EXPECT_TRUE(std::isfinite(sketch.diagonal(u))) << u;
  const ResistanceDiameter diameter = resistance_diameter(graph, {}, {}),
                           estimated = resistance_diameter(graph, {}, {}, 0);
  EXPECT_TRUE(diameter.lower > 0 && std::isfinite(diameter.upper)) << diameter.lower << " " << diameter.upper;
  EXPECT_TRUE(estimated.lower > 0 && std::isfinite(estimated.upper))
      << estimated.lower << " " << estimated.upper;
  EXPECT_TRUE(algebraic_connectivity(graph, {}, {}) > 0);

  std::vector<Label> labels(n, kNoLabel);
  for (NodeId u = 0; u < n; u += 2) labels[u] = static_cast<Label>(u / 2 % 3);
  const BoundReport report = mistake_bounds(graph, labels, {.num_trees = 3}, {});
  for (const Bound& bound : report.bounds) expect_number(bound.value, bound.name);
  const LabellingFacts& facts = report.facts;
  for (const double figure :
       {facts.cut_weight, facts.largest_cut_weight, facts.expected_cut, facts.expected_resistance,
        facts.balance, facts.squared_norm, facts.energy, facts.interpolant_norm,
        facts.resistance_diameter.lower, facts.resistance_diameter.upper, facts.geodesic_diameter.lower,
        facts.geodesic_diameter.upper, facts.algebraic_connectivity, facts.largest_diagonal})
    expect_number(figure, "a fact");
  for (const double figure : report.diagonal) expect_number(figure, "the diagonal");
  for (const double figure : facts.cover_diameters) expect_number(figure, "a cover");
}

TEST(ExtremeWeights, bounds_and_resistances_are_numbers) {
  constexpr Weight kSmallest = std::numeric_limits<Weight>::denorm_min(),
                   kLargest = std::numeric_limits<Weight>::max();
  const std::pair<Weight, Weight> ranges[] = {{kSmallest, kSmallest}, {1e-40F, 1e-40F},  {kSmallest, 1e-38F},
                                              {kLargest, kLargest},   {1e30F, kLargest}, {1e-15F, 1e15F},
                                              {kSmallest, kLargest}};
  for (const auto& [low, high] : ranges) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      std::mt19937_64 random(seed);
      auto edges =
          oracle::random_connected_edges({.num_nodes = 12, .num_edges = seed == 0 ? 11U : 22U, .seed = seed});
      for (Edge& edge : edges) edge.weight = random() % 2 == 0 ? low : high;
      expect_figures(graph_from_edges(12, edges), "weights " + std::to_string(low) + " to " +
                                                      std::to_string(high) + " seed " + std::to_string(seed));
    }
  }
}

}  // namespace
}  // namespace copse
