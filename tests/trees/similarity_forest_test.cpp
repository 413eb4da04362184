// SPDX-License-Identifier: Apache-2.0
#include "trees/similarity_forest.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "copse/support/error.hpp"
#include "expect_forest.hpp"
#include "oracle/graphs.hpp"
#include "oracle/trees.hpp"
#include "trees/minimum.hpp"
#include "trees/shortest_path.hpp"

namespace copse {
namespace {

struct Cloud {
  std::vector<float> values;
  std::size_t dimension;
  CoordinatesView view() const { return {values, dimension}; }
};

/// Points of a normal law around a few centres; with `lattice`, coordinates are whole: many distances tie.
Cloud cloud(NodeId num_points, std::size_t dimension, std::uint64_t seed, bool lattice = false) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return static_cast<float>(random() % 1000003) / 1000003.0F; };
  Cloud points{{}, dimension};
  for (NodeId i = 0; i < num_points; ++i)
    for (std::size_t d = 0; d < dimension; ++d) {
      const float x = uniform() + uniform() + uniform() + 5.0F * static_cast<float>(i % 3);
      points.values.push_back(lattice ? std::floor(4 * x) : x);
    }
  return points;
}

/// The complete graph with the logarithm of every weight beside it, in the order of the rows.
struct Complete {
  std::map<std::pair<NodeId, NodeId>, float> log_weight;
  Graph graph;
};

Complete complete_graph(const Similarity& similarity) {
  Complete complete;
  std::vector<Edge> edges;
  std::vector<NodeId> all(similarity.num_points);
  for (NodeId u = 0; u < similarity.num_points; ++u) all[u] = u;
  for (NodeId u = 0; u < similarity.num_points; ++u) {
    std::vector<float> row(all.size());
    similarity.log_weights(u, all, row.data());
    for (NodeId v = u + 1; v < similarity.num_points; ++v) {
      if (std::isinf(row[v])) continue;
      complete.log_weight[{u, v}] = row[v];
      const double weight = std::exp(static_cast<double>(row[v]));
      edges.push_back({u, v, std::max(static_cast<float>(weight), std::numeric_limits<float>::min())});
    }
  }
  complete.graph = graph_from_edges(similarity.num_points, edges);
  return complete;
}

TEST(SimilarityForest, both_methods_find_the_minimum_tree_of_the_complete_graph_exactly) {
  for (const bool lattice : {false, true}) {
    for (const std::size_t dimension : {1, 2, 3, 9, 20}) {
      SCOPED_TRACE(testing::Message() << dimension << " dimensions" << (lattice ? ", lattice" : ""));
      const Cloud points = cloud(150, dimension, dimension, lattice);
      const Similarity similarity = gaussian_similarity(points.view(), 0.3);
      const Complete complete = complete_graph(similarity);
      const auto wanted = oracle::minimum_forest_by(complete.graph, [&](const Edge& edge) {
        return -complete.log_weight.at({edge.u, edge.v});
      });
      const auto prim = minimum_similarity_forest(similarity, {.threads = 1}, SimilarityMethod::prim);
      EXPECT_EQ(oracle::edge_set(prim.forest), wanted);
      for (const int threads : {1, 4})
        for (const auto method :
             {SimilarityMethod::prim, SimilarityMethod::boruvka, SimilarityMethod::automatic})
          expect_equal(prim.forest,
                       minimum_similarity_forest(similarity, {.threads = threads}, method).forest);
    }
  }
}

TEST(SimilarityForest, is_a_forest_of_the_complete_graph_with_its_weights) {
  const Cloud points = cloud(120, 4, 3);
  const Similarity similarity = gaussian_similarity(points.view(), 0.1);
  const Complete complete = complete_graph(similarity);
  const auto found = minimum_similarity_forest(similarity, {});
  EXPECT_EQ(found.num_clamped, 0U);
  double sum = 0, wanted = 0;
  for (const Weight weight : found.forest.weight) sum += weight;
  for (const Weight weight : minimum_forest(complete.graph, std::vector<NodeId>{0}, 0, {}).weight)
    wanted += weight;
  EXPECT_NEAR(sum, wanted, 1e-5 * wanted);
}

TEST(SimilarityForest, keeps_the_order_where_the_weights_underflow) {
  // Points on a line, ever farther apart: all weights but the first few round to 0 as floats.
  std::vector<float> values;
  for (int i = 0; i < 40; ++i) values.push_back(static_cast<float>(i * i));
  const Similarity similarity = gaussian_similarity({values, 1}, 1.0);
  for (const auto method : {SimilarityMethod::prim, SimilarityMethod::boruvka}) {
    const auto found = minimum_similarity_forest(similarity, {}, method);
    oracle::EdgeSet chain;
    for (NodeId i = 1; i < 40; ++i) chain.push_back({i - 1, i});
    EXPECT_EQ(oracle::edge_set(found.forest), chain);
    EXPECT_GT(found.num_clamped, 30U);
    for (NodeId rank = 1; rank < 40; ++rank) EXPECT_GT(found.forest.weight[rank], 0);
  }
}

TEST(SimilarityForest, shortest_paths_are_those_of_the_complete_graph) {
  for (const bool lattice : {false, true}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << (lattice ? ", lattice" : ""));
      const Cloud points = cloud(100, 3, seed, lattice);
      const Similarity similarity = gaussian_similarity(points.view(), 0.02);
      // Weights as the forest stores them, so that both see the same resistances.
      std::vector<Edge> edges;
      for (NodeId u = 0; u < 100; ++u) {
        const auto star =
            shortest_similarity_forest({100,
                                        [&](NodeId point, std::span<const NodeId> others, float* out) {
                                          similarity.log_weights(point, others, out);
                                          for (std::size_t i = 0; i < others.size(); ++i)
                                            if (point != u) out[i] = -std::numeric_limits<float>::infinity();
                                        }},
                                       u, {});
        for (NodeId rank = 0; rank < 100; ++rank)
          if (star.forest.node[rank] > u && !star.forest.is_root(rank))
            edges.push_back({u, star.forest.node[rank], star.forest.weight[rank]});
      }
      const Graph graph = graph_from_edges(100, edges);
      ASSERT_EQ(graph.view().num_edges(), 4950U);
      const NodeId root = 37;
      const auto found = shortest_similarity_forest(similarity, root, {.threads = 1});
      check_forest(graph, found.forest);
      expect_equal(found.forest, shortest_path_forest(graph, std::vector<NodeId>{root}));
      expect_equal(found.forest, shortest_similarity_forest(similarity, root, {.threads = 4}).forest);
    }
  }
}

TEST(SimilarityForest, missing_edges_leave_several_trees) {
  // Points of equal remainder by 3 are similar, others are not at all.
  const Similarity thirds{50, [](NodeId point, std::span<const NodeId> others, float* out) {
                            for (std::size_t i = 0; i < others.size(); ++i)
                              out[i] = others[i] % 3 == point % 3 ? -static_cast<float>(others[i] + point)
                                                                  : -std::numeric_limits<float>::infinity();
                          }};
  const Complete complete = complete_graph(thirds);
  const auto wanted = oracle::minimum_forest_by(complete.graph, [&](const Edge& edge) {
    return -complete.log_weight.at({edge.u, edge.v});
  });
  for (const auto method : {SimilarityMethod::prim, SimilarityMethod::boruvka}) {
    const auto found = minimum_similarity_forest(thirds, {}, method);
    EXPECT_EQ(oracle::edge_set(found.forest), wanted);
    EXPECT_EQ(wanted.size(), 47U);
  }
  const auto paths = shortest_similarity_forest(thirds, 4, {});
  NodeId roots = 0;
  for (NodeId rank = 0; rank < 50; ++rank) roots += paths.forest.is_root(rank);
  EXPECT_EQ(roots, 3U);
}

TEST(SimilarityForest, of_no_point_one_point_and_equal_points) {
  EXPECT_EQ(minimum_similarity_forest({}, {}).forest.num_nodes(), 0U);
  EXPECT_EQ(shortest_similarity_forest({}, 0, {}).forest.num_nodes(), 0U);
  const std::vector<float> one = {1, 2}, same(60, 1.5F);
  EXPECT_EQ(minimum_similarity_forest(gaussian_similarity({one, 2}, 1), {}).forest.num_nodes(), 1U);
  const Similarity equal = gaussian_similarity({same, 2}, 1);
  const auto prim = minimum_similarity_forest(equal, {}, SimilarityMethod::prim);
  expect_equal(prim.forest, minimum_similarity_forest(equal, {}, SimilarityMethod::boruvka).forest);
  for (NodeId rank = 1; rank < 30; ++rank) EXPECT_EQ(prim.forest.parent[rank], 0U);  // ties: a star at 0
}

TEST(SimilarityForest, refuses_what_is_no_point_and_no_similarity) {
  const std::vector<float> values = {1, 2, NAN, 4}, fine = {1, 2, 3, 4};
  EXPECT_THROW(gaussian_similarity({values, 2}, 1), InputError);
  EXPECT_THROW(gaussian_similarity({fine, 3}, 1), UsageError);
  EXPECT_THROW(gaussian_similarity({fine, 0}, 1), UsageError);
  EXPECT_THROW(gaussian_similarity({fine, 2}, 0), UsageError);
  EXPECT_THROW(gaussian_similarity({fine, 2}, INFINITY), UsageError);
  EXPECT_THROW(shortest_similarity_forest(gaussian_similarity({fine, 2}, 1), 2, {}), UsageError);
  try {
    gaussian_similarity({values, 2}, 1);
  } catch (const InputError& error) {
    EXPECT_EQ(error.where(), "point 1");
  }
  const Similarity broken{
      3, [](NodeId, std::span<const NodeId> others, float* out) { std::fill_n(out, others.size(), NAN); }};
  EXPECT_THROW(minimum_similarity_forest(broken, {}, SimilarityMethod::prim), InputError);
  EXPECT_THROW(minimum_similarity_forest(broken, {}, SimilarityMethod::boruvka), InputError);
}

TEST(SimilarityForest, takes_points_so_far_apart_that_their_distance_overflows) {
  const std::vector<float> values = {-3e38F, 0, 3e38F};
  const auto found = minimum_similarity_forest(gaussian_similarity({values, 1}, 1e9), {});
  EXPECT_EQ(oracle::edge_set(found.forest).size(), 2U);
}

TEST(SimilarityTree, is_the_tree_of_the_complete_graph_with_weights_by_scale) {
  const Cloud points = cloud(40, 3, 5);
  const PointsView view{40, 3, points.values, {}, {}};
  for (const SimilarityTree kind : {SimilarityTree::mst, SimilarityTree::spt}) {
    const Graph tree = similarity_tree(view, kind, 2, {});
    const Similarity similarity = gaussian_similarity(points.view(), 0.25);
    const SimilarityForest expected = kind == SimilarityTree::mst
                                          ? minimum_similarity_forest(similarity, {})
                                          : shortest_similarity_forest(similarity, 0, {});
    EXPECT_EQ(tree.view().num_edges(), 39u);
    for (NodeId rank = 1; rank < 40; ++rank) {
      const NodeId u = expected.forest.node[rank], v = expected.forest.node[expected.forest.parent[rank]];
      const auto row = tree.view().neighbors_of(u);
      EXPECT_TRUE(std::ranges::binary_search(row, v)) << u << " " << v;
    }
  }
}

TEST(SimilarityTree, refuses_what_has_no_tree) {
  const Cloud points = cloud(4, 2, 1);
  const PointsView view{4, 2, points.values, {}, {}};
  for (const double scale : {0.0, -1.0, std::nan("")})
    EXPECT_THROW(similarity_tree(view, SimilarityTree::mst, scale, {}), UsageError);
  const std::vector<EdgeIndex> offsets{0, 1, 2};
  const std::vector<std::uint32_t> columns{0, 1};
  const std::vector<float> values{1, 2};
  EXPECT_THROW(similarity_tree({2, 2, values, offsets, columns}, SimilarityTree::mst, 1, {}), UsageError);
}

}  // namespace
}  // namespace copse
