// SPDX-License-Identifier: Apache-2.0
#include "laplacian/algebraic_connectivity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "oracle/graphs.hpp"
#include "oracle/linear_algebra.hpp"

namespace copse {
namespace {

/// The largest eigenvalue of L^+ by squaring it again and again: tr(K^(2p))^(1/2p) is above it by at most the
/// factor n^(1/2p).
double largest_of_pseudoinverse(const GraphView& graph) {
  oracle::DenseMatrix k = oracle::pseudoinverse(oracle::laplacian(graph));
  const std::size_t n = k.rows();
  double log_scale = 0, power = 1;
  for (int round = 0; round < 30; ++round) {
    oracle::DenseMatrix square(n, n);
    double trace = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t l = 0; l < n; ++l) square(i, j) += k(i, l) * k(l, j);
      trace += square(i, i);
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) square(i, j) /= trace;
    log_scale = 2 * log_scale + std::log(trace);
    power *= 2;
    k = square;
  }
  return std::exp(log_scale / power);
}

TEST(AlgebraicConnectivity, is_that_of_the_closed_forms) {
  const auto of = [](const Graph& graph) { return algebraic_connectivity(graph, {}, {.seed = 3}); };
  EXPECT_NEAR(of(oracle::path(50)), 2 - 2 * std::cos(std::numbers::pi / 50), 1e-8);
  EXPECT_NEAR(of(oracle::cycle(40)), 2 - 2 * std::cos(2 * std::numbers::pi / 40), 1e-7);
  EXPECT_NEAR(of(oracle::complete(30)), 30, 1e-4);
  EXPECT_NEAR(of(oracle::star(25)), 1, 1e-6);
  EXPECT_NEAR(of(oracle::grid(9, 14)), 2 - 2 * std::cos(std::numbers::pi / 14), 1e-7);
  EXPECT_NEAR(of(oracle::path(2)), 2, 1e-6);
  EXPECT_TRUE(std::isinf(of(oracle::single_node())));
}

TEST(AlgebraicConnectivity, agrees_with_the_dense_twin_and_is_never_below_it) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = oracle::random_connected_graph({.num_nodes = static_cast<NodeId>(5 + seed),
                                                        .num_edges = 10 + 2 * seed,
                                                        .seed = seed,
                                                        .weighted = true});
    const double exact = 1 / largest_of_pseudoinverse(graph);
    const double found = algebraic_connectivity(graph, {}, {.seed = seed});
    EXPECT_GE(found, exact * (1 - 1e-6));
    EXPECT_LE(found, exact * (1 + 1e-5));
  }
}

TEST(AlgebraicConnectivity, sees_a_graph_that_nearly_falls_apart) {
  const Graph bridge =
      graph_from_edges(6, {{0, 1, 1}, {1, 2, 1}, {0, 2, 1}, {2, 3, 1e-9F}, {3, 4, 1}, {4, 5, 1}, {3, 5, 1}});
  EXPECT_NEAR(algebraic_connectivity(bridge, {}, {}) / (2e-9 / 3), 1, 1e-5);
}

}  // namespace
}  // namespace copse
