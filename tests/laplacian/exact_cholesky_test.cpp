// SPDX-License-Identifier: Apache-2.0
#include "laplacian/exact_cholesky.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "oracle/graphs.hpp"
#include "oracle/sparse_cholesky.hpp"

namespace copse {
namespace {

/// Cliques of `size` in a row, every two joined by an edge, under shuffled names.
Graph cliques(NodeId count, NodeId size, std::uint64_t seed) {
  std::vector<NodeId> name(std::size_t{count} * size);
  for (NodeId i = 0; i < name.size(); ++i) name[i] = i;
  std::shuffle(name.begin(), name.end(), std::mt19937_64(seed));
  std::vector<Edge> edges;
  for (NodeId c = 0; c < count; ++c) {
    for (NodeId i = 0; i < size; ++i) {
      for (NodeId j = i + 1; j < size; ++j) edges.push_back({name[c * size + i], name[c * size + j], 1});
    }
    if (c > 0) edges.push_back({name[c * size - 1], name[c * size], 2});
  }
  return graph_from_edges(count * size, edges);
}

/// Every graph that the tests below run on, and the nodes grounded.
struct Case {
  std::string name;
  Graph graph;
  std::vector<NodeId> grounded;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (auto& [name, graph] : oracle::small_graphs()) {
    all.push_back({name, std::move(graph), {}});
  }
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    all.push_back(
        {"random " + std::to_string(seed),
         oracle::random_graph(
             {.num_nodes = 90, .num_edges = 60 + 30 * seed, .seed = seed, .weighted = seed % 2 == 0}),
         seed % 3 == 0 ? std::vector<NodeId>{7, 8, 60} : std::vector<NodeId>{}});
  }
  all.push_back({"grid", oracle::grid(23, 31), {}});
  all.push_back({"grounded grid", oracle::grid(17, 40), {5, 100, 101}});
  all.push_back({"cliques", cliques(9, 11, 1), {}});
  all.push_back({"cliques of 40", cliques(4, 40, 2), {3}});
  all.push_back({"one clique", cliques(1, 70, 3), {}});
  all.push_back({"star", oracle::star(200), {}});
  all.push_back({"star, grounded leaf", oracle::star(200), {3}});
  all.push_back({"path", oracle::path(300), {}});
  all.push_back({"tree", oracle::random_tree({.num_nodes = 300, .seed = 4, .weighted = true}), {}});
  return all;
}

TEST(ExactCholesky, solves_as_eigens_factorization_does) {
  for (const auto& [name, graph, grounded] : cases()) {
    SCOPED_TRACE(name);
    const LaplacianSystem system = LaplacianSystem::of(graph, grounded, {});
    const auto factor = exact_cholesky(system);
    ASSERT_TRUE(factor);
    const std::size_t n = graph.num_nodes();
    for (const int width : {1, 2, 5, 8}) {
      const auto w = static_cast<std::size_t>(width);
      std::mt19937_64 random(3);
      std::vector<double> r(n * w), z((n + 1) * w);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < w; ++c)
          r[i * w + c] =
              system.is_fixed(static_cast<NodeId>(i)) ? 0 : static_cast<double>(random() % 2001) - 1000;
      std::copy(r.begin(), r.end(), z.begin());
      const ColumnValues product = factor->apply(z.data(), width);
      for (std::size_t c = 0; c < w; ++c) {
        std::vector<double> b(n);
        for (std::size_t i = 0; i < n; ++i) b[i] = r[i * w + c];
        const auto wanted = oracle::solve_by_eigen(graph, grounded, b);
        double size = 0, dot = 0;
        for (std::size_t i = 0; i < n; ++i) {
          size = std::max(size, std::abs(wanted[i]));
          dot += b[i] * wanted[i];
        }
        for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(z[i * w + c], wanted[i], 1e-10 * size) << i;
        EXPECT_NEAR(product[c], dot, 1e-9 * std::abs(dot));
      }
    }
  }
}

TEST(ExactCholesky, a_column_is_the_same_bits_alone_or_beside_others) {
  const Graph graph = oracle::grid(40, 40);
  const LaplacianSystem system = LaplacianSystem::of(graph, {}, {});
  const auto factor = exact_cholesky(system);
  std::mt19937_64 random(3);
  std::vector<double> together(1601 * 8);
  for (double& value : together) value = static_cast<double>(random() % 2001) - 1000;
  std::vector<double> alone(1601);
  for (std::size_t i = 0; i < 1600; ++i) alone[i] = together[i * 8 + 5];
  factor->apply(together.data(), 8);
  factor->apply(alone.data(), 1);
  for (std::size_t i = 0; i < 1600; ++i) ASSERT_EQ(alone[i], together[i * 8 + 5]);
}

}  // namespace
}  // namespace copse
