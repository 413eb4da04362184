// SPDX-License-Identifier: Apache-2.0
#include "points/neighbor_descent.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "copse/io/read.hpp"
#include "oracle/neighbors.hpp"
#include "points/exact_neighbors.hpp"

namespace copse {
namespace {

using oracle::Rows;

Execution descent_on(int threads, std::uint64_t seed = 1) {
  Execution execution;
  execution.threads = threads;
  execution.seed = seed;
  return execution;
}

struct Descent {
  Points points;
  PairDiscrepancy exact;
  DenseKeys keys;
  Execution execution;
  NeighborForest forest;
  NeighborDescent lists;

  Descent(const Rows& rows, std::size_t size, const Execution& how)
      : points(oracle::to_points(rows)),
        exact(points, Metric::euclidean, 1),
        keys(exact, 1),
        execution(how),
        forest(keys, size, execution),
        lists(keys, grown(forest), execution) {}

  static const NeighborForest& grown(NeighborForest& forest) {
    for (int tree = 0; tree < 3; ++tree) {
      forest.grow(forest.most_depth());
      forest.meet(forest.most_depth());
    }
    return forest;
  }
};

void expect_full_lists(const Descent& descent, NodeId num_points) {
  for (NodeId i = 0; i < num_points; ++i) {
    const std::vector<NodeId> list = descent.lists.of(i);
    ASSERT_EQ(list.size(), descent.lists.size());
    const std::set<NodeId> different(list.begin(), list.end());
    ASSERT_EQ(different.size(), list.size()) << i;
    ASSERT_FALSE(different.contains(i));
    ASSERT_LT(*different.rbegin(), num_points);
  }
}

// Share of the k nearest by brute force that are in the lists.
double share_in_lists(const Descent& descent, const Rows& rows, std::size_t k, std::size_t step) {
  std::size_t right = 0, total = 0;
  for (std::size_t i = 0; i < rows.size(); i += step, total += k) {
    const double farthest = oracle::brute_force(rows, i, k, oracle::squared_distance).back().first;
    std::size_t found = 0;
    for (const NodeId id : descent.lists.of(static_cast<NodeId>(i)))
      found += oracle::squared_distance(rows[i], rows[id]) <= farthest;
    right += std::min(found, k);
  }
  return static_cast<double>(right) / static_cast<double>(total);
}

// What a descent is for: nobody whom a neighbour knows is nearer than those on the list. But for rounding to
// half a float, and for neighbours that have met before one of them became one.
TEST(NeighborDescent, ends_where_neighbours_of_neighbours_are_no_nearer) {
  const Rows rows = oracle::clustered_rows(2000, 6, 5);
  Descent descent(rows, 12, descent_on(2));
  descent.lists.run();
  expect_full_lists(descent, 2000);
  std::size_t nearer = 0, pairs = 0;
  for (std::size_t i = 0; i < rows.size(); i += 3) {
    const std::vector<NodeId> list = descent.lists.of(static_cast<NodeId>(i));
    double farthest = 0;
    for (const NodeId id : list) farthest = std::max(farthest, oracle::squared_distance(rows[i], rows[id]));
    for (const NodeId id : list)
      for (const NodeId other : descent.lists.of(id)) {
        if (other == i || std::find(list.begin(), list.end(), other) != list.end()) continue;
        nearer += oracle::squared_distance(rows[i], rows[other]) < 0.97 * farthest;
        ++pairs;
      }
  }
  EXPECT_LE(static_cast<double>(nearer), 0.002 * static_cast<double>(pairs));
}

TEST(NeighborDescent, finds_more_in_longer_lists) {
  const Rows rows = oracle::clustered_rows(3000, 10, 7);
  Descent descent(rows, 11, descent_on(2));
  const double in_trees = share_in_lists(descent, rows, 10, 17);
  descent.lists.run();
  const double in_short_ones = share_in_lists(descent, rows, 10, 17);
  descent.lists.widen(30);
  EXPECT_EQ(share_in_lists(descent, rows, 10, 17), in_short_ones) << "nothing is lost";
  descent.lists.run();
  EXPECT_GT(in_short_ones, in_trees);
  EXPECT_GT(share_in_lists(descent, rows, 10, 17), 0.99);
  expect_full_lists(descent, 3000);
}

TEST(NeighborDescent, does_not_depend_on_the_number_of_threads_but_on_the_seed) {
  const Rows rows = oracle::clustered_rows(5000, 8, 31);
  const auto lists = [&](int threads, std::uint64_t seed) {
    Descent descent(rows, 15, descent_on(threads, seed));
    descent.lists.run();
    std::vector<std::vector<NodeId>> all;
    for (NodeId i = 0; i < 5000; ++i) all.push_back(descent.lists.of(i));
    return std::pair(all, descent.lists.num_compared());
  };
  EXPECT_EQ(lists(1, 1), lists(5, 1));
  EXPECT_NE(lists(1, 1), lists(1, 2));
}

TEST(NeighborDescent, survives_copies_constant_columns_and_single_ones) {
  Rows copies = oracle::clustered_rows(500, 4, 41);
  for (std::size_t i = 0; i < 300; ++i) copies[i] = copies[0];
  Rows constant = oracle::clustered_rows(200, 3, 43);
  for (auto& row : constant) row[1] = -7e8F;
  for (const Rows& rows : {copies, Rows(1000, {3, 3, 3}), constant, oracle::clustered_rows(400, 1, 47)}) {
    Descent descent(rows, 12, descent_on(2));
    descent.lists.run();
    expect_full_lists(descent, static_cast<NodeId>(rows.size()));
  }
}

TEST(NeighborDescent, survives_few_points_and_numbers_whose_squares_leave_the_range_of_a_float) {
  for (const std::size_t count : {5, 6, 64, 65, 127, 128, 129, 300})
    for (const float size : {1.0F, 1e30F, 1e-30F}) {
      Rows rows = oracle::clustered_rows(count, 4, 53);
      for (auto& row : rows)
        for (float& value : row) value *= size;
      Descent descent(rows, 3, descent_on(2));
      descent.lists.run();
      expect_full_lists(descent, static_cast<NodeId>(count));
    }
  Rows far = oracle::clustered_rows(300, 6, 59);
  far[150].assign(6, 1e20F);
  Descent descent(far, 8, descent_on(1));
  descent.lists.run();
  expect_full_lists(descent, 300);
}

TEST(NeighborDescent, finds_99_percent_on_optdigits_by_lists_of_20) {
  const std::string path = COPSE_SHARED_DATA "/optdigits/points.npy.zst";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs the shared data sets: " << path;
  const Rows rows = oracle::to_rows(read_points(path, {}, {}).points);
  Descent descent(rows, 20, descent_on(2));
  descent.lists.run();
  EXPECT_GT(share_in_lists(descent, rows, 10, 29), 0.99);
}

TEST(RankPoints, are_the_nearest_of_the_candidates_by_distance_then_number) {
  const Rows rows(6, {0, 0});
  Rows some = rows;
  some[2] = {1, 0};
  some[4] = {0.5F, 0};
  const Points points = oracle::to_points(some);
  const PairDiscrepancy exact(points, Metric::euclidean, 1);
  const Neighbors found = rank_points(
      exact, std::vector<NodeId>{0}, 3,
      [](NodeId) {
        return std::vector<NodeId>{4, 2, 5, 3};
      },
      descent_on(1));
  EXPECT_EQ(std::vector<NodeId>(found.ids.begin(), found.ids.end()), (std::vector<NodeId>{3, 5, 4}));
  EXPECT_EQ(found.discrepancies[2], 0.25);
}

}  // namespace
}  // namespace copse
