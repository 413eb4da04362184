// SPDX-License-Identifier: Apache-2.0
#include "points/cells.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <numeric>
#include <set>

#include "copse/support/error.hpp"
#include "oracle/cells.hpp"
#include "points/exact_neighbors.hpp"

namespace copse {
namespace {

using oracle::Rows;

constexpr double kAllPairs = std::numeric_limits<double>::max();

Execution cells_on(int threads, std::uint64_t seed = 1) {
  Execution execution;
  execution.threads = threads;
  execution.seed = seed;
  return execution;
}

Rows rows_of(const DenseKeys& keys) {
  Rows rows;
  for (NodeId i = 0; i < keys.num_points(); ++i) rows.emplace_back(keys.row(i), keys.row(i) + keys.stride());
  return rows;
}

Rows rows_of(const CellCenters& centers) {
  Rows rows;
  for (CellId c = 0; c < centers.count(); ++c)
    rows.emplace_back(centers.row(c), centers.row(c) + centers.stride);
  return rows;
}

// Everything a search by cells needs, with a radius chosen by hand.
struct Search {
  Points points;
  PairDiscrepancy exact;
  DenseKeys keys;
  CellPlan plan;
  std::uint64_t num_searched_again = 0;

  Search(const Rows& rows, Metric metric, CellId num_cells, const Execution& execution)
      : points(oracle::to_points(rows)), exact(points, metric, 1), keys(exact, 1) {
    plan.centers = find_centers(keys, num_cells, execution);
  }
  Neighbors run(std::uint32_t k, double radius, const Execution& execution) {
    plan.radius = radius;
    return cell_neighbors(exact, keys, plan, k, execution, num_searched_again);
  }
};

// Equal to the last bit: ids and discrepancies.
void expect_plain_search(const Rows& rows, CellId num_cells, std::uint32_t k, double radius,
                         Metric metric = Metric::euclidean, std::size_t step = 1) {
  SCOPED_TRACE(testing::Message() << rows.size() << " x " << rows[0].size() << ", " << num_cells
                                  << " cells, k " << k << ", radius " << radius);
  const auto discrepancy =
      metric == Metric::cosine ? oracle::squared_angle_distance : oracle::squared_distance;
  Search search(rows, metric, num_cells, cells_on(2));
  const oracle::Cells cells(rows_of(search.keys), rows_of(search.plan.centers));
  const Neighbors found = search.run(k, radius, cells_on(2));
  for (std::size_t i = 0; i < rows.size(); i += step) {
    const auto truth = cells.nearest(rows, i, k, radius, discrepancy);
    for (std::size_t p = 0; p < k; ++p) {
      ASSERT_EQ(found.of(i)[p], truth[p].second) << "row " << i << ", place " << p;
      ASSERT_EQ(found.discrepancies_of(i)[p], truth[p].first) << "row " << i << ", place " << p;
    }
  }
}

TEST(DenseKeys, are_arranged_in_any_order_and_back) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Search search(oracle::clustered_rows(50, 9, seed), Metric::euclidean, 1, {});
    const Rows before = rows_of(search.keys);
    std::vector<NodeId> order(50);
    std::iota(order.begin(), order.end(), NodeId{0});
    const std::vector<NodeId> as_they_were = order;
    std::shuffle(order.begin() + seed, order.end(), std::mt19937(seed));
    search.keys.arrange(order, 2);
    const Rows moved = rows_of(search.keys);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(moved[i], before[order[i]]);
    search.keys.arrange(as_they_were, 2);
    EXPECT_EQ(rows_of(search.keys), before);
  }
}

TEST(CellCenters, are_each_the_nearest_of_some_point) {
  const Search search(oracle::clustered_rows(900, 5, 3), Metric::euclidean, 30, cells_on(2));
  EXPECT_EQ(search.plan.centers.count(), 30u);
  const oracle::Cells cells(rows_of(search.keys), rows_of(search.plan.centers));
  EXPECT_EQ(std::set<std::size_t>(cells.cell.begin(), cells.cell.end()).size(), 30u);
}

TEST(CellCenters, are_closer_to_their_points_than_points_drawn_at_random) {
  const Search search(oracle::clustered_rows(2000, 6, 5), Metric::euclidean, 30, cells_on(2));
  const Rows points = rows_of(search.keys);
  const auto scatter = [&](const Rows& centers) {
    const oracle::Cells cells(points, centers);
    double sum = 0;
    for (std::size_t i = 0; i < points.size(); ++i)
      sum += oracle::squared_distance(points[i], centers[cells.cell[i]]);
    return sum;
  };
  EXPECT_LT(scatter(rows_of(search.plan.centers)), 0.8 * scatter(Rows(points.begin(), points.begin() + 30)));
}

TEST(CellCenters, of_few_different_points_are_few) {
  Rows rows(400, {1.5F, -2});
  EXPECT_EQ(Search(rows, Metric::euclidean, 20, {}).plan.centers.count(), 1u);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i][0] = static_cast<float>(i % 3);
  const CellId count = Search(rows, Metric::euclidean, 20, {}).plan.centers.count();
  EXPECT_GE(count, 2u);
  EXPECT_LE(count, 3u);
}

TEST(CellCenters, do_not_depend_on_the_number_of_threads_but_on_the_seed) {
  const Rows rows = oracle::clustered_rows(3000, 12, 7);
  const auto centers = [&](int threads, std::uint64_t seed) {
    return Search(rows, Metric::euclidean, 40, cells_on(threads, seed)).plan.centers.rows;
  };
  EXPECT_EQ(centers(1, 1), centers(5, 1));
  EXPECT_NE(centers(1, 1), centers(1, 2));
}

TEST(CellNeighbors, equal_the_plain_search_to_the_last_bit) {
  for (const Metric metric : {Metric::euclidean, Metric::cosine}) {
    for (const double radius : {0.0, 0.02, 0.1, 0.4, kAllPairs}) {
      expect_plain_search(oracle::clustered_rows(600, 7, 11), 20, 5, radius, metric, 3);
      expect_plain_search(oracle::clustered_rows(300, 33, 13), 9, 12, radius, metric, 3);
    }
  }
}

TEST(CellNeighbors, equal_the_plain_search_in_cells_larger_than_a_tile) {
  expect_plain_search(oracle::clustered_rows(4000, 4, 17), 3, 8, 0.05, Metric::euclidean, 397);
  expect_plain_search(oracle::clustered_rows(6000, 3, 19), 70, 8, 0.03, Metric::euclidean, 397);
}

TEST(CellNeighbors, equal_the_plain_search_on_small_whole_numbers) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto draw = [&](std::size_t low, std::size_t high) { return low + random() % (high - low + 1); };
    const std::size_t n = draw(2, 60), d = draw(1, 4);
    Rows rows(n, std::vector<float>(d));
    for (auto& row : rows)
      for (float& value : row) value = static_cast<float>(draw(0, 6)) - 3;
    expect_plain_search(rows, static_cast<CellId>(draw(1, 12)), static_cast<std::uint32_t>(draw(1, n - 1)),
                        static_cast<double>(draw(0, 8)) / 16);
  }
}

TEST(CellNeighbors, of_all_pairs_are_the_exact_ones) {
  const Rows rows = oracle::clustered_rows(700, 10, 23);
  Search search(rows, Metric::euclidean, 25, {});
  const Neighbors found = search.run(10, kAllPairs, cells_on(2));
  std::uint64_t again = 0;
  const Neighbors truth = exact_neighbors(search.exact, search.keys, 10, {}, again);
  EXPECT_TRUE(std::equal(found.ids.begin(), found.ids.end(), truth.ids.begin()));
  EXPECT_EQ(search.num_searched_again, 0u);
}

TEST(CellNeighbors, within_the_radius_are_all_found) {
  const Rows rows = oracle::clustered_rows(1500, 3, 29);
  Search search(rows, Metric::euclidean, 40, {});
  const double radius = 0.02;  // of the scaled points
  const Neighbors found = search.run(6, radius, cells_on(2));
  // Rounding may cost what is at the very edge of it.
  const double surely = 0.999 * radius * radius / search.keys.scale();
  std::size_t within = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto truth = oracle::brute_force(rows, i, 6, oracle::squared_distance);
    for (std::size_t p = 0; p < 6 && truth[p].first <= surely; ++p, ++within)
      ASSERT_EQ(found.of(i)[p], truth[p].second) << i;
  }
  EXPECT_GT(within, 1000u) << "the radius is not so small as to prove nothing";
}

TEST(CellNeighbors, do_not_depend_on_the_number_of_threads) {
  for (const double radius : {0.0, 0.05, 0.2}) {
    Search search(oracle::clustered_rows(9000, 6, 31), Metric::euclidean, 90, {});
    const Neighbors one = search.run(10, radius, cells_on(1));
    const Neighbors many = search.run(10, radius, cells_on(5));
    EXPECT_TRUE(std::equal(one.ids.begin(), one.ids.end(), many.ids.begin()));
    EXPECT_TRUE(std::equal(one.discrepancies.begin(), one.discrepancies.end(), many.discrepancies.begin()));
  }
}

TEST(CellNeighbors, where_a_point_meets_fewer_than_k_are_searched_exactly) {
  Rows rows = oracle::clustered_rows(300, 4, 37);
  for (std::size_t i = 0; i < 10; ++i)
    rows[i * 7] = Rows(1, {1000.0F * static_cast<float>(i + 1), 0, 0, 0})[0];
  Search search(rows, Metric::euclidean, 30, {});
  const Neighbors found = search.run(20, 0, cells_on(2));
  EXPECT_GE(search.num_searched_again, 10u);
  expect_plain_search(rows, 30, 20, 0);
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(std::set<NodeId>(found.of(i).begin(), found.of(i).end()).size(), 20u);
}

TEST(CellNeighbors, survive_copies_constant_columns_and_single_ones) {
  Rows copies = oracle::clustered_rows(500, 4, 41);
  for (std::size_t i = 0; i < 300; ++i) copies[i] = copies[0];
  expect_plain_search(copies, 20, 10, 0.05, Metric::euclidean, 7);
  expect_plain_search(Rows(200, {3, 3, 3}), 10, 5, 0, Metric::euclidean, 7);
  expect_plain_search(Rows(2, {0}), 10, 1, 0);
  Rows constant = oracle::clustered_rows(200, 3, 43);
  for (auto& row : constant) row[1] = -7e8F;
  expect_plain_search(constant, 10, 5, 0.05);
  expect_plain_search(oracle::clustered_rows(400, 1, 47), 15, 6, 0.01);
}

TEST(CellNeighbors, survive_numbers_whose_squares_leave_the_range_of_a_float) {
  for (const float size : {1e30F, 1e-30F, 1e-40F}) {
    Rows rows = oracle::clustered_rows(300, 4, 53);
    for (auto& row : rows)
      for (float& value : row) value *= size;
    expect_plain_search(rows, 12, 5, 0.1);
  }
  Rows far = oracle::clustered_rows(300, 6, 59);
  far[150].assign(6, 1e20F);
  expect_plain_search(far, 12, 5, 0.1);
}

TEST(CellNeighbors, all_others_are_neighbours_where_k_is_that_large) {
  expect_plain_search(oracle::clustered_rows(40, 3, 61), 6, 39, 0.1);
  expect_plain_search(oracle::clustered_rows(3, 3, 61), 6, 2, 0);
}

TEST(CellPlan, finds_the_wanted_share_of_its_own_sample_and_costs_more_for_more) {
  const Rows rows = oracle::clustered_rows(3000, 8, 67);
  Search search(rows, Metric::euclidean, 50, {});
  std::vector<NodeId> sample;
  for (NodeId i = 0; i < 3000; i += 10) sample.push_back(i);
  const Neighbors truth = exact_neighbors_of(search.exact, search.keys, sample, 10, {});
  double last_radius = -1, last_share = 0;
  for (const double recall : {0.5, 0.9, 0.99, 1.0}) {
    SCOPED_TRACE(recall);
    const CellPlan plan = plan_cells(search.keys, search.plan.centers, sample, truth, recall, cells_on(2));
    const Neighbors found = search.run(10, plan.radius, cells_on(2));
    std::size_t right = 0;
    for (std::size_t s = 0; s < sample.size(); ++s)
      for (const double discrepancy : found.discrepancies_of(sample[s]))
        right += discrepancy <= truth.discrepancies_of(s).back();
    EXPECT_GE(static_cast<double>(right), recall * 3000);
    EXPECT_GE(plan.radius, last_radius);
    EXPECT_GE(plan.share, last_share);
    EXPECT_LE(plan.share, 1);
    last_radius = plan.radius;
    last_share = plan.share;
  }
}

TEST(CellPlan, holds_for_all_points_of_optdigits_what_it_found_on_some) {
  const std::string path = COPSE_SHARED_DATA "/optdigits/points.npy.zst";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs the shared data sets: " << path;
  const Rows rows = oracle::to_rows(read_points(path, {}, {}).points);
  Search search(rows, Metric::euclidean, 75, cells_on(2));
  std::vector<NodeId> sample;
  for (NodeId i = 3; i < rows.size(); i += 11) sample.push_back(i);
  const Neighbors some = exact_neighbors_of(search.exact, search.keys, sample, 10, cells_on(2));
  const CellPlan plan = plan_cells(search.keys, search.plan.centers, sample, some, 0.995, cells_on(2));
  EXPECT_LT(plan.share, 0.2);
  std::uint64_t again = 0;
  const Neighbors truth = exact_neighbors(search.exact, search.keys, 10, cells_on(2), again);
  const Neighbors found = search.run(10, plan.radius, cells_on(2));
  std::size_t right = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const double discrepancy : found.discrepancies_of(i))
      right += discrepancy <= truth.discrepancies_of(i).back();
  EXPECT_GE(static_cast<double>(right), 0.99 * 10 * static_cast<double>(rows.size()));
}

TEST(CellPlan, foresees_the_share_of_pairs) {
  const Rows rows = oracle::clustered_rows(2500, 5, 71);
  Search search(rows, Metric::euclidean, 40, {});
  const std::vector<NodeId> sample{1, 500, 1200, 2400};
  const Neighbors truth = exact_neighbors_of(search.exact, search.keys, sample, 10, {});
  const CellPlan plan = plan_cells(search.keys, search.plan.centers, sample, truth, 1, {});
  const oracle::Cells cells(rows_of(search.keys), rows_of(search.plan.centers));
  std::size_t compared = 0, total = 0;
  for (std::size_t i = 0; i < rows.size(); i += 7)
    for (std::size_t j = 0; j < i; j += 5, ++total) compared += cells.is_compared(i, j, plan.radius);
  EXPECT_NEAR(plan.share, static_cast<double>(compared) / static_cast<double>(total), 0.1 * plan.share);
}

TEST(CellPlan, of_points_that_all_coincide_compares_all) {
  const Rows rows(200, {4, 4});
  Search search(rows, Metric::euclidean, 10, {});
  const std::vector<NodeId> sample{0, 100};
  const Neighbors truth = exact_neighbors_of(search.exact, search.keys, sample, 3, {});
  const CellPlan plan = plan_cells(search.keys, search.plan.centers, sample, truth, 0.9, {});
  EXPECT_EQ(plan.radius, 0);
  EXPECT_EQ(plan.share, 1);
}

}  // namespace
}  // namespace copse
