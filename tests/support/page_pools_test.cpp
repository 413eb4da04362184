// SPDX-License-Identifier: Apache-2.0
#include "copse/support/page_pools.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "copse/support/buffer.hpp"
#include "copse/support/random.hpp"

namespace copse {
namespace {

constexpr std::size_t kLarge = 1 << 20;  // words

Buffer<std::uint32_t> filled(std::size_t size, std::uint32_t value) {
  auto buffer = Buffer<std::uint32_t>::for_overwrite(size);
  std::fill(buffer.begin(), buffer.end(), value);
  return buffer;
}

bool holds_only(const Buffer<std::uint32_t>& buffer, std::uint32_t value) {
  return std::all_of(buffer.begin(), buffer.end(), [&](std::uint32_t word) { return word == value; });
}

TEST(PagePools, hand_freed_memory_on_as_it_is) {
  PagePools pools;
  const auto use = pools.use();
  const std::uint32_t* data = nullptr;
  {
    const auto first = filled(kLarge, 7);
    data = first.data();
  }
  const auto second = Buffer<std::uint32_t>::for_overwrite(kLarge);
  EXPECT_EQ(second.data(), data);
  EXPECT_TRUE(holds_only(second, 7));
}

TEST(PagePools, hand_it_on_zeroed_where_zeros_were_promised) {
  PagePools pools;
  const auto use = pools.use();
  { const auto first = filled(kLarge, 7); }
  const Buffer<std::uint32_t> second(kLarge);
  EXPECT_TRUE(holds_only(second, 0));
}

TEST(PagePools, hand_it_on_to_the_next_task) {
  PagePools pools;
  const std::uint32_t* data = nullptr;
  {
    const auto use = pools.use();
    data = filled(kLarge, 7).data();
  }
  const auto use = pools.use();
  EXPECT_EQ(filled(kLarge, 8).data(), data);
}

TEST(PagePools, split_a_block_and_join_its_parts_again) {
  PagePools pools;
  const auto use = pools.use();
  const std::uint32_t* data = nullptr;
  {
    auto whole = filled(4 * kLarge, 1);
    data = whole.data();
    whole.shrink(kLarge);  // the rest is free
    const auto second = filled(kLarge, 2), third = filled(2 * kLarge, 3);
    EXPECT_EQ(second.data(), data + kLarge);
    EXPECT_EQ(third.data(), data + 2 * kLarge);
    EXPECT_TRUE(holds_only(whole, 1));
  }
  EXPECT_EQ(filled(4 * kLarge, 4).data(), data);
}

TEST(PagePools, leave_buffers_alone_that_outlive_them) {
  std::optional<Buffer<std::uint32_t>> survivor;
  {
    PagePools pools;
    const auto use = pools.use();
    const auto other = filled(kLarge, 2);
    survivor = filled(kLarge, 9);
  }
  EXPECT_TRUE(holds_only(*survivor, 9));
  survivor->shrink(kLarge / 2);
  EXPECT_TRUE(holds_only(*survivor, 9));
}

TEST(PagePools, serve_their_own_thread_and_one_use_inside_another) {
  PagePools pools, others;
  const auto use = pools.use();
  const std::uint32_t* data = filled(kLarge, 1).data();
  {
    const auto inner = others.use();
    EXPECT_NE(filled(kLarge, 2).data(), data);
  }
  std::thread([&] { EXPECT_NE(filled(kLarge, 3).data(), data); }).join();
  EXPECT_EQ(filled(kLarge, 4).data(), data);
}

TEST(PagePools, never_give_two_buffers_the_same_memory_whatever_is_made_shrunk_and_freed) {
  PagePools pools;
  const auto use = pools.use();
  Stream stream(1, Purpose::test, 0);
  std::vector<std::pair<Buffer<std::uint32_t>, std::uint32_t>> live;
  for (std::uint32_t step = 1; step <= 600; ++step) {
    const std::uint64_t what = stream.below(4);
    if (what < 2 || live.empty()) {
      const std::size_t size = 1 + stream.below(300'000);  // both sides of where pages begin
      live.emplace_back(filled(size, step), step);
    } else {
      const std::size_t at = stream.below(live.size());
      std::swap(live[at], live.back());
      ASSERT_TRUE(holds_only(live.back().first, live.back().second)) << step;
      if (what == 2) {
        live.pop_back();
      } else {
        live.back().first.shrink(stream.below(live.back().first.size() + 1));
      }
    }
    if (live.size() > 24) live.pop_back();
  }
  for (const auto& [buffer, value] : live) EXPECT_TRUE(holds_only(buffer, value));
}

TEST(PagePools, serve_threads_side_by_side_and_buffers_freed_by_another_thread) {
  PagePools pools;
  std::vector<Buffer<std::uint32_t>> made(4);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t round = 0; round < 20; ++round) {
        const auto use = pools.use();
        const auto other = filled(kLarge / 8, 100 + t);
        made[t] = filled(kLarge / 4, t);
        EXPECT_TRUE(holds_only(other, 100 + t));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::uint32_t t = 0; t < 4; ++t) EXPECT_TRUE(holds_only(made[t], t));
}

}  // namespace
}  // namespace copse
