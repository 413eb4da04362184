// SPDX-License-Identifier: Apache-2.0
#include "copse/points/neighbors.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <tuple>

#include "copse/support/error.hpp"
#include "oracle/neighbors.hpp"

namespace copse {
namespace {

using oracle::Rows;

Execution with_threads(int threads, std::uint64_t seed = 1) {
  Execution execution;
  execution.threads = threads;
  execution.seed = seed;
  return execution;
}

NeighborOptions options_of(std::uint32_t k, Metric metric = Metric::euclidean,
                           NeighborMethod method = NeighborMethod::exact) {
  NeighborOptions options;
  options.k = k;
  options.metric = metric;
  options.method = method;
  return options;
}

// Equal to the last bit, on one thread and on several. What the one reported.
NeighborReport expect_same_on_any_number_of_threads(const Points& points, const NeighborOptions& options) {
  NeighborReport report;
  const Neighbors one = nearest_neighbors(points, options, with_threads(1), &report);
  const Neighbors many = nearest_neighbors(points, options, with_threads(5));
  EXPECT_TRUE(std::equal(one.ids.begin(), one.ids.end(), many.ids.begin(), many.ids.end()));
  EXPECT_TRUE(std::equal(one.discrepancies.begin(), one.discrepancies.end(), many.discrepancies.begin(),
                         many.discrepancies.end()));
  return report;
}

constexpr std::pair<Metric, oracle::Discrepancy> kMetrics[] = {
    {Metric::euclidean, oracle::squared_distance},
    {Metric::cosine, oracle::squared_angle_distance},
    {Metric::inner, oracle::minus_product},
};

// Equal to the last bit: ids and discrepancies.
void expect_brute_force(const Rows& rows, const Neighbors& found, oracle::Discrepancy discrepancy,
                        std::size_t step = 1) {
  for (std::size_t i = 0; i < rows.size(); i += step) {
    SCOPED_TRACE(i);
    const auto truth = oracle::brute_force(rows, i, found.k, discrepancy);
    for (std::size_t p = 0; p < found.k; ++p) {
      ASSERT_EQ(found.of(i)[p], truth[p].second) << "place " << p;
      ASSERT_EQ(found.discrepancies_of(i)[p], truth[p].first) << "place " << p;
    }
  }
}

TEST(ExactNeighbors, equal_brute_force_to_the_last_bit) {
  for (const auto& [metric, discrepancy] : kMetrics) {
    for (const auto& [n, d, k] : {std::tuple{2, 1, 1}, {5, 3, 4}, {40, 1, 7}, {700, 17, 10}, {1500, 5, 30}}) {
      SCOPED_TRACE(testing::Message() << n << " x " << d << ", metric " << static_cast<int>(metric));
      const Rows rows = oracle::clustered_rows(static_cast<std::size_t>(n), static_cast<std::size_t>(d), 7);
      const Neighbors found = nearest_neighbors(
          oracle::to_points(rows), options_of(static_cast<std::uint32_t>(k), metric), with_threads(2));
      expect_brute_force(rows, found, discrepancy);
    }
  }
}

TEST(ExactNeighbors, of_sparse_rows_equal_those_of_dense_ones) {
  for (const auto& [metric, discrepancy] : kMetrics) {
    Rows rows = oracle::clustered_rows(300, 40, 3);
    for (auto& row : rows)
      for (float& value : row)
        if (std::abs(value) < 3.5F) value = 0;
    for (auto& row : rows) row[0] = 1;  // no row of zeros: cosine has no answer for those
    const Neighbors found =
        nearest_neighbors(oracle::to_sparse(rows), options_of(8, metric), with_threads(2));
    expect_brute_force(rows, found, discrepancy);
  }
}

TEST(ExactNeighbors, of_hashed_features_cost_what_occurs_not_the_largest_column) {
  const std::vector<EdgeIndex> offsets{0, 2, 4, 5};
  const std::vector<std::uint32_t> columns{3, 4294967290, 3, 4294967290, 77};
  const std::vector<float> values{1, 2, 1, 3, 5};
  PointsView points;
  points.num_points = 3;
  points.num_columns = 4294967291;
  points.offsets = offsets;
  points.columns = columns;
  points.values = values;
  const Neighbors found = nearest_neighbors(points, options_of(2), with_threads(2));
  EXPECT_EQ(std::vector<NodeId>(found.ids.begin(), found.ids.end()), (std::vector<NodeId>{1, 2, 0, 2, 0, 1}));
  EXPECT_EQ(found.discrepancies_of(0)[1], 1 + 4 + 25);
}

TEST(ExactNeighbors, ties_go_to_the_lower_row_on_a_grid) {
  Rows rows;
  for (int x = 0; x < 30; ++x)
    for (int y = 0; y < 30; ++y) rows.push_back({static_cast<float>(x), static_cast<float>(y)});
  NeighborReport report;
  const Neighbors found = nearest_neighbors(oracle::to_points(rows), options_of(3), with_threads(2), &report);
  expect_brute_force(rows, found, oracle::squared_distance);
}

TEST(ExactNeighbors, many_copies_of_a_point_are_at_distance_zero_lowest_rows_first) {
  Rows rows(3000, {1.5F, -2.25F, 1e-3F});
  rows[2999] = {9, 9, 9};
  NeighborReport report;
  const Neighbors found = nearest_neighbors(oracle::to_points(rows), options_of(4), with_threads(2), &report);
  EXPECT_GT(report.num_searched_again, 2000u) << "single precision cannot tell copies apart";
  expect_brute_force(rows, found, oracle::squared_distance, 499);
}

TEST(ExactNeighbors, survive_a_large_offset_that_single_precision_would_drown_in) {
  // Differences of 1/8 on top of 10^6, where a float has steps of 1/16, beside a constant column.
  Rows rows = oracle::clustered_rows(400, 3, 11);
  for (auto& row : rows) {
    for (float& value : row) value = 1e6F + std::round(value * 8) / 8;
    row.push_back(-7e8F);
  }
  const Neighbors found = nearest_neighbors(oracle::to_points(rows), options_of(5), with_threads(2));
  expect_brute_force(rows, found, oracle::squared_distance);
}

TEST(ExactNeighbors, survive_numbers_whose_squares_leave_the_range_of_a_float) {
  for (const float size : {1e30F, 1e-30F}) {
    Rows rows = oracle::clustered_rows(200, 4, 13);
    for (auto& row : rows)
      for (float& value : row) value *= size;
    for (const auto& [metric, discrepancy] : kMetrics)
      expect_brute_force(rows,
                         nearest_neighbors(oracle::to_points(rows), options_of(5, metric), with_threads(2)),
                         discrepancy);
  }
}

TEST(ExactNeighbors, one_far_point_costs_the_others_nothing) {
  Rows rows = oracle::clustered_rows(300, 6, 17);
  rows[150].assign(6, 1e20F);
  expect_brute_force(rows, nearest_neighbors(oracle::to_points(rows), options_of(5), with_threads(2)),
                     oracle::squared_distance);
}

TEST(ExactNeighbors, do_not_depend_on_the_number_of_threads) {
  expect_same_on_any_number_of_threads(oracle::to_points(oracle::clustered_rows(2000, 12, 5)),
                                       options_of(10));
}

TEST(ExactNeighbors, of_some_rows_are_those_of_all) {
  const Points points = oracle::to_points(oracle::clustered_rows(600, 9, 19));
  const Neighbors all = nearest_neighbors(points, options_of(6), with_threads(2));
  // In any order: the last two begin and end as runs of rows do, and are none.
  for (const std::vector<NodeId>& rows :
       std::vector<std::vector<NodeId>>{{599, 0, 17, 300}, {5, 6, 7, 8}, {0, 2, 1, 3}, {10, 10, 300, 13}}) {
    const Neighbors some = nearest_neighbors_of(points, rows, options_of(6), with_threads(2));
    for (std::size_t slot = 0; slot < rows.size(); ++slot)
      EXPECT_TRUE(std::equal(some.of(slot).begin(), some.of(slot).end(), all.of(rows[slot]).begin()))
          << "row " << rows[slot];
  }
}

TEST(ExactNeighbors, equal_brute_force_on_small_whole_numbers) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](std::size_t low, std::size_t high) { return low + random() % (high - low + 1); };
    const std::size_t n = draw(2, 60), d = draw(1, 4), k = draw(1, n - 1);
    Rows rows(n, std::vector<float>(d));
    for (auto& row : rows)
      for (float& value : row) value = static_cast<float>(draw(0, 6)) - 3;
    const Neighbors found = nearest_neighbors(oracle::to_points(rows),
                                              options_of(static_cast<std::uint32_t>(k)), with_threads(1));
    expect_brute_force(rows, found, oracle::squared_distance);
  }
}

TEST(Neighbors, more_neighbours_than_other_points_are_refused) {
  const Points points = oracle::to_points(oracle::clustered_rows(5, 2, 1));
  try {
    nearest_neighbors(points, options_of(5), {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "k: 5 neighbours are asked for, and a point has only 4 others\n"
                 "  ask for 4 or fewer, or for the complete graph");
  }
  EXPECT_THROW(nearest_neighbors(points, options_of(0), {}), UsageError);
}

TEST(Neighbors, a_row_of_zeros_has_no_direction) {
  Rows rows = oracle::clustered_rows(5, 2, 1);
  rows[3] = {0, 0};
  for (const Points& points : {oracle::to_points(rows), oracle::to_sparse(rows)}) {
    try {
      nearest_neighbors(points, options_of(2, Metric::cosine), {});
      FAIL();
    } catch (const InputError& error) {
      EXPECT_EQ(error.problem(), "row 3 is all zeros: it has no direction");
    }
  }
}

TEST(Neighbors, an_interrupted_search_stops) {
  struct Stop final : Progress {
    void report(std::string_view, std::uint64_t, std::uint64_t) override {}
    bool cancelled() const override { return true; }
  } stop;
  Execution execution = with_threads(2);
  execution.progress = &stop;
  const Points points = oracle::to_points(oracle::clustered_rows(500, 4, 1));
  EXPECT_THROW(nearest_neighbors(points, options_of(5), execution), Cancelled);
  EXPECT_THROW(
      nearest_neighbors(points, options_of(5, Metric::euclidean, NeighborMethod::approximate), execution),
      Cancelled);
}

TEST(Neighbors, automatic_is_exact_for_few_points_and_for_sparse_ones) {
  PointsView points;
  points.num_points = 9'298;  // USPS
  points.num_columns = 256;
  NeighborOptions options;
  EXPECT_EQ(chosen_method(points, options), NeighborMethod::exact);
  points.num_points = 1'000'000;
  points.num_columns = 32;
  EXPECT_EQ(chosen_method(points, options), NeighborMethod::approximate);
  const std::vector<EdgeIndex> offsets(2);
  points.offsets = offsets;
  EXPECT_EQ(chosen_method(points, options), NeighborMethod::exact);
}

double share_found(const Rows& rows, const Neighbors& found, std::size_t step) {
  std::size_t right = 0, total = 0;
  for (std::size_t i = 0; i < rows.size(); i += step) {
    const auto truth = oracle::brute_force(rows, i, found.k, oracle::squared_distance);
    for (std::size_t p = 0; p < found.k; ++p, ++total) {
      EXPECT_EQ(found.discrepancies_of(i)[p], oracle::squared_distance(rows[i], rows[found.of(i)[p]]));
      right += found.discrepancies_of(i)[p] <= truth.back().first;
    }
  }
  return static_cast<double>(right) / static_cast<double>(total);
}

TEST(ApproximateNeighbors, find_what_is_wanted_and_say_how_many) {
  const Rows rows = oracle::clustered_rows(20'000, 6, 23);
  NeighborOptions options = options_of(10, Metric::euclidean, NeighborMethod::approximate);
  for (const double recall : {0.9, 0.995}) {
    options.recall = recall;
    NeighborReport report;
    const Neighbors found = nearest_neighbors(oracle::to_points(rows), options, with_threads(2), &report);
    ASSERT_EQ(report.method, NeighborMethod::approximate);
    EXPECT_EQ(report.recall_sample, 600u);
    EXPECT_GE(report.num_trees, 1u);
    EXPECT_GE(report.leaf_size, 20u);
    EXPECT_GT(report.share_compared, 0);
    EXPECT_LT(report.share_compared, 0.5);
    EXPECT_GE(*report.recall, recall - 0.005);
    EXPECT_NEAR(share_found(rows, found, 20), *report.recall, report.recall_error + 0.001)
        << "the printed recall is the true one";
  }
}

TEST(ApproximateNeighbors, do_not_depend_on_the_number_of_threads) {
  const Points points = oracle::to_points(oracle::clustered_rows(17'000, 8, 29));
  for (const Metric metric : {Metric::euclidean, Metric::cosine}) {
    const NeighborReport report =
        expect_same_on_any_number_of_threads(points, options_of(8, metric, NeighborMethod::approximate));
    EXPECT_EQ(report.method, NeighborMethod::approximate);
  }
}

TEST(ApproximateNeighbors, are_exact_where_that_is_no_dearer) {
  // Few points; many that coincide; and some in very many directions.
  std::mt19937 random(31);
  std::normal_distribution<float> normal;
  Rows wide(6000, std::vector<float>(64));
  for (auto& row : wide)
    for (float& value : row) value = normal(random);
  for (const Rows& rows : {oracle::clustered_rows(500, 4, 3), Rows(5000, {1, 2, 3}), wide}) {
    NeighborReport report;
    const Neighbors found = nearest_neighbors(oracle::to_points(rows),
                                              options_of(5, Metric::euclidean, NeighborMethod::approximate),
                                              with_threads(2), &report);
    EXPECT_EQ(report.method, NeighborMethod::exact);
    EXPECT_EQ(report.why_exact, WhyExact::no_dearer);
    EXPECT_FALSE(report.recall.has_value());
    expect_brute_force(rows, found, oracle::squared_distance, 499);
  }
}

TEST(ApproximateNeighbors, of_inner_products_are_exact) {
  const Rows rows = oracle::clustered_rows(400, 5, 3);
  NeighborReport report;
  const Neighbors found =
      nearest_neighbors(oracle::to_points(rows), options_of(5, Metric::inner, NeighborMethod::approximate),
                        with_threads(2), &report);
  EXPECT_EQ(report.method, NeighborMethod::exact);
  EXPECT_EQ(report.why_exact, WhyExact::inner_product);
  expect_brute_force(rows, found, oracle::minus_product, 7);
}

TEST(ApproximateNeighbors, sparse_points_and_impossible_recalls_are_refused) {
  const Rows rows = oracle::clustered_rows(50, 4, 1);
  NeighborOptions options = options_of(5, Metric::euclidean, NeighborMethod::approximate);
  EXPECT_THROW(nearest_neighbors(oracle::to_sparse(rows), options, {}), UsageError);
  for (const double recall : {0.0, -1.0, 1.5, std::nan("")}) {
    options.recall = recall;
    EXPECT_THROW(nearest_neighbors(oracle::to_points(rows), options, {}), UsageError) << recall;
  }
}

TEST(Neighbors, approximate_ones_take_at_most_little_more_than_twice_the_memory_of_exact_ones) {
  PointsView points;
  points.num_points = 1'000'000;
  points.num_columns = 32;
  const std::uint64_t exact = neighbor_bytes(points, options_of(10), 1);
  const std::uint64_t lists =
      neighbor_bytes(points, options_of(10, Metric::euclidean, NeighborMethod::approximate), 1);
  EXPECT_GT(lists, exact);
  EXPECT_LT(lists, 2.1 * static_cast<double>(exact));
}

// A sample of the shared point sets; the slow suite takes them all, whole.
TEST(ExactNeighbors, equal_brute_force_on_optdigits) {
  const std::string path = COPSE_SHARED_DATA "/optdigits/points.npy.zst";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs the shared data sets: " << path;
  const NamedPoints points = read_points(path, {}, with_threads(2));
  const Neighbors found = nearest_neighbors(points.points, options_of(10), with_threads(2));
  expect_brute_force(oracle::to_rows(points.points), found, oracle::squared_distance, 53);
}

}  // namespace
}  // namespace copse
