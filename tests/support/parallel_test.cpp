// SPDX-License-Identifier: Apache-2.0
#include "copse/support/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "copse/support/random.hpp"

namespace copse {
namespace {

TEST(AvailableThreads, is_at_least_one) { EXPECT_GE(available_threads(), 1); }

TEST(ParallelFor, calls_every_index_once) {
  for (const int threads : {-1, 0, 1, 2, 4, 64}) {
    for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
      std::vector<std::atomic<int>> calls(count);
      parallel_for(threads, count, [&](std::size_t i) { ++calls[i]; });
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(calls[i], 1) << threads << " threads, index " << i;
    }
  }
}

TEST(ParallelFor, takes_const_and_temporary_bodies) {
  std::atomic<int> sum{0};
  const auto body = [&](std::size_t i) { sum += static_cast<int>(i); };
  parallel_for(4, 10, body);
  parallel_for(4, 10, [&](std::size_t i) { sum += static_cast<int>(i); });
  EXPECT_EQ(sum, 90);
}

TEST(ParallelFor, rethrows_an_exception_of_a_body) {
  for (const int threads : {1, 4}) {
    std::atomic<int> calls{0};
    const auto run = [&] {
      parallel_for(threads, 1'000'000, [&](std::size_t i) {
        ++calls;
        if (i == 5) throw std::runtime_error("index 5");
      });
    };
    try {
      run();
      FAIL() << "nothing was thrown on " << threads << " threads";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()), "index 5");
    }
    EXPECT_LT(calls, 1'000'000);  // the loop stopped
    // And the threads are fit for further use.
    std::atomic<int> again{0};
    parallel_for(threads, 100, [&](std::size_t) { ++again; });
    EXPECT_EQ(again, 100);
  }
}

TEST(ParallelFor, may_be_nested) {
  std::vector<std::vector<int>> calls(20, std::vector<int>(30));
  parallel_for(4, calls.size(), [&](std::size_t i) {
    parallel_for(2, calls[i].size(), [&](std::size_t j) { calls[i][j] += static_cast<int>(i * 30 + j); });
  });
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = 0; j < 30; ++j) EXPECT_EQ(calls[i][j], static_cast<int>(i * 30 + j));
}

TEST(ParallelFor, passes_an_exception_through_nested_loops) {
  EXPECT_THROW(parallel_for(4, 10,
                            [](std::size_t) {
                              parallel_for(4, 10, [](std::size_t j) {
                                if (j == 3) throw std::logic_error("inner");
                              });
                            }),
               std::logic_error);
}

TEST(ParallelBlocks, cut_the_range_by_count_and_size_alone) {
  for (const int threads : {1, 4}) {
    std::vector<std::pair<std::size_t, std::size_t>> blocks(4);
    parallel_blocks(threads, 10, 3, [&](std::size_t begin, std::size_t end, std::size_t block) {
      blocks[block] = {begin, end};
    });
    EXPECT_EQ(blocks, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 3}, {3, 6}, {6, 9}, {9, 10}}));
  }
  int calls = 0;
  parallel_blocks(1, 0, 3, [&](std::size_t, std::size_t, std::size_t) { ++calls; });
  EXPECT_EQ(calls, 0);
  parallel_blocks(1, 6, 3, [&](std::size_t, std::size_t, std::size_t) { ++calls; });
  EXPECT_EQ(calls, 2);
}

double sum_of(const std::vector<double>& values, int threads, std::size_t block_size) {
  return deterministic_reduce(
      threads, values.size(), 0.0,
      [&](std::size_t begin, std::size_t end) {
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum += values[i];
        return sum;
      },
      [](double a, double b) { return a + b; }, block_size);
}

TEST(DeterministicReduce, gives_the_same_bits_on_any_number_of_threads) {
  // Values of very different sizes, so that another order of the sum does show.
  Stream stream{1, Purpose::test, 0};
  std::vector<double> values(100'000);
  for (double& value : values)
    value = (stream.uniform() - 0.5) * static_cast<double>(1ULL << stream.below(40));
  const double one = sum_of(values, 1, 100);
  EXPECT_NE(one, sum_of(values, 1, 777)) << "the order does not show: this test could not fail";
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(sum_of(values, 2, 100), one);
    EXPECT_EQ(sum_of(values, 4, 100), one);
  }
}

TEST(DeterministicReduce, combines_in_block_order) {
  for (const int threads : {1, 4}) {
    const std::string joined = deterministic_reduce(
        threads, 26, std::string(),
        [](std::size_t begin, std::size_t end) {
          std::string text;
          for (std::size_t i = begin; i < end; ++i) text += static_cast<char>('a' + i);
          return text;
        },
        [](const std::string& a, const std::string& b) { return a + b; }, 3);
    EXPECT_EQ(joined, "abcdefghijklmnopqrstuvwxyz");
  }
}

TEST(DeterministicReduce, of_nothing_is_the_initial_value) {
  EXPECT_EQ(deterministic_reduce(
                4, 0, 42, [](std::size_t, std::size_t) { return 1; }, [](int a, int b) { return a + b; }),
            42);
}

}  // namespace
}  // namespace copse
