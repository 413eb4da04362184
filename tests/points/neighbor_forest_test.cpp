// SPDX-License-Identifier: Apache-2.0
#include "points/neighbor_forest.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "copse/io/read.hpp"
#include "oracle/neighbors.hpp"

namespace copse {
namespace {

using oracle::Rows;

Execution forest_on(int threads, std::uint64_t seed = 1) {
  Execution execution;
  execution.threads = threads;
  execution.seed = seed;
  return execution;
}

struct Forest {
  Points points;
  PairDiscrepancy exact;
  DenseKeys keys;
  Execution execution;
  NeighborForest lists;

  Forest(const Rows& rows, std::size_t size, const Execution& how)
      : points(oracle::to_points(rows)),
        exact(points, Metric::euclidean, 1),
        keys(exact, 1),
        execution(how),
        lists(keys, size, execution) {}

  void grow(unsigned depth, int num_trees) {
    for (int tree = 0; tree < num_trees; ++tree) {
      lists.grow(depth);
      lists.meet(depth);
    }
  }
};

void expect_full_lists(const Forest& forest, NodeId num_points, std::size_t size) {
  for (NodeId i = 0; i < num_points; ++i) {
    const std::vector<NodeId> list = forest.lists.of(i);
    ASSERT_EQ(list.size(), size);
    const std::set<NodeId> different(list.begin(), list.end());
    ASSERT_EQ(different.size(), list.size()) << i;
    ASSERT_FALSE(different.contains(i));
    ASSERT_LT(*different.rbegin(), num_points);
  }
}

// Share of the k nearest by brute force that are in the lists.
double share_in_lists(const Forest& forest, const Rows& rows, std::size_t k, std::size_t step) {
  std::size_t right = 0, total = 0;
  for (std::size_t i = 0; i < rows.size(); i += step, total += k) {
    const double farthest = oracle::brute_force(rows, i, k, oracle::squared_distance).back().first;
    std::size_t found = 0;
    for (const NodeId id : forest.lists.of(static_cast<NodeId>(i)))
      found += oracle::squared_distance(rows[i], rows[id]) <= farthest;
    right += std::min(found, k);
  }
  return static_cast<double>(right) / static_cast<double>(total);
}

// Sizes around those of tiles, and more columns than a sketch has.
TEST(NeighborForest, with_one_leaf_is_brute_force) {
  for (const auto& [count, columns] : {std::pair{40, 3}, {127, 1}, {129, 8}, {1100, 5}, {2500, 40}}) {
    const Rows rows =
        oracle::clustered_rows(static_cast<std::size_t>(count), static_cast<std::size_t>(columns), 5);
    Forest forest(rows, 12, forest_on(2));
    forest.grow(0, 1);
    expect_full_lists(forest, static_cast<NodeId>(count), 12);
    EXPECT_EQ(share_in_lists(forest, rows, 10, 7), 1);
    EXPECT_EQ(forest.lists.num_compared(), static_cast<std::uint64_t>(count * (count - 1) / 2));
  }
}

TEST(NeighborForest, keeps_together_what_it_says_and_no_one_else_meets) {
  const Rows rows = oracle::clustered_rows(3001, 6, 5);
  Forest forest(rows, 10, forest_on(2));
  const unsigned kDepth = forest.lists.most_depth();
  forest.grow(kDepth, 1);
  const std::vector<NodeId> positions = forest.lists.positions();
  const auto depth_of = [&](NodeId a, NodeId b) {
    return forest.lists.depth_together(positions[a], positions[b]);
  };
  for (NodeId i = 0; i < rows.size(); ++i)
    for (const NodeId id : forest.lists.of(i)) ASSERT_EQ(depth_of(i, id), kDepth) << i;
  std::size_t together = 0, pairs = 0;
  for (NodeId i = 0; i < rows.size(); i += 5)
    for (const auto& [distance, id] : oracle::brute_force(rows, i, 10, oracle::squared_distance)) {
      together += depth_of(i, id) == kDepth;
      ++pairs;
    }
  const double share = static_cast<double>(together) / static_cast<double>(pairs);
  EXPECT_NEAR(share_in_lists(forest, rows, 10, 5), share, 1e-9);
  EXPECT_GT(share, 0.3) << "leaves drawn at random would have an eighth";
}

TEST(NeighborForest, finds_more_in_more_trees_and_loses_nothing) {
  const Rows rows = oracle::clustered_rows(3000, 10, 7);
  Forest forest(rows, 18, forest_on(2));
  double found = 0;
  for (int tree = 0; tree < 12; ++tree) {
    forest.grow(3, 1);
    const double now = share_in_lists(forest, rows, 10, 17);
    EXPECT_GE(now, found);
    found = now;
  }
  EXPECT_GT(found, 0.99);
  EXPECT_EQ(forest.lists.num_trees(), 12u);
  expect_full_lists(forest, 3000, 18);
}

TEST(NeighborForest, does_not_depend_on_the_number_of_threads_but_on_the_seed) {
  const Rows rows = oracle::clustered_rows(5000, 8, 31);
  const auto lists = [&](int threads, std::uint64_t seed) {
    Forest forest(rows, 15, forest_on(threads, seed));
    forest.grow(4, 2);
    std::vector<std::vector<NodeId>> all;
    for (NodeId i = 0; i < 5000; ++i) all.push_back(forest.lists.of(i));
    return std::pair(all, forest.lists.num_compared());
  };
  EXPECT_EQ(lists(1, 1), lists(5, 1));
  EXPECT_NE(lists(1, 1), lists(1, 2));
}

TEST(NeighborForest, survives_copies_constant_columns_and_single_ones) {
  Rows copies = oracle::clustered_rows(500, 4, 41);
  for (std::size_t i = 0; i < 300; ++i) copies[i] = copies[0];
  Rows constant = oracle::clustered_rows(200, 3, 43);
  for (auto& row : constant) row[1] = -7e8F;
  for (const Rows& rows : {copies, Rows(1000, {3, 3, 3}), constant, oracle::clustered_rows(400, 1, 47)}) {
    Forest forest(rows, 12, forest_on(2));
    forest.grow(forest.lists.most_depth(), 3);
    expect_full_lists(forest, static_cast<NodeId>(rows.size()), 12);
  }
}

TEST(NeighborForest, survives_few_points_and_numbers_whose_squares_leave_the_range_of_a_float) {
  for (const std::size_t count : {4, 5, 64, 65, 127, 128, 129, 130, 131, 300})
    for (const float size : {1.0F, 1e30F, 1e-30F}) {
      Rows rows = oracle::clustered_rows(count, 4, 53);
      for (auto& row : rows)
        for (float& value : row) value *= size;
      Forest forest(rows, 3, forest_on(2));
      forest.grow(forest.lists.most_depth(), 2);
      expect_full_lists(forest, static_cast<NodeId>(count), 3);
    }
  Rows far = oracle::clustered_rows(300, 6, 59);
  far[150].assign(6, 1e20F);
  Forest forest(far, 8, forest_on(1));
  forest.grow(1, 2);
  expect_full_lists(forest, 300, 8);
}

TEST(NeighborForest, finds_99_percent_on_optdigits_by_six_trees) {
  const std::string path = COPSE_SHARED_DATA "/optdigits/points.npy.zst";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs the shared data sets: " << path;
  const Rows rows = oracle::to_rows(read_points(path, {}, {}).points);
  Forest forest(rows, 18, forest_on(2));
  forest.grow(2, 6);
  EXPECT_GT(share_in_lists(forest, rows, 10, 29), 0.99);
}

}  // namespace
}  // namespace copse
