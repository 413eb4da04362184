// SPDX-License-Identifier: Apache-2.0
//
// Exact neighbours are those of brute force on every point set of the shared data: on all points (of
// rcv1_2316 every fourth), for MNIST on every 140th of its 70,000: comparing each with all others would take
// hours.

#include <gtest/gtest.h>

#include <filesystem>

#include "copse/points/neighbors.hpp"
#include "copse/support/parallel.hpp"
#include "oracle/neighbors.hpp"

namespace copse {
namespace {

NamedPoints shared_points(const std::string& file) {
  Execution execution;
  execution.threads = available_threads();
  return read_points(std::string(COPSE_SHARED_DATA "/") + file, {}, execution);
}

bool is_missing(const std::string& file) {
  return !std::filesystem::exists(std::string(COPSE_SHARED_DATA "/") + file);
}

class SharedPoints : public testing::TestWithParam<std::pair<const char*, std::size_t>> {};

TEST_P(SharedPoints, have_the_exact_neighbours_of_brute_force) {
  const auto [file, step] = GetParam();
  if (is_missing(file)) GTEST_SKIP() << "needs the shared data sets: " << file;
  const NamedPoints points = shared_points(file);
  const oracle::Rows rows = oracle::to_rows(points.points);
  Execution execution;
  execution.threads = available_threads();
  NeighborOptions options;
  options.method = NeighborMethod::exact;
  for (const auto& [metric, discrepancy] :
       {std::pair{Metric::euclidean, &oracle::squared_distance}, {Metric::inner, &oracle::minus_product}}) {
    if (step > 1 && metric != Metric::euclidean) continue;
    options.metric = metric;
    const Neighbors found = nearest_neighbors(points.points, options, execution);
    std::vector<char> is_equal((rows.size() + step - 1) / step);
    parallel_for(execution.threads, is_equal.size(), [&, d = discrepancy](std::size_t slot) {
      const auto truth = oracle::brute_force(rows, slot * step, options.k, d);
      is_equal[slot] = 1;
      for (std::size_t p = 0; p < options.k; ++p)
        is_equal[slot] &= found.of(slot * step)[p] == truth[p].second &&
                          found.discrepancies_of(slot * step)[p] == truth[p].first;
    });
    EXPECT_EQ(std::count(is_equal.begin(), is_equal.end(), 0), 0) << "rows that differ";
  }
}

constexpr std::pair<const char*, std::size_t> kPointSets[] = {
    {"usps/points.npy.zst", 1},       {"optdigits/points.npy.zst", 1}, {"coil20/points.npy.zst", 1},
    {"isolet1560/points.npy.zst", 1}, {"rcv1_2316/points.svm.zst", 4}, {"mnist/points.npy.zst", 140}};
INSTANTIATE_TEST_SUITE_P(All, SharedPoints, testing::ValuesIn(kPointSets));

TEST(PointSets, are_all_of_the_shared_data) {
  if (!std::filesystem::exists(COPSE_SHARED_DATA)) GTEST_SKIP() << "needs the shared data sets";
  for (const auto& directory : std::filesystem::directory_iterator(COPSE_SHARED_DATA)) {
    if (!directory.is_directory()) continue;
    for (const auto& file : std::filesystem::directory_iterator(directory)) {
      const std::string name = file.path().filename();
      if (!name.starts_with("points.")) continue;
      const std::string path = directory.path().filename().string() + "/" + name;
      EXPECT_TRUE(std::any_of(std::begin(kPointSets), std::end(kPointSets),
                              [&](const auto& set) { return path == set.first; }))
          << path << " is not compared with brute force";
    }
  }
}

// The recall is that of one sample; its standard error is about 0.001, so that the default of 0.995 leaves
// room.
TEST(ApproximateNeighbors, find_99_percent_on_mnist_at_the_default) {
  if (is_missing("mnist/points.npy.zst")) GTEST_SKIP() << "needs the shared data sets: mnist";
  const NamedPoints points = shared_points("mnist/points.npy.zst");
  Execution execution;
  execution.threads = available_threads();
  NeighborOptions options;
  options.method = NeighborMethod::approximate;
  NeighborReport report;
  nearest_neighbors(points.points, options, execution, &report);
  EXPECT_EQ(report.method, NeighborMethod::approximate);
  EXPECT_GE(report.recall.value_or(0), 0.99);
  RecordProperty("recall", std::to_string(report.recall.value_or(0)));
}

}  // namespace
}  // namespace copse
