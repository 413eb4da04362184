// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "copse/graph/generate.hpp"
#include "copse/laplacian/laplacian_solver.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

TEST(LaplacianSolverSlow, a_path_of_ten_million_nodes_is_solved_to_the_last_digits) {
  constexpr NodeId n = 10'000'000;
  const Graph graph = generate_graph("path", {{"nodes", n}}, {}).graph;
  std::vector<double> b(n), x(n);
  b[0] = 1;
  b[n - 1] = -1;
  LaplacianSolver solver(graph, {}, {});
  const SolveReport report = solver.solve(b, x);
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.method, SolveMethod::approximate_cholesky);  // which eliminates a forest exactly
  EXPECT_LE(report.iterations, 3);
  double worst = 0;  // the potential falls by 1 per edge, from (n - 1) / 2
  for (NodeId u = 0; u < n; ++u) worst = std::max(worst, std::fabs(x[u] - ((n - 1) / 2.0 - u)));
  EXPECT_LE(worst, 1e-7 * n);
}

TEST(LaplacianSolverSlow, a_star_of_a_million_leaves_is_solved_exactly) {
  constexpr NodeId n = 1'000'001;
  const Graph graph = oracle::star(n);
  std::vector<double> b(n), x(n);
  b[5] = 1;
  b[9] = -1;
  for (const SolveMethod method :
       {SolveMethod::automatic, SolveMethod::approximate_cholesky2, SolveMethod::jacobi}) {
    LaplacianSolver solver(graph, {.method = method, .tolerance = 1e-12}, {});
    EXPECT_TRUE(solver.solve(b, x).converged);
    EXPECT_NEAR(x[5], 1, 1e-9);
    EXPECT_NEAR(x[9], -1, 1e-9);
    EXPECT_NEAR(x[0], 0, 1e-9);
  }
}

TEST(LaplacianSolverSlow, ten_million_isolated_nodes_are_no_work) {
  constexpr NodeId n = 10'000'000;
  const Graph graph = oracle::isolated_nodes(n);
  std::vector<double> b(n, 1.0);
  LaplacianSolver solver(graph, {}, {});
  EXPECT_TRUE(solver.solve(b, b).converged);
  EXPECT_EQ(b[n - 1], 0);
}

/// Random weights over `orders` orders of magnitude, at random over the edges of a grid.
Graph wild_grid(NodeId side, double orders, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Edge> edges;
  const auto weight = [&] {
    return static_cast<Weight>(std::pow(10, orders * (static_cast<double>(random() % 10001) / 1e4 - 0.5)));
  };
  for (NodeId u = 0; u < side * side; ++u) {
    if (u % side + 1 < side) edges.push_back({u, u + 1, weight()});
    if (u / side + 1 < side) edges.push_back({u, u + side, weight()});
  }
  return graph_from_edges(side * side, edges);
}

TEST(LaplacianSolverSlow, weights_over_twelve_orders_of_magnitude_are_solved_or_the_accuracy_is_told) {
  for (const double orders : {6.0, 12.0, 60.0}) {
    const Graph graph = wild_grid(400, orders, 1);
    std::mt19937_64 random(2);
    std::vector<double> b(graph.num_nodes()), x(b.size());
    for (double& value : b) value = static_cast<double>(random() % 2001) / 1000 - 1;
    for (const SolveMethod method :
         {SolveMethod::automatic, SolveMethod::approximate_cholesky, SolveMethod::approximate_cholesky2}) {
      LaplacianSolver solver(graph, {.method = method}, {});
      const SolveReport report = solver.solve(b, x);
      for (const double value : x) ASSERT_TRUE(std::isfinite(value));
      EXPECT_TRUE(report.converged) << orders << " orders: " << report.note();
      EXPECT_LE(report.backward_error, report.converged ? 1e-8 : 1.0);
      EXPECT_LE(report.iterations, 10000);
    }
  }
}

}  // namespace
}  // namespace copse
