// SPDX-License-Identifier: Apache-2.0
#include "laplacian/approximate_cholesky.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "copse/laplacian/laplacian_solver.hpp"
#include "laplacian/elimination_graph.hpp"
#include "oracle/dense_laplacian.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// The matrix that a factor stands for, over the nodes 1, ..., n - 1 of a graph with node 0 grounded.
oracle::DenseMatrix matrix_of(const Preconditioner& factor, std::size_t n) {
  oracle::DenseMatrix inverse(n - 1, n - 1);
  for (std::size_t j = 1; j < n; ++j) {
    std::vector<double> z(n + 1);
    z[j] = 1;
    factor.apply(z.data(), 1);
    for (std::size_t i = 1; i < n; ++i) inverse(i - 1, j - 1) = z[i];
  }
  return oracle::inverse(inverse);
}

TEST(ApproximateCholesky, is_the_laplacian_in_expectation) {
  // Kyng & Sachdeva 2016: every elimination replaces the clique by edges of the same expectation.
  constexpr std::size_t n = 8;
  constexpr int kSeeds = 4000;
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = n, .num_edges = 28, .seed = 3, .weighted = true});
  const std::vector<NodeId> grounded{0};
  const LaplacianSystem system = LaplacianSystem::of(graph, grounded, {});
  const oracle::DenseMatrix wanted = oracle::laplacian(graph);
  for (const bool doubled : {false, true}) {
    oracle::DenseMatrix mean(n - 1, n - 1), square(n - 1, n - 1);
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto matrix = matrix_of(*approximate_cholesky(system, doubled, kNoLimit, {.seed = seed}), n);
      for (std::size_t i = 0; i + 1 < n; ++i)
        for (std::size_t j = 0; j + 1 < n; ++j) {
          mean(i, j) += matrix(i, j) / kSeeds;
          square(i, j) += matrix(i, j) * matrix(i, j) / kSeeds;
        }
    }
    for (std::size_t i = 0; i + 1 < n; ++i)
      for (std::size_t j = 0; j + 1 < n; ++j) {
        const double variance = std::max(0.0, square(i, j) - mean(i, j) * mean(i, j));
        const double allowed = 5 * std::sqrt(variance / kSeeds) + 1e-5 * std::abs(mean(i, i));
        EXPECT_NEAR(mean(i, j), wanted(i + 1, j + 1), allowed) << i << ' ' << j << ' ' << doubled;
      }
  }
}

TEST(ApproximateCholesky, returns_the_product_with_the_residual) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 40, .num_edges = 200, .seed = 1, .weighted = true});
  const auto factor = approximate_cholesky(LaplacianSystem::of(graph, {}, {}), false, kNoLimit, {});
  std::mt19937_64 random(1);
  std::vector<double> r(40), z(41);
  for (std::size_t i = 0; i < 40; ++i) r[i] = static_cast<double>(random() % 1000) - 499.5;
  std::copy(r.begin(), r.end(), z.begin());
  const double product = factor->apply(z.data(), 1)[0];
  double wanted = 0;
  // In a singular component r . z is meant for an r that sums to 0; z is 0 at the node that goes last.
  for (std::size_t i = 0; i < 40; ++i) wanted += r[i] * z[i];
  EXPECT_NEAR(product, wanted, 1e-9 * std::abs(wanted));
}

TEST(ApproximateCholesky, solves_trees_and_cycles_in_two_iterations) {
  std::vector<Graph> graphs;
  graphs.push_back(oracle::path(2000));
  graphs.push_back(oracle::cycle(2000));
  graphs.push_back(oracle::star(2000));
  graphs.push_back(oracle::random_tree({.num_nodes = 2000, .seed = 4, .weighted = true}));
  for (const Graph& graph : graphs) {
    std::vector<double> b(graph.num_nodes()), x(b.size());
    b[0] = 1;
    b[b.size() - 1] = -1;
    LaplacianSolver solver(graph, {.method = SolveMethod::approximate_cholesky, .tolerance = 1e-10}, {});
    const SolveReport report = solver.solve(b, x);
    EXPECT_TRUE(report.converged);
    EXPECT_LE(report.iterations, 2);
  }
}

TEST(ApproximateCholesky, a_graph_has_no_more_entries_than_the_limit) {
  const Graph graph = oracle::random_connected_graph({.num_nodes = 400, .num_edges = 4000, .seed = 1});
  const LaplacianSystem system = LaplacianSystem::of(graph, {}, {});
  const auto whole = approximate_cholesky(system, false, kNoLimit, {});
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1000}, whole->entries() - 1}) {
    const auto part = approximate_cholesky(system, false, limit, {});
    EXPECT_LE(part->entries(), limit);
  }
  // With nothing eliminated the degrees are what is left: M^-1 r = r / degree.
  const auto degrees = approximate_cholesky(system, false, 0, {});
  std::vector<double> z(401, 1.0);
  degrees->apply(z.data(), 1);
  for (NodeId u = 0; u < 400; ++u) EXPECT_NEAR(z[u], system.inverse_degree[u], 1e-15);
}

TEST(ApproximateCholesky, a_seed_changes_the_factor_but_not_the_answer) {
  const Graph graph =
      oracle::random_connected_graph({.num_nodes = 500, .num_edges = 2500, .seed = 9, .weighted = true});
  std::vector<double> b(500), first(500), second(500), again(500);
  b[3] = 1;
  b[400] = -1;
  const SolveOptions options{.method = SolveMethod::approximate_cholesky, .tolerance = 1e-13};
  LaplacianSolver(graph, options, {.seed = 1}).solve(b, first);
  LaplacianSolver(graph, options, {.seed = 2}).solve(b, second);
  LaplacianSolver(graph, options, {.seed = 1}).solve(b, again);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, second);
  EXPECT_LE(oracle::relative_difference(first, second, 1), 1e-9);
}

TEST(DegreeQueue, gives_the_least_degree_first_and_equals_in_order) {
  std::vector<std::uint32_t> degree{5, 2, 5, 7, 2, 900, 40};
  DegreeQueue queue(7);
  for (NodeId u = 0; u < 7; ++u) queue.update(u, degree[u]);
  const auto degree_of = [&](NodeId u) { return degree[u]; };
  EXPECT_EQ(queue.pop(degree_of), 1U);
  degree[4] = 6;  // up: moved when its turn comes
  queue.update(4, 6);
  degree[5] = 1;  // down: at once
  queue.update(5, 1);
  for (const NodeId wanted : {5, 0, 2, 4, 3, 6}) EXPECT_EQ(queue.pop(degree_of), wanted);
  EXPECT_EQ(queue.pop(degree_of), kNoNode);
}

TEST(DegreeQueue, gives_every_node_once_whatever_the_degrees_do) {
  std::mt19937_64 random(5);
  std::vector<std::uint32_t> degree(2000);
  for (auto& d : degree) d = static_cast<std::uint32_t>(random() % 5000);
  DegreeQueue queue(2000);
  for (NodeId u = 0; u < 2000; ++u) queue.update(u, degree[u]);
  std::vector<int> seen(2000);
  for (NodeId u; (u = queue.pop([&](NodeId v) { return degree[v]; })) != kNoNode;) {
    ++seen[u];
    for (int i = 0; i < 5; ++i) {
      const auto v = static_cast<NodeId>(random() % 2000);
      if (seen[v]) continue;
      degree[v] = static_cast<std::uint32_t>(random() % 5000);
      queue.update(v, degree[v]);
    }
  }
  EXPECT_EQ(seen, std::vector<int>(2000, 1));
}

}  // namespace
}  // namespace copse
