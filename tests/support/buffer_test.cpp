// SPDX-License-Identifier: Apache-2.0
#include "copse/support/buffer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace copse {
namespace {

// Both sides of the size from which pages come straight from the kernel, and of a huge page.
constexpr std::size_t kSizes[] = {1, 1000, (1U << 18) / 4 - 1, (1U << 18) / 4, 100'000, 3'000'000};

TEST(Buffer, is_zeroed_and_writable_at_any_size) {
  for (const std::size_t size : kSizes) {
    SCOPED_TRACE(size);
    Buffer<std::uint32_t> buffer(size);
    ASSERT_EQ(buffer.size(), size);
    for (const std::uint32_t value : buffer) ASSERT_EQ(value, 0U);
    for (std::size_t i = 0; i < size; ++i) buffer[i] = static_cast<std::uint32_t>(i);
    const auto& readable = buffer;
    ASSERT_EQ(readable[size - 1], size - 1);
    ASSERT_EQ(readable.span().back(), size - 1);
    ASSERT_EQ(readable.end() - readable.begin(), static_cast<std::ptrdiff_t>(size));
  }
}

TEST(Buffer, of_nothing_holds_nothing) {
  const Buffer<double> none, zero(0);
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(zero.empty());
  EXPECT_EQ(zero.data(), nullptr);
}

TEST(Buffer, moves_and_never_copies) {
  static_assert(!std::is_copy_constructible_v<Buffer<int>> && !std::is_copy_assignable_v<Buffer<int>>);
  static_assert(std::is_nothrow_move_constructible_v<Buffer<int>>);
  Buffer<int> a(100'000);
  a[7] = 42;
  const int* data = a.data();
  Buffer<int> b(std::move(a));
  EXPECT_EQ(b.data(), data);
  EXPECT_TRUE(a.empty());  // NOLINT: a moved-from buffer is an empty one
  Buffer<int> c(10);
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(c[7], 42);
  EXPECT_TRUE(b.empty());  // NOLINT
  Buffer<int>& same = c;
  c = std::move(same);
  EXPECT_EQ(c[7], 42);
  Buffer<int> d(3);
  d.swap(c);
  EXPECT_EQ(d[7], 42);
  EXPECT_EQ(c.size(), 3U);
}

TEST(Buffer, shrinks_in_place_and_keeps_what_is_in_front) {
  for (const std::size_t size : kSizes) {
    SCOPED_TRACE(size);
    Buffer<std::uint32_t> buffer(size);
    for (std::size_t i = 0; i < size; ++i) buffer[i] = static_cast<std::uint32_t>(i + 1);
    const std::uint32_t* data = buffer.data();
    for (const std::size_t smaller : {size, size / 2, size / 3, std::size_t{0}}) {
      buffer.shrink(smaller);
      ASSERT_EQ(buffer.size(), smaller);
      ASSERT_EQ(buffer.data(), data);
      for (std::size_t i = 0; i < smaller; ++i) ASSERT_EQ(buffer[i], i + 1);
    }
    Buffer<std::uint32_t> moved(std::move(buffer));  // freed as a whole, whatever it was shrunk to
    ASSERT_TRUE(moved.empty());
  }
}

}  // namespace
}  // namespace copse
