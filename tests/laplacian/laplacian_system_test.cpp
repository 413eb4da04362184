// SPDX-License-Identifier: Apache-2.0
#include "laplacian/laplacian_system.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "oracle/dense_laplacian.hpp"
#include "oracle/graphs.hpp"

namespace copse {
namespace {

std::vector<double> random_values(std::size_t size) {
  std::mt19937_64 random(7);
  std::vector<double> values(size);
  for (double& value : values) value = static_cast<double>(random() % 2001) / 1000 - 1;
  return values;
}

TEST(LevelStructure, counts_level_times_level_and_the_one_before) {
  EXPECT_EQ(level_structure(oracle::path(10), 1000).fill, 1u + 9 * 2);
  EXPECT_EQ(level_structure(oracle::path(10), 1000).depth, 10u);
  const Graph star = graph_from_edges(5, {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {0, 4, 1}});
  EXPECT_EQ(level_structure(star, 1000).fill, 1u + 4 * 5);
  EXPECT_EQ(level_structure(star, 1000).depth, 2u);
  const Graph two = graph_from_edges(4, {{0, 1, 1}, {2, 3, 1}});
  EXPECT_EQ(level_structure(two, 1000).fill, 2 * (1u + 2));
  EXPECT_EQ(level_structure(two, 1000).depth, 2u) << "of one component, not of all";
  EXPECT_TRUE(level_structure(two, 1000).is_whole);
  const LevelStructure stopped = level_structure(oracle::path(10), 5);
  EXPECT_FALSE(stopped.is_whole);
  EXPECT_GT(stopped.fill, 5u);
  EXPECT_LT(stopped.fill, 10u);
  EXPECT_LT(stopped.depth, 10u);
}

TEST(LaplacianOperator, is_the_dense_laplacian_for_every_width) {
  for (const bool weighted : {false, true}) {
    const Graph graph =
        oracle::random_graph({.num_nodes = 50, .num_edges = 120, .seed = 2, .weighted = weighted});
    const LaplacianSystem system = LaplacianSystem::of(graph, {}, {});
    for (int width = 1; width <= kMaxWidth; ++width) {
      const auto p = random_values(50 * static_cast<std::size_t>(width));
      std::vector<double> q(p.size());
      const ColumnValues product = apply_laplacian(system, p.data(), q.data(), width);
      const auto wanted = oracle::multiply(oracle::laplacian(graph), p, static_cast<std::size_t>(width));
      for (std::size_t i = 0; i < q.size(); ++i) ASSERT_NEAR(q[i], wanted[i], 1e-12 * 100);
      for (int c = 0; c < width; ++c) {
        double dot = 0;
        for (std::size_t u = 0; u < 50; ++u)
          dot += p[u * static_cast<std::size_t>(width) + static_cast<std::size_t>(c)] *
                 wanted[u * static_cast<std::size_t>(width) + static_cast<std::size_t>(c)];
        EXPECT_NEAR(product[static_cast<std::size_t>(c)], dot, 1e-9 * dot);
      }
      const std::vector<float> rough(p.begin(), p.end());
      std::vector<float> rough_q(p.size());
      const ColumnValues rough_product = apply_laplacian(system, rough.data(), rough_q.data(), width);
      for (std::size_t i = 0; i < q.size(); ++i) ASSERT_NEAR(rough_q[i], wanted[i], 1e-6 * 100);
      for (int c = 0; c < width; ++c)
        EXPECT_NEAR(rough_product[static_cast<std::size_t>(c)], product[static_cast<std::size_t>(c)],
                    1e-5 * product[static_cast<std::size_t>(c)]);
    }
  }
}

TEST(LaplacianSystem, tells_singular_components_from_grounded_and_isolated_nodes) {
  const Graph graph = oracle::two_components_and_an_isolated_node();
  const LaplacianSystem system = LaplacianSystem::of(graph, std::vector<NodeId>{3}, {});
  EXPECT_EQ(system.sizes, std::vector<NodeId>{3});
  EXPECT_EQ(system.num_free, 5U);
  for (const NodeId u : {0, 2, 4}) EXPECT_EQ(system.singular[u], 0U);
  for (const NodeId u : {1, 3, 5, 6}) EXPECT_EQ(system.singular[u], kNoNode);
  EXPECT_TRUE(system.is_fixed(3));
  EXPECT_TRUE(system.is_fixed(6));
  EXPECT_FALSE(system.is_fixed(1));
}

TEST(LaplacianSystem, means_the_same_in_another_order) {
  const Graph graph = oracle::random_graph({.num_nodes = 60, .num_edges = 90, .seed = 5, .weighted = true});
  const LaplacianSystem system = LaplacianSystem::of(graph, std::vector<NodeId>{4, 9}, {});
  auto p = random_values(60);
  p[4] = p[9] = 0;
  std::vector<double> q(60), moved_p(60), moved_q(60);
  apply_laplacian(system, p.data(), q.data(), 1);
  const ReorderedSystem moved = reorder(system, breadth_first_order(graph));
  auto sorted = moved.order;
  std::sort(sorted.begin(), sorted.end());
  for (NodeId u = 0; u < 60; ++u) ASSERT_EQ(sorted[u], u);
  for (NodeId i = 0; i < 60; ++i) {
    moved_p[i] = p[moved.order[i]];
    EXPECT_EQ(moved.system.singular[i], system.singular[moved.order[i]]);
  }
  apply_laplacian(moved.system, moved_p.data(), moved_q.data(), 1);
  for (NodeId i = 0; i < 60; ++i) EXPECT_EQ(moved_q[i], q[moved.order[i]]);
}

TEST(BreadthFirstOrder, brings_a_shuffled_grid_close_together) {
  constexpr NodeId kSide = 300;
  std::vector<NodeId> name(kSide * kSide);
  for (NodeId u = 0; u < name.size(); ++u) name[u] = u;
  std::shuffle(name.begin(), name.end(), std::mt19937_64(3));
  std::vector<Edge> edges;
  for (NodeId u = 0; u < name.size(); ++u) {
    if (u % kSide + 1 < kSide) edges.push_back({name[u], name[u + 1]});
    if (u / kSide + 1 < kSide) edges.push_back({name[u], name[u + kSide]});
  }
  const Graph graph = graph_from_pairs(kSide * kSide, edges);
  EXPECT_FALSE(has_local_order(graph));
  EXPECT_TRUE(has_local_order(graph, breadth_first_order(graph)));
}

}  // namespace
}  // namespace copse
