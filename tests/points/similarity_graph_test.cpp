// SPDX-License-Identifier: Apache-2.0
#include "copse/points/similarity_graph.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "copse/graph/components.hpp"
#include "copse/support/error.hpp"
#include "graph/edges_of.hpp"
#include "oracle/neighbors.hpp"

namespace copse {
namespace {

using oracle::EdgeMap;
using oracle::edges_of;
using oracle::Rows;
using Pairs = std::set<std::pair<NodeId, NodeId>>;

Execution on_threads(int threads) {
  Execution execution;
  execution.threads = threads;
  return execution;
}

SimilarityOptions graph_options_of(std::uint32_t k, Weighting weighting = Weighting::none) {
  SimilarityOptions options;
  options.neighbors.k = k;
  options.weighting = weighting;
  return options;
}

Pairs pairs_of(const GraphView& graph) {
  Pairs pairs;
  for (const auto& [pair, weight] : edges_of(graph)) pairs.insert({pair.first, pair.second});
  return pairs;
}

// The pairs (i, j), i < j, in which `both` or either has the other among its k nearest.
Pairs slow_pairs(const Rows& rows, std::size_t k, bool both) {
  std::set<std::pair<NodeId, NodeId>> arcs;
  for (NodeId i = 0; i < rows.size(); ++i)
    for (const auto& [d, j] : oracle::brute_force(rows, i, k, oracle::squared_distance)) arcs.insert({i, j});
  Pairs pairs;
  for (const auto& [i, j] : arcs)
    if (!both || arcs.count({j, i}) != 0) pairs.insert({std::min(i, j), std::max(i, j)});
  return pairs;
}

double mean_square(const Rows& rows, std::size_t row, std::size_t k) {
  double sum = 0;
  for (const auto& [d, j] : oracle::brute_force(rows, row, k, oracle::squared_distance)) sum += d;
  return sum / static_cast<double>(k);
}

TEST(SimilarityGraph, union_and_mutual_are_what_their_names_say) {
  const Rows rows = oracle::clustered_rows(400, 6, 3);
  SimilarityOptions options = graph_options_of(7);
  EXPECT_EQ(pairs_of(similarity_graph(oracle::to_points(rows), options, on_threads(2))),
            slow_pairs(rows, 7, false));
  options.symmetrize = Symmetrize::mutual;
  EXPECT_EQ(pairs_of(similarity_graph(oracle::to_points(rows), options, on_threads(2))),
            slow_pairs(rows, 7, true));
}

TEST(SimilarityGraph, is_a_proper_graph_and_the_same_on_any_number_of_threads) {
  const Points points = oracle::to_points(oracle::clustered_rows(1500, 8, 5));
  SimilarityOptions options = graph_options_of(9, Weighting::local);
  options.connect = true;
  const Graph one = similarity_graph(points, options, on_threads(1));
  const Graph many = similarity_graph(points, options, on_threads(4));
  EXPECT_NO_THROW(check_graph(one, "test"));
  EXPECT_EQ(edges_of(one), edges_of(many));
}

TEST(SimilarityGraph, local_weights_follow_the_formula_of_the_paper) {
  const Rows rows = oracle::clustered_rows(200, 5, 7);
  const Graph graph =
      similarity_graph(oracle::to_points(rows), graph_options_of(6, Weighting::local), on_threads(2));
  const EdgeMap edges = edges_of(graph);
  ASSERT_FALSE(edges.empty());
  for (const auto& [pair, weight] : edges) {
    const double width = (mean_square(rows, pair.first, 6) + mean_square(rows, pair.second, 6)) / 2;
    const double expected = std::exp(-oracle::squared_distance(rows[pair.first], rows[pair.second]) / width);
    EXPECT_NEAR(weight, expected, 1e-6 * expected);
  }
}

TEST(SimilarityGraph, gaussian_and_heat_weights_take_a_scale) {
  const Rows rows = oracle::clustered_rows(100, 3, 9);
  for (const Weighting weighting : {Weighting::gaussian, Weighting::heat}) {
    SimilarityOptions options = graph_options_of(5, weighting);
    options.scale = 1.75;
    SimilarityReport report;
    for (const auto& [pair, weight] :
         edges_of(similarity_graph(oracle::to_points(rows), options, {}, &report))) {
      const double square = oracle::squared_distance(rows[pair.first], rows[pair.second]);
      const double expected =
          std::exp(weighting == Weighting::heat ? -std::sqrt(square) / 1.75 : -square / (1.75 * 1.75));
      EXPECT_NEAR(weight, expected, 1e-6 * expected);
    }
    EXPECT_EQ(report.scale, 1.75);
    EXPECT_EQ(report.num_squeezed, 0u);
  }
}

TEST(SimilarityGraph, without_a_scale_it_is_the_root_mean_square_distance_to_the_nearest) {
  const Rows rows = oracle::clustered_rows(150, 3, 11);
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) sum += mean_square(rows, i, 4);
  SimilarityReport report;
  similarity_graph(oracle::to_points(rows), graph_options_of(4, Weighting::gaussian), {}, &report);
  EXPECT_NEAR(report.scale, std::sqrt(sum / 150), 1e-12);
}

TEST(SimilarityGraph, similarities_are_weights_and_pairs_without_one_no_edges) {
  const Rows rows{{1, 0}, {1, 1}, {0, 1}, {-1, 0.5F}};
  SimilarityOptions options = graph_options_of(3, Weighting::similarity);
  options.neighbors.metric = Metric::cosine;
  SimilarityReport report;
  const EdgeMap edges = edges_of(similarity_graph(oracle::to_points(rows), options, {}, &report));
  EXPECT_EQ(edges.size(), 3u);
  EXPECT_NEAR(edges.at({0, 1}), std::sqrt(0.5), 1e-7);
  EXPECT_NEAR(edges.at({2, 3}), 0.5 / std::sqrt(1.25), 1e-7);
  EXPECT_EQ(report.num_not_similar, 3u);
  options.neighbors.metric = Metric::inner;
  const EdgeMap products = edges_of(similarity_graph(oracle::to_points(rows), options, {}));
  EXPECT_EQ(products, (EdgeMap{{{0, 1}, 1}, {{1, 2}, 1}, {{2, 3}, 0.5}}));
}

TEST(SimilarityGraph, within_a_radius_are_all_pairs_at_that_distance_and_no_other) {
  Rows rows;
  for (int x = 0; x < 40; ++x)
    for (int y = 0; y < 10; ++y) rows.push_back({static_cast<float>(x), static_cast<float>(y)});
  SimilarityOptions options = graph_options_of(1);
  options.rule = PairRule::radius;
  for (const double radius : {1.0, 1.4, 1.5, 5.0}) {
    options.radius = radius;
    Pairs expected;
    for (NodeId i = 0; i < rows.size(); ++i)
      for (NodeId j = i + 1; j < rows.size(); ++j)
        if (oracle::squared_distance(rows[i], rows[j]) <= radius * radius) expected.insert({i, j});
    EXPECT_EQ(pairs_of(similarity_graph(oracle::to_points(rows), options, on_threads(2))), expected)
        << radius;
    EXPECT_EQ(pairs_of(similarity_graph(oracle::to_sparse(rows), options, on_threads(2))), expected)
        << radius;
  }
}

TEST(SimilarityGraph, complete_is_every_pair) {
  const Rows rows = oracle::clustered_rows(60, 4, 13);
  SimilarityOptions options = graph_options_of(5, Weighting::gaussian);
  options.rule = PairRule::complete;
  options.scale = 3;
  const Graph graph = similarity_graph(oracle::to_points(rows), options, on_threads(2));
  EXPECT_EQ(graph.view().num_edges(), 60u * 59 / 2);
  for (const auto& [pair, weight] : edges_of(graph)) {
    const double expected = std::exp(-oracle::squared_distance(rows[pair.first], rows[pair.second]) / 9);
    EXPECT_NEAR(weight, expected, 1e-6 * expected);
  }
}

TEST(SimilarityGraph, that_would_not_fit_is_refused_with_its_bytes_before_the_start) {
  PointsView points;
  points.num_points = 1'000'000;
  points.num_columns = 2;
  std::vector<float> nothing;  // never looked at
  points.values = nothing;
  SimilarityOptions options = graph_options_of(5, Weighting::gaussian);
  options.scale = 1;
  options.rule = PairRule::complete;
  options.max_bytes = std::uint64_t{8} << 30;
  try {
    similarity_graph(points, options, {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.problem(),
              "the graph needs about 15,999,992,000,000 bytes, and 8,589,934,592 are allowed");
  }
}

TEST(SimilarityGraph, of_a_radius_that_is_too_wide_stops_at_the_limit) {
  SimilarityOptions options = graph_options_of(5);
  options.rule = PairRule::radius;
  options.radius = 100;
  options.max_bytes = 1 << 17;
  EXPECT_THROW(similarity_graph(oracle::to_points(oracle::clustered_rows(500, 2, 1)), options, on_threads(2)),
               UsageError);
}

// Kruskal on all pairs, starting from the edges that are there: the slow twin of joining.
Pairs slow_joining(const Rows& rows, const GraphView& graph) {
  std::vector<NodeId> root(rows.size());
  for (NodeId i = 0; i < root.size(); ++i) root[i] = i;
  const auto find = [&](NodeId a) {
    while (root[a] != a) a = root[a];
    return a;
  };
  for (const auto& [i, j] : pairs_of(graph)) root[find(i)] = find(j);
  std::vector<std::tuple<double, NodeId, NodeId>> all;
  for (NodeId i = 0; i < rows.size(); ++i)
    for (NodeId j = i + 1; j < rows.size(); ++j)
      all.emplace_back(oracle::squared_distance(rows[i], rows[j]), i, j);
  std::sort(all.begin(), all.end());
  Pairs added;
  for (const auto& [d, i, j] : all) {
    if (find(i) == find(j)) continue;
    root[find(i)] = find(j);
    added.insert({i, j});
  }
  return added;
}

TEST(SimilarityGraph, connect_adds_what_a_minimum_spanning_tree_would) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    Rows rows = oracle::clustered_rows(180, 2, seed);
    if (seed % 2 == 1)  // ties everywhere
      for (auto& row : rows)
        for (float& value : row) value = std::round(value);
    SimilarityOptions options = graph_options_of(seed % 3 + 1);
    const Graph apart = similarity_graph(oracle::to_points(rows), options, on_threads(2));
    options.connect = true;
    SimilarityReport report;
    const Graph joined = similarity_graph(oracle::to_points(rows), options, on_threads(2), &report);
    Pairs expected = pairs_of(apart);
    const Pairs added = slow_joining(rows, apart);
    EXPECT_EQ(report.num_joining_edges, added.size());
    EXPECT_EQ(report.num_components, 1u);
    expected.insert(added.begin(), added.end());
    EXPECT_EQ(pairs_of(joined), expected);
  }
}

TEST(SimilarityGraph, weights_that_underflow_keep_their_order_and_are_counted) {
  // On a line at 0, 1, 3, 7, ...: squared distances grow far beyond what exp() can hold.
  Rows rows;
  for (int i = 0; i < 12; ++i) rows.push_back({static_cast<float>((1 << i) - 1)});
  SimilarityOptions options = graph_options_of(1, Weighting::gaussian);
  options.rule = PairRule::complete;
  options.scale = 0.5;
  SimilarityReport report;
  const Graph graph = similarity_graph(oracle::to_points(rows), options, {}, &report);
  EXPECT_NO_THROW(check_graph(graph, "test"));
  const EdgeMap edges = edges_of(graph);
  EXPECT_EQ(edges.size(), 66u);
  EXPECT_NEAR(report.log_divisor, -4, 1e-12) << "the largest weight, exp(-1 / 0.25), becomes 1";
  EXPECT_EQ(edges.at({0, 1}), 1);
  EXPECT_NEAR(report.smallest_log_weight, -4.0 * 2047 * 2047 + 4, 1e-6);
  std::uint64_t num_squeezed = 0;
  for (const auto& [a, weight_a] : edges) {
    num_squeezed += weight_a < 0x1p-100F;
    for (const auto& [b, weight_b] : edges) {
      const double square_a = oracle::squared_distance(rows[a.first], rows[a.second]);
      const double square_b = oracle::squared_distance(rows[b.first], rows[b.second]);
      EXPECT_EQ(weight_a<weight_b, square_a> square_b);
    }
  }
  EXPECT_EQ(num_squeezed, report.num_squeezed);
  EXPECT_GT(num_squeezed, 30u);
}

TEST(SimilarityGraph, weights_that_fit_once_divided_are_not_squeezed) {
  const Rows rows{{0}, {10}, {20.5F}};
  SimilarityOptions options = graph_options_of(1, Weighting::gaussian);
  options.scale = 1;
  SimilarityReport report;
  const EdgeMap edges = edges_of(similarity_graph(oracle::to_points(rows), options, {}, &report));
  EXPECT_EQ(report.log_divisor, -100);
  EXPECT_EQ(report.num_squeezed, 0u);
  EXPECT_NEAR(edges.at({1, 2}), std::exp(-10.25), 1e-11);
}

TEST(SimilarityGraph, duplicate_points_are_joined_with_weight_one_and_counted) {
  const Rows rows{{1, 1}, {1, 1}, {1, 1}, {5, 5}, {5, 5}, {5, 5}};
  for (const Weighting weighting : {Weighting::local, Weighting::gaussian, Weighting::heat}) {
    SimilarityReport report;
    const Graph graph =
        similarity_graph(oracle::to_points(rows), graph_options_of(2, weighting), {}, &report);
    EXPECT_EQ(report.num_coinciding, 6u);
    EXPECT_EQ(report.num_components, 2u);
    for (const auto& [pair, weight] : edges_of(graph)) EXPECT_EQ(weight, 1);
  }
  // Joined across, where the local scale is 0: as light as can be, and positive.
  SimilarityOptions options = graph_options_of(2, Weighting::local);
  options.connect = true;
  SimilarityReport report;
  const EdgeMap edges = edges_of(similarity_graph(oracle::to_points(rows), options, {}, &report));
  EXPECT_EQ(report.num_squeezed, 1u);
  EXPECT_GT(edges.at({0, 3}), 0);
  EXPECT_LT(edges.at({0, 3}), 0x1p-100F);
}

TEST(SimilarityGraph, constant_columns_change_nothing) {
  Rows rows = oracle::clustered_rows(200, 4, 15);
  const EdgeMap before =
      edges_of(similarity_graph(oracle::to_points(rows), graph_options_of(5, Weighting::local), {}));
  for (auto& row : rows) row.insert(row.begin() + 2, 12345.678F);
  EXPECT_EQ(edges_of(similarity_graph(oracle::to_points(rows), graph_options_of(5, Weighting::local), {})),
            before);
}

TEST(SimilarityGraph, combinations_that_make_no_sense_are_refused) {
  const Points points = oracle::to_points(oracle::clustered_rows(20, 2, 1));
  const auto refused = [&](auto change) {
    SimilarityOptions options = graph_options_of(3, Weighting::gaussian);
    change(options);
    EXPECT_THROW(similarity_graph(points, options, {}), UsageError);
  };
  refused([](SimilarityOptions& o) { o.scale = -1; });
  refused([](SimilarityOptions& o) { o.scale = std::nan(""); });
  refused([](SimilarityOptions& o) { o.weighting = Weighting::similarity; });
  refused([](SimilarityOptions& o) { o.neighbors.metric = Metric::inner; });
  refused([](SimilarityOptions& o) { o.weighting = Weighting::local, o.scale = 2; });
  refused([](SimilarityOptions& o) { o.rule = PairRule::radius; });
  refused([](SimilarityOptions& o) {
    o.rule = PairRule::radius, o.radius = 1, o.weighting = Weighting::none,
    o.neighbors.metric = Metric::inner;
  });
  refused([](SimilarityOptions& o) { o.neighbors.k = 20; });
  EXPECT_THROW(similarity_graph(oracle::to_points({{1.0F}}), graph_options_of(1), {}), UsageError);
}

TEST(SimilarityGraph, of_given_neighbours_is_that_of_searched_ones) {
  const Points points = oracle::to_points(oracle::clustered_rows(200, 4, 3));
  for (const Symmetrize symmetrize : {Symmetrize::either, Symmetrize::mutual}) {
    SimilarityOptions options;
    options.neighbors.k = 7;
    options.symmetrize = symmetrize;
    const Graph searched = similarity_graph(points, options, {});
    const Graph given =
        similarity_graph(points, nearest_neighbors(points, options.neighbors, {}), options, {});
    EXPECT_TRUE(std::ranges::equal(given.view().neighbors, searched.view().neighbors));
    EXPECT_TRUE(std::ranges::equal(given.view().weights, searched.view().weights));
  }
}

TEST(SimilarityGraph, of_neighbours_that_cannot_be_is_refused) {
  const Points points = oracle::to_points(oracle::clustered_rows(20, 4, 3));
  SimilarityOptions options;
  options.neighbors.k = 3;
  const auto found = [&] { return nearest_neighbors(points, options.neighbors, {}); };
  Neighbors beyond = found(), itself = found();
  beyond.ids[5] = 20;
  itself.ids[0] = 0;
  EXPECT_THROW(similarity_graph(points, std::move(beyond), options, {}), UsageError);
  EXPECT_THROW(similarity_graph(points, std::move(itself), options, {}), UsageError);
  EXPECT_THROW(similarity_graph(points, Neighbors{}, options, {}), UsageError);
  Neighbors fine = found();
  options.neighbors.k = 4;
  EXPECT_THROW(similarity_graph(points, std::move(fine), options, {}), UsageError);
  options.neighbors.k = 3;
  options.rule = PairRule::complete;
  EXPECT_THROW(similarity_graph(points, found(), options, {}), UsageError);
}

}  // namespace
}  // namespace copse
