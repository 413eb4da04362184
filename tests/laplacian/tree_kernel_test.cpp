// SPDX-License-Identifier: Apache-2.0
#include "copse/laplacian/tree_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "copse/trees/sample.hpp"
#include "oracle/graphs.hpp"
#include "oracle/linear_algebra.hpp"
#include "oracle/tree_kernel.hpp"

namespace copse {
namespace {

SpanningForest any_tree(const GraphView& graph, std::uint64_t index) {
  return TreeSampler(graph, TreeKind::rst, {.seed = 3}).tree(index);
}

/// A path 0 - 1 - ... as a forest rooted at node 0; `weight(i)` joins nodes i - 1 and i.
template <class WeightOf>
SpanningForest path_forest(NodeId n, WeightOf weight) {
  SpanningForest forest{Buffer<NodeId>(n), Buffer<NodeId>(n), Buffer<Weight>(n)};
  for (NodeId i = 0; i < n; ++i) {
    forest.node[i] = i;
    forest.parent[i] = i == 0 ? 0 : i - 1;
    forest.weight[i] = i == 0 ? Weight{0} : weight(i);
  }
  return forest;
}

void expect_near(double value, long double wanted, long double scale, long double tolerance = 1e-12) {
  EXPECT_LE(std::fabs(value - wanted), tolerance * scale) << value << " instead of " << wanted;
}

TEST(TreeKernel, agrees_with_the_dense_pseudoinverse_connected_or_not) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    for (std::uint64_t index = 0; index < 3; ++index) {
      SCOPED_TRACE(name + ", tree " + std::to_string(index));
      const SpanningForest forest = any_tree(graph, index);
      const auto pinv = oracle::pseudoinverse(oracle::laplacian(oracle::as_graph(forest)));
      const TreeKernel kernel(forest);
      ASSERT_EQ(kernel.num_nodes(), graph.num_nodes());
      for (NodeId u = 0; u < graph.num_nodes(); ++u) {
        expect_near(kernel.diagonal(u), pinv(u, u), pinv(u, u), 1e-9);
        for (NodeId v = 0; v < graph.num_nodes(); ++v)
          expect_near(kernel.entry(u, v), pinv(u, v), std::sqrt(pinv(u, u) * pinv(v, v)), 1e-9);
      }
    }
  }
}

TEST(TreeKernel, resistance_is_the_length_of_the_path_and_infinite_between_trees) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const SpanningForest forest = any_tree(graph, 1);
    const auto distance = oracle::shortest_distances(oracle::as_graph(forest));
    const TreeKernel kernel(forest);
    for (NodeId u = 0; u < graph.num_nodes(); ++u)
      for (NodeId v = 0; v < graph.num_nodes(); ++v) {
        if (std::isinf(distance[u][v])) {
          EXPECT_EQ(kernel.resistance(u, v), distance[u][v]);
          EXPECT_EQ(kernel.entry(u, v), 0);
        } else {
          expect_near(kernel.resistance(u, v), distance[u][v], distance[u][v]);
        }
      }
  }
}

TEST(TreeKernel, keeps_nine_digits_when_weights_span_twelve_orders_and_more) {
  for (const double orders : {3.0, 12.0, 24.0}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      SCOPED_TRACE(testing::Message() << orders << " orders, seed " << seed);
      std::mt19937_64 random(seed);
      std::vector<Edge> edges = oracle::random_tree_edges(40, random, false);
      for (Edge& edge : edges)
        edge.weight = static_cast<Weight>(
            std::pow(10.0, orders * (static_cast<double>(random() % 10001) / 10000 - 0.5)));
      const SpanningForest forest = any_tree(graph_from_edges(40, edges), seed);
      const oracle::TreeByCuts twin(forest);
      const TreeKernel kernel(forest);
      EXPECT_EQ(kernel.is_wide(), orders >= 12);
      for (NodeId u = 0; u < 40; ++u) {
        expect_near(kernel.diagonal(u), twin.entry(u, u), twin.entry(u, u));
        for (NodeId v = 0; v < u; ++v) {
          expect_near(kernel.resistance(u, v), twin.resistance(u, v), twin.resistance(u, v), 1e-9);
          expect_near(kernel.entry(u, v), twin.entry(u, v), std::sqrt(twin.entry(u, u) * twin.entry(v, v)));
        }
      }
    }
  }
}

TEST(TreeKernel, resistances_right_to_two_to_the_minus_32_up_to_the_edge_of_64_bits) {
  // A long heavy path in front of light edges, just short of 2^28 times the smallest resistance.
  const SpanningForest forest = path_forest(400, [](NodeId i) {
    return i < 200 ? Weight{1.7e6F} : i == 200 ? Weight{0.02F} : Weight{3.1e6F};
  });
  const TreeKernel kernel(forest);
  ASSERT_FALSE(kernel.is_wide());
  for (NodeId i = 1; i < 400; ++i)
    expect_near(kernel.resistance(i - 1, i), 1 / static_cast<long double>(forest.weight[i]),
                1 / static_cast<long double>(forest.weight[i]), 0x1p-32L);
}

TEST(TreeKernel, takes_weights_across_the_whole_range_of_float) {
  const SpanningForest forest = path_forest(5, [](NodeId i) {
    return std::vector<Weight>{0, 1e-45F, 3e38F, 1e-38F, 1.0F}[i];
  });
  const TreeKernel kernel(forest);
  expect_near(kernel.resistance(0, 1), 1 / static_cast<long double>(1e-45F), 1e45L, 1e-9);
  EXPECT_GT(kernel.resistance(1, 2), 0);
  for (NodeId u = 0; u < 5; ++u)
    for (NodeId v = 0; v < 5; ++v) EXPECT_TRUE(std::isfinite(kernel.entry(u, v)));
}

TEST(TreeKernel, gram_matrices_hold_the_entries_in_any_order_with_repetitions_on_any_threads) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const TreeKernel kernel(any_tree(graph, 0));
    std::mt19937_64 random(5);
    std::vector<NodeId> rows, columns;
    for (int i = 0; i < 37; ++i) rows.push_back(static_cast<NodeId>(random() % graph.num_nodes()));
    for (int i = 0; i < 23; ++i) columns.push_back(static_cast<NodeId>(random() % graph.num_nodes()));
    std::vector<double> gram(rows.size() * columns.size()), same(gram.size());
    kernel.gram(rows, columns, gram, 1);
    kernel.gram(rows, columns, same, 4);
    EXPECT_EQ(gram, same);
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < columns.size(); ++j)
        EXPECT_EQ(gram[i * columns.size() + j], kernel.entry(rows[i], columns[j]));
    kernel.gram(rows, {}, {}, 1);
    kernel.gram({}, columns, {}, 1);
  }
}

TEST(TreeKernel, products_agree_with_the_entries_for_any_number_of_columns) {
  for (const auto& [name, graph] : oracle::small_graphs()) {
    SCOPED_TRACE(name);
    const std::size_t n = graph.num_nodes();
    const TreeKernel kernel(any_tree(graph, 2));
    std::mt19937_64 random(6);
    for (const std::size_t columns : {1, 2, 3, 4, 8, 11}) {
      std::vector<double> x(n * columns), y(x.size());
      for (double& value : x) value = static_cast<double>(random() % 2001) / 1000 - 1;
      kernel.multiply(x, y, columns);
      for (std::size_t c = 0; c < columns; ++c)
        for (NodeId u = 0; u < n; ++u) {
          double wanted = 0, scale = 0;
          for (NodeId v = 0; v < n; ++v) wanted += kernel.entry(u, v) * x[v * columns + c];
          for (NodeId v = 0; v < n; ++v) scale += std::fabs(kernel.entry(u, v)) + kernel.diagonal(v);
          expect_near(y[u * columns + c], wanted, scale);
        }
      kernel.multiply(x, x, columns);  // in place
      EXPECT_EQ(x, y);
    }
  }
}

TEST(TreeKernel, does_not_depend_on_the_root_of_the_tree) {
  const Graph tree = oracle::random_tree({.num_nodes = 200, .seed = 9, .weighted = true});
  const TreeSampler breadth(tree, TreeKind::bfst, {}), depth(tree, TreeKind::dfst, {.seed = 4});
  const TreeKernel a(breadth.tree(0)), b(depth.tree(0));
  for (NodeId u = 0; u < 200; ++u)
    for (NodeId v = 0; v < 200; ++v) {
      expect_near(a.entry(u, v), b.entry(u, v), a.diagonal(u) + a.diagonal(v), 1e-14);
      expect_near(a.resistance(u, v), b.resistance(u, v), a.resistance(u, v), 1e-12);
    }
}

TEST(TreeKernel, flower_graph_norms_meet_the_bounds_of_Herbster_Pontil_section_3) {
  // A chain of p stem nodes, the last of which carries m petals: ||v_1||^2 lies between
  // (p - 1) - (p - 1)^2 p^2 / (4m) and p.
  for (const NodeId p : {2, 5, 9}) {
    for (const NodeId m : {10, 1000, 100000}) {
      SCOPED_TRACE(testing::Message() << p << " stem nodes, " << m << " petals");
      std::vector<Edge> edges;
      for (NodeId i = 1; i < p; ++i) edges.push_back({i - 1, i});
      for (NodeId i = 0; i < m; ++i) edges.push_back({p - 1, p + i});
      const Graph flower = graph_from_pairs(p + m, edges);
      const double norm = TreeKernel(any_tree(flower, 0)).diagonal(0);
      EXPECT_LE(norm, p);
      EXPECT_GE(norm, (p - 1.0) - (p - 1.0) * (p - 1.0) * p * p / (4.0 * m));
    }
  }
}

TEST(TreeKernel, serves_a_path_of_a_million_nodes) {
  constexpr NodeId kNodes = 1000000;
  const TreeKernel kernel(path_forest(kNodes, [](NodeId) { return Weight{1}; }));
  EXPECT_EQ(kernel.resistance(0, kNodes - 1), kNodes - 1);
  // Of a path: L^+_00 = (n - 1)(2n - 1) / (6n).
  const double n = kNodes;
  EXPECT_NEAR(kernel.diagonal(0) / ((n - 1) * (2 * n - 1) / (6 * n)), 1, 1e-11);
  std::vector<double> x(kNodes);
  x[0] = 1;
  kernel.multiply(x, x);
  EXPECT_NEAR(x[0] / kernel.diagonal(0), 1, 1e-10);
  EXPECT_NEAR(x[kNodes - 1] / kernel.entry(0, kNodes - 1), 1, 1e-10);
}

TEST(TreeKernel, of_no_nodes_and_of_one_node) {
  EXPECT_EQ(TreeKernel(SpanningForest{}).num_nodes(), 0U);
  const TreeKernel kernel(any_tree(oracle::single_node(), 0));
  EXPECT_EQ(kernel.diagonal(0), 0);
  EXPECT_EQ(kernel.resistance(0, 0), 0);
}

TEST(TreeKernel, refuses_arrays_of_the_wrong_size) {
  const TreeKernel kernel(any_tree(oracle::path(4), 0));
  std::vector<double> three(3), four(4);
  EXPECT_THROW(kernel.multiply(three, four), std::logic_error);
  EXPECT_THROW(kernel.multiply(four, three), std::logic_error);
  EXPECT_THROW(kernel.multiply(four, four, 2), std::logic_error);
  const std::vector<NodeId> nodes = {0, 1};
  EXPECT_THROW(kernel.gram(nodes, nodes, three), std::logic_error);
}

}  // namespace
}  // namespace copse
