// SPDX-License-Identifier: Apache-2.0
#include "laplacian/tree_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "copse/laplacian/tree_kernel.hpp"
#include "copse/trees/sample.hpp"
#include "oracle/graphs.hpp"
#include "oracle/linear_algebra.hpp"
#include "oracle/tree_kernel.hpp"

namespace copse {
namespace {

void expect_near(double value, double wanted, double scale) {
  EXPECT_LE(std::fabs(value - wanted), 1e-12 * scale) << value << " instead of " << wanted;
}

TEST(TreeSums, follow_the_coefficients_as_the_dense_pseudoinverse_says) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const NodeId n = graph.num_nodes();
    const SpanningForest forest = TreeSampler(graph, TreeKind::rst, {.seed = 8}).tree(0);
    const auto pinv = oracle::pseudoinverse(oracle::laplacian(oracle::as_graph(forest)));
    const auto distance = oracle::shortest_distances(oracle::as_graph(forest));
    TreeSums sums(forest);
    sums.add_column();
    std::vector<double> alpha(n);
    std::mt19937_64 random(1);
    for (int round = 0; round < 60; ++round) {
      const auto j = static_cast<NodeId>(random() % n);
      const double amount = static_cast<double>(random() % 7) - 3;
      alpha[j] += amount;
      sums.add(j, amount, 0);
      if (round % 6 != 0) continue;
      for (NodeId i = 0; i < n; ++i) {
        double kernel = 0, total = 0, scale = 1;
        for (NodeId k = 0; k < n; ++k) {
          if (std::isinf(distance[i][k])) continue;
          kernel += alpha[k] * pinv(i, k);
          total += alpha[k];
          scale += 10 * (distance[i][k] + pinv(k, k));
        }
        expect_near(sums.kernel_sum(i, 0), kernel, 10 * scale);
        EXPECT_EQ(sums.coefficient_sum(i, 0), total);
      }
    }
  }
}

TEST(TreeSums, agree_with_products_on_large_trees_of_every_shape) {
  std::vector<oracle::NamedTestGraph> graphs;
  graphs.push_back({"path", oracle::path(3000)});
  graphs.push_back({"star", oracle::star(3000)});
  graphs.push_back({"random tree", oracle::random_tree({.num_nodes = 3000, .seed = 2, .weighted = true})});
  graphs.push_back({"many trees", oracle::random_graph({.num_nodes = 3000, .num_edges = 1200, .seed = 3})});
  for (const auto& [name, graph] : graphs) {
    SCOPED_TRACE(name);
    const SpanningForest forest = TreeSampler(graph, TreeKind::bfst, {}).tree(0);
    const TreeKernel kernel(forest);
    TreeSums sums(forest);
    sums.add_column();
    std::vector<double> alpha(3000), wanted(3000);
    std::mt19937_64 random(2);
    for (int round = 0; round < 2000; ++round) {
      const auto j = static_cast<NodeId>(random() % 3000);
      alpha[j] += round % 2 == 0 ? 1 : -1;
      sums.add(j, round % 2 == 0 ? 1 : -1, 0);
    }
    kernel.multiply(alpha, wanted);
    for (NodeId i = 0; i < 3000; ++i)
      expect_near(sums.kernel_sum(i, 0), wanted[i], 2000 * kernel.diagonal(i) + 100);
  }
}

TEST(TreeSums, keep_their_digits_when_weights_span_twelve_orders) {
  std::mt19937_64 random(4);
  std::vector<Edge> edges = oracle::random_tree_edges(50, random, false);
  for (Edge& edge : edges)
    edge.weight =
        static_cast<Weight>(std::pow(10.0, 12 * (static_cast<double>(random() % 10001) / 10000 - 0.5)));
  const SpanningForest forest = TreeSampler(graph_from_edges(50, edges), TreeKind::rst, {}).tree(0);
  const oracle::TreeByCuts twin(forest);
  TreeSums sums(forest);
  sums.add_column();
  // Opposite coefficients: the far part of the tree must cancel exactly.
  sums.add(3, 1, 0);
  sums.add(17, -1, 0);
  sums.add(3, -1, 0);
  sums.add(29, 2, 0);
  for (NodeId i = 0; i < 50; ++i) {
    const double wanted = static_cast<double>(2 * twin.entry(i, 29) - twin.entry(i, 17));
    const auto scale = static_cast<double>(
        std::sqrt(twin.entry(i, i)) * (2 * std::sqrt(twin.entry(29, 29)) + std::sqrt(twin.entry(17, 17))));
    expect_near(sums.kernel_sum(i, 0), wanted, 100 * scale);
  }
}

TEST(TreeSums, take_back_what_they_were_given) {
  const SpanningForest forest =
      TreeSampler(oracle::random_tree({.num_nodes = 500, .seed = 5}), TreeKind::bfst, {}).tree(0);
  TreeSums sums(forest);
  sums.add_column();
  for (NodeId j = 0; j < 500; ++j) sums.add(j, 1 + j % 3, 0);
  for (NodeId j = 0; j < 500; ++j) sums.add(j, -1.0 - j % 3, 0);
  for (NodeId i = 0; i < 500; ++i) EXPECT_NEAR(sums.kernel_sum(i, 0), 0, 1e-9);
}

TEST(TreeSums, keep_several_columns_apart_and_copy_them) {
  const SpanningForest forest =
      TreeSampler(oracle::random_graph({.num_nodes = 60, .num_edges = 70, .seed = 6, .weighted = true}),
                  TreeKind::rst, {})
          .tree(0);
  TreeSums both(forest), first(forest), second(forest);
  for (TreeSums* sums : {&both, &first, &second}) EXPECT_EQ(sums->add_column(), 0u);
  EXPECT_EQ(both.add_column(), 1u);
  for (NodeId j = 0; j < 60; j += 3) {
    both.add(j, 1.5, 0);
    first.add(j, 1.5, 0);
    both.add((7 * j) % 60, -2, 1);
    second.add((7 * j) % 60, -2, 0);
  }
  EXPECT_EQ(both.add_column(-1), 2u);
  for (NodeId i = 0; i < 60; ++i) {
    EXPECT_EQ(both.kernel_sum(i, 0), first.kernel_sum(i, 0));
    EXPECT_EQ(both.kernel_sum(i, 1), second.kernel_sum(i, 0));
    EXPECT_EQ(both.kernel_sum(i, 2), -first.kernel_sum(i, 0));
    EXPECT_EQ(both.coefficient_sum(i, 2), -first.coefficient_sum(i, 0));
  }
  both.clear();
  EXPECT_EQ(both.add_column(), 0u);
  for (NodeId i = 0; i < 60; ++i) EXPECT_EQ(both.kernel_sum(i, 0), 0);
}

TEST(TreeSums, know_the_diagonal_and_the_resistances) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const SpanningForest forest =
        TreeSampler(oracle::random_graph({.num_nodes = 30, .num_edges = 40, .seed = seed, .weighted = true}),
                    TreeKind::rst, {})
            .tree(0);
    const oracle::TreeByCuts twin(forest);
    const TreeSums sums(forest);
    for (NodeId i = 0; i < 30; ++i) {
      expect_near(sums.diagonal(i), static_cast<double>(twin.entry(i, i)), sums.diagonal(i));
      for (NodeId j = 0; j < 30; ++j) {
        const auto wanted = static_cast<double>(twin.resistance(i, j));
        if (std::isinf(wanted))
          EXPECT_EQ(sums.resistance(i, j), wanted);
        else
          expect_near(sums.resistance(i, j), wanted, wanted);
      }
    }
  }
}

}  // namespace
}  // namespace copse
