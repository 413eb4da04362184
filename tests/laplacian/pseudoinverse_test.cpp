// SPDX-License-Identifier: Apache-2.0
#include "copse/laplacian/pseudoinverse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "copse/support/error.hpp"
#include "laplacian/interpolation.hpp"
#include "oracle/dense_laplacian.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

constexpr SolveOptions kTight{.tolerance = 1e-13};

/// Entries are compared on the scale of the coordinates' norms.
double norms(const oracle::DenseMatrix& pinv, NodeId u, NodeId v) {
  return std::sqrt(pinv(u, u) * pinv(v, v));
}

TEST(Pseudoinverse, dense_agrees_with_its_twin_connected_or_not) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const NodeId n = graph.num_nodes();
    const auto wanted = oracle::pseudoinverse(oracle::laplacian(graph));
    const auto found = dense_pseudoinverse(graph);
    ASSERT_EQ(found.size(), std::size_t{n} * n);
    for (NodeId u = 0; u < n; ++u)
      for (NodeId v = 0; v < n; ++v) {
        EXPECT_NEAR(found[u * n + v], wanted(u, v), 1e-11 * norms(wanted, u, v));
        EXPECT_EQ(found[u * n + v], found[v * n + u]);
      }
  }
}

TEST(Pseudoinverse, dense_keeps_its_digits_when_weights_span_twelve_orders) {
  // A triangle of strong edges and a tail of weak ones: closed forms by hand.
  const Graph graph = graph_from_edges(4, {{0, 1, 1e6F}, {1, 2, 1e6F}, {2, 0, 1e6F}, {2, 3, 1e-6F}});
  const auto found = dense_pseudoinverse(graph);
  const double weak = 1 / static_cast<double>(1e-6F);
  EXPECT_NEAR(found[15] / (weak * 9 / 16), 1, 1e-9);
  EXPECT_NEAR(found[0] / (weak / 16), 1, 1e-9);
}

TEST(Pseudoinverse, dense_refuses_large_graphs_with_the_number_of_bytes) {
  try {
    dense_pseudoinverse(oracle::isolated_nodes(10000));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("800,000,000 bytes"), std::string::npos) << error.what();
  }
  EXPECT_THROW(dense_pseudoinverse(oracle::path(5), 4), UsageError);
  EXPECT_EQ(dense_pseudoinverse(oracle::path(5), 5).size(), 25U);
}

TEST(Pseudoinverse, columns_by_solves_agree_with_the_twin) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const NodeId n = graph.num_nodes();
    const auto wanted = oracle::grounded_pseudoinverse(graph);
    LaplacianSolver solver(graph, kTight, {});
    const std::vector<NodeId> nodes = {n - 1, 0, n / 2};
    std::vector<double> columns(n * nodes.size());
    EXPECT_TRUE(pseudoinverse_columns(solver, nodes, columns).converged);
    for (NodeId u = 0; u < n; ++u)
      for (std::size_t i = 0; i < nodes.size(); ++i)
        EXPECT_NEAR(columns[u * nodes.size() + i], wanted(u, nodes[i]), 1e-9 * (norms(wanted, u, nodes[i])));
  }
}

/// K~^+ y as the paper has it: coefficients c = (L^+ between the given nodes)^-1 y, then g = L^+ c.
std::vector<double> interpolate_densely(const GraphView& graph, const std::vector<NodeId>& nodes,
                                        const std::vector<double>& values) {
  const auto pinv = oracle::pseudoinverse(oracle::laplacian(graph));
  oracle::DenseMatrix kernel(nodes.size(), nodes.size()), coefficients(nodes.size(), 1);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    coefficients(i, 0) = values[i];
    for (std::size_t j = 0; j < nodes.size(); ++j) kernel(i, j) = pinv(nodes[i], nodes[j]);
  }
  oracle::eliminate(kernel, coefficients);
  std::vector<double> result(graph.num_nodes());
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (std::size_t i = 0; i < nodes.size(); ++i) result[u] += pinv(u, nodes[i]) * coefficients(i, 0);
  return result;
}

TEST(MinimumNormInterpolation, two_solves_give_what_the_dense_kernel_gives) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    if (graph.num_nodes() < 5) continue;
    // Every third node; the components of two nodes and less keep a node free or have no label.
    std::vector<NodeId> nodes;
    std::vector<double> values;
    for (NodeId u = 0; u < graph.num_nodes(); u += 3) {
      if (graph.view().degree(u) == 0) continue;
      nodes.push_back(u);
      values.push_back(u % 2 == 0 ? 1 : -1.5);
    }
    const auto found = minimum_norm_interpolation(graph, nodes, values, kTight, {});
    EXPECT_TRUE(found.report.converged);
    const auto wanted = interpolate_densely(graph, nodes, values);
    double scale = 1;
    for (const double value : wanted) scale = std::max(scale, std::fabs(value));
    for (NodeId u = 0; u < graph.num_nodes(); ++u) EXPECT_NEAR(found.value[u], wanted[u], 1e-9 * scale);
  }
}

TEST(MinimumNormInterpolation, several_functions_at_once_are_those_found_one_by_one) {
  const Graph graph = oracle::random_graph({.num_nodes = 40, .num_edges = 60, .seed = 9, .weighted = true});
  std::vector<NodeId> nodes;
  std::vector<double> both, first, second;
  for (NodeId u = 0; u < 40; u += 3) {
    nodes.push_back(u);
    first.push_back(u % 2 == 0 ? 1 : -1);
    second.push_back(u % 5 == 0 ? 3 : 0.5);
    both.push_back(first.back());
    both.push_back(second.back());
  }
  const auto together = minimum_norm_interpolation(graph, nodes, both, kTight, {}, 2);
  const auto one = minimum_norm_interpolation(graph, nodes, first, kTight, {});
  const auto other = minimum_norm_interpolation(graph, nodes, second, kTight, {});
  for (NodeId u = 0; u < 40; ++u) {
    EXPECT_NEAR(together.value[2 * u], one.value[u], 1e-9);
    EXPECT_NEAR(together.value[2 * u + 1], other.value[u], 1e-9);
  }
}

TEST(MinimumNormInterpolation, keeps_given_values_and_sums_to_zero) {
  const Graph graph = oracle::two_components_and_an_isolated_node();
  const auto found =
      minimum_norm_interpolation(graph, std::vector<NodeId>{2, 6}, std::vector<double>{3, 7}, kTight, {});
  EXPECT_EQ(found.value[2], 3);
  EXPECT_EQ(found.value[6], 7);  // alone: nothing to choose
  EXPECT_NEAR(found.value[0] + found.value[2] + found.value[4], 0, 1e-9);
  EXPECT_EQ(found.value[1], 0);
  EXPECT_EQ(minimum_norm_interpolation(graph, {}, {}, kTight, {}).value, std::vector<double>(7));
}

TEST(MinimumNormInterpolation, refuses_values_that_make_no_sense) {
  const Graph graph = oracle::path(3);
  const auto call = [&](std::vector<NodeId> nodes, std::vector<double> values) {
    minimum_norm_interpolation(graph, nodes, values, kTight, {});
  };
  EXPECT_THROW(call({0, 0}, {1, 1}), UsageError);
  EXPECT_THROW(call({0}, {1, 1}), UsageError);
  EXPECT_THROW(call({3}, {1}), UsageError);
  EXPECT_THROW(call({1}, {NAN}), UsageError);
}

}  // namespace
}  // namespace copse
