// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/diameter.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "oracle/graphs.hpp"
#include "oracle/trees.hpp"

namespace copse {
namespace {

double longest(const std::vector<double>& row) {
  double most = 0;
  for (const double distance : row)
    if (std::isfinite(distance)) most = std::max(most, distance);
  return most;
}

TEST(Diameter, agrees_with_floyd_warshall_and_lies_in_the_interval) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const GraphView view = graph, plain{view.offsets, view.neighbors, {}};
    const auto distance = oracle::shortest_distances(view), edges = oracle::shortest_distances(plain);
    double geodesic = 0, structural = 0;
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      EXPECT_NEAR(eccentricity(graph, u), longest(distance[u]), 1e-12 * longest(distance[u]));
      geodesic = std::max(geodesic, longest(distance[u]));
      structural = std::max(structural, longest(edges[u]));
    }
    for (const int threads : {1, 3}) {
      const Interval exact = geodesic_diameter(graph, {.threads = threads});
      EXPECT_NEAR(exact.lower, geodesic, 1e-12 * geodesic);
      EXPECT_EQ(exact.lower, exact.upper);
      EXPECT_EQ(structural_diameter(graph, {.threads = threads}).lower, structural);
    }
    const Interval bounds = geodesic_diameter(graph, {}, 0), hops = structural_diameter(graph, {}, 0);
    EXPECT_LE(bounds.lower, geodesic * (1 + 1e-12));
    EXPECT_GE(bounds.upper, geodesic * (1 - 1e-12));
    EXPECT_LE(bounds.upper, 2 * geodesic * (1 + 1e-12));
    EXPECT_LE(hops.lower, structural);
    EXPECT_GE(hops.upper, structural);
  }
}

TEST(Diameter, double_sweeps_are_exact_on_trees_and_empty_graphs_have_none) {
  const Graph tree = oracle::random_tree({.num_nodes = 3000, .seed = 6, .weighted = true});
  const Interval bounds = geodesic_diameter(tree, {});
  EXPECT_NEAR(bounds.lower, bounds.upper, 1e-12 * bounds.upper);
  EXPECT_EQ(geodesic_diameter(oracle::isolated_nodes(0), {}).upper, 0);
  EXPECT_EQ(geodesic_diameter(oracle::isolated_nodes(3), {}, 0).upper, 0);
}

}  // namespace
}  // namespace copse
