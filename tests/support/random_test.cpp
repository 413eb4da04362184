// SPDX-License-Identifier: Apache-2.0
#include "copse/support/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace copse {
namespace {

double chi_square(const std::vector<std::uint64_t>& counts) {
  double total = 0, sum = 0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  for (const std::uint64_t count : counts)
    sum += std::pow(static_cast<double>(count) - expected, 2) / expected;
  return sum;
}

// The bound that a chi-square variable of this many degrees of freedom exceeds about once in 30 000
// times: mean and four standard deviations, widened for its skewness (Wilson & Hilferty 1931).
double chi_square_bound(double degrees) {
  const double a = 2 / (9 * degrees);
  return degrees * std::pow(1 - a + 4 * std::sqrt(a), 3);
}

// First numbers of xoshiro256++ from the state 1, 2, 3, 4, computed by hand from its definition (Blackman &
// Vigna, ACM TOMS 2021): rotl(1 + 4, 23) + 1 is the first.
TEST(FastStream, gives_the_known_first_numbers) {
  FastStream stream(std::array<std::uint64_t, 4>{1, 2, 3, 4});
  EXPECT_EQ(stream.next64(), 41943041u);
  EXPECT_EQ(stream.next64(), 58720359u);
}

TEST(FastStream, is_a_pure_function_of_seed_purpose_and_index_and_uniform) {
  const auto first = [](std::uint64_t seed, Purpose purpose, std::uint64_t index) {
    return FastStream(seed, purpose, index).next64();
  };
  EXPECT_EQ(first(1, Purpose::test, 2), first(1, Purpose::test, 2));
  EXPECT_NE(first(1, Purpose::test, 2), first(2, Purpose::test, 2));
  EXPECT_NE(first(1, Purpose::test, 2), first(1, Purpose::split, 2));
  EXPECT_NE(first(1, Purpose::test, 2), first(1, Purpose::test, 3));
  FastStream stream(1, Purpose::test, 0);
  std::vector<std::uint64_t> high(256), low(256);
  for (int i = 0; i < 256 * 1000; ++i) {
    const std::uint64_t bits = stream.next64();
    ++high[bits >> 56];
    ++low[bits & 255];
  }
  EXPECT_LT(chi_square(high), chi_square_bound(255));
  EXPECT_LT(chi_square(low), chi_square_bound(255));
}

// Known answers of philox4x32-10 from the file kat_vectors of Random123 (Salmon et al., SC 2011).
TEST(Philox, gives_the_published_known_answers) {
  using Counter = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Stream, is_philox_with_seed_as_key_and_purpose_and_index_in_the_counter) {
  Stream stream{0x1122334455667788, Purpose::split, 0x99aabbccddeeff00};
  for (std::uint32_t block = 0; block < 3; ++block) {
    const auto expected = philox4x32({block, 3U << 16, 0xddeeff00, 0x99aabbcc}, {0x55667788, 0x11223344});
    for (const std::uint32_t word : expected) EXPECT_EQ(stream.next32(), word);
  }
}

TEST(Stream, differs_by_seed_purpose_and_index_and_by_nothing_else) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (const Purpose purpose : {Purpose::spanning_tree, Purpose::edge_key, Purpose::split, Purpose::test})
      for (std::uint64_t index = 0; index < 10; ++index) firsts.insert(Stream(seed, purpose, index).next64());
  EXPECT_EQ(firsts.size(), 400U);
  // Seeds and indices use all of their 64 bits.
  EXPECT_NE(Stream(1, Purpose::test, 0).next64(), Stream(1 + (1ULL << 32), Purpose::test, 0).next64());
  EXPECT_NE(Stream(1, Purpose::test, 0).next64(), Stream(1, Purpose::test, 1ULL << 32).next64());
  EXPECT_EQ(Stream(5, Purpose::test, 6).next64(), Stream(5, Purpose::test, 6).next64());
}

TEST(Stream, next64_is_two_words_high_first) {
  Stream words{7, Purpose::test, 0}, pairs{7, Purpose::test, 0};
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t high = words.next32(), low = words.next32();
    EXPECT_EQ(pairs.next64(), high << 32 | low);
  }
}

TEST(Stream, bytes_are_uniform_along_a_stream_and_across_streams) {
  std::vector<std::uint64_t> along(256), by_index(256), by_seed(256), by_pair(4096);
  Stream stream{1, Purpose::test, 0};
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const std::uint32_t word = stream.next32();
    for (int shift = 0; shift < 32; shift += 8) ++along[word >> shift & 0xFF];
    const std::uint32_t first = Stream(1, Purpose::test, i).next32(),
                        next = Stream(1, Purpose::test, i + 1).next32();
    ++by_index[first >> 24];
    ++by_seed[Stream(i, Purpose::test, 0).next32() & 0xFF];
    ++by_pair[(first >> 26) << 6 | next >> 26];  // neighbouring streams know nothing of each other
  }
  EXPECT_LT(chi_square(along), chi_square_bound(255));
  EXPECT_LT(chi_square(by_index), chi_square_bound(255));
  EXPECT_LT(chi_square(by_seed), chi_square_bound(255));
  EXPECT_LT(chi_square(by_pair), chi_square_bound(4095));
}

TEST(Stream, streams_of_one_index_with_different_purposes_are_uncorrelated) {
  std::vector<std::uint64_t> joint(1024);
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const std::uint32_t a = Stream(1, Purpose::spanning_tree, i).next32(),
                        b = Stream(1, Purpose::edge_key, i).next32();
    ++joint[(a >> 27) << 5 | b >> 27];
  }
  EXPECT_LT(chi_square(joint), chi_square_bound(1023));
}

TEST(Uniform, lies_in_the_half_open_interval_and_is_uniform) {
  Stream stream{2, Purpose::test, 0};
  std::vector<std::uint64_t> counts(1000);
  double sum = 0;
  constexpr int kDraws = 500'000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = stream.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    ASSERT_EQ(u * 0x1p53, std::floor(u * 0x1p53));
    ++counts[static_cast<std::size_t>(u * 1000)];
    sum += u;
  }
  EXPECT_LT(chi_square(counts), chi_square_bound(999));
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
}

TEST(Below, is_uniform_for_small_bounds) {
  for (const std::uint64_t bound : {1U, 2U, 3U, 7U, 10U, 100U}) {
    SCOPED_TRACE(bound);
    Stream stream{3, Purpose::test, bound};
    std::vector<std::uint64_t> counts(bound);
    for (int i = 0; i < 100'000; ++i) {
      const std::uint64_t value = stream.below(bound);
      ASSERT_LT(value, bound);
      ++counts[value];
    }
    if (bound > 1) {
      EXPECT_LT(chi_square(counts), chi_square_bound(static_cast<double>(bound - 1)));
    }
  }
}

TEST(Below, is_exact_where_a_plain_multiplication_would_be_off_by_a_third) {
  // For a bound of 3/4 * 2^64 multiply-and-shift without rejection hits every third value twice as often.
  const std::uint64_t bound = 3ULL << 62;
  Stream stream{4, Purpose::test, 0};
  std::vector<std::uint64_t> by_residue(3), by_third(3);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value = stream.below(bound);
    ASSERT_LT(value, bound);
    ++by_residue[value % 3];
    ++by_third[value >> 62];
  }
  EXPECT_LT(chi_square(by_residue), chi_square_bound(2));
  EXPECT_LT(chi_square(by_third), chi_square_bound(2));
}

// The twin is the same 64-bit numbers with every biased one rejected by division, not by Lemire's test.
TEST(Below, rejects_exactly_the_biased_numbers) {
  for (const std::uint64_t bound : {3ULL << 62, (1ULL << 63) + 1, ~0ULL, 5ULL, 1ULL << 40}) {
    Stream fast{5, Purpose::test, bound}, plain{5, Purpose::test, bound};
    for (int i = 0; i < 1000; ++i) {
      const std::uint64_t value = fast.below(bound);
      // 2^64 mod bound low parts must be rejected for every value to have equally many numbers.
      const auto rejected = static_cast<std::uint64_t>((static_cast<Uint128>(1) << 64) % bound);
      std::uint64_t expected = 0;
      for (;;) {
        const Uint128 product = static_cast<Uint128>(plain.next64()) * bound;
        expected = static_cast<std::uint64_t>(product >> 64);
        if (static_cast<std::uint64_t>(product) >= rejected) break;
      }
      ASSERT_EQ(value, expected) << bound;
    }
  }
}

double relative_error(double u) {
  const long double exact = -std::log(static_cast<long double>(u));
  return static_cast<double>(std::abs((static_cast<long double>(negative_log(u)) - exact) / exact));
}

TEST(NegativeLog, agrees_with_the_logarithm_in_long_double_over_the_whole_range) {
  EXPECT_EQ(negative_log(1), 0);
  double worst = 0;
  std::mt19937_64 random(6);
  for (int i = 0; i < 200'000; ++i) {
    const double mantissa = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
    const int exponent = -1 - static_cast<int>(random() % 1022);
    worst = std::max(worst, relative_error(std::ldexp(mantissa, exponent)));
    worst = std::max(worst, relative_error(static_cast<double>((random() >> 11) + 1) * 0x1p-53));
  }
  for (int exponent = -1; exponent >= -1022; --exponent) {
    worst = std::max(worst, relative_error(std::ldexp(1.0, exponent)));
    worst = std::max(worst, relative_error(std::nextafter(std::ldexp(1.0, exponent), 1.0)));
    worst =
        std::max(worst, relative_error(std::ldexp(0x1.6a09e667f3bcdp0, exponent)));  // where the halves meet
    worst = std::max(worst, relative_error(std::ldexp(0x1.6a09e667f3bcep0, exponent)));
  }
  EXPECT_LT(worst, 4e-16);
}

TEST(NegativeLog, keeps_its_precision_near_one) {
  double worst = 0;
  for (std::uint64_t k = 1; k < 100'000; ++k)
    worst = std::max(worst, relative_error(1 - static_cast<double>(k) * 0x1p-53));
  for (int exponent = 1; exponent <= 53; ++exponent)
    worst = std::max(worst, relative_error(1 - std::ldexp(1.0, -exponent)));
  EXPECT_LT(worst, 6e-16);
  EXPECT_GT(negative_log(1 - 0x1p-53), 0);
}

TEST(NegativeLog, falls_as_its_argument_rises) {
  // Sampled over steps far above its error: keys of edges compare as the uniform numbers they come from.
  double last = std::numeric_limits<double>::infinity();
  for (double u = 0x1p-53; u <= 1; u *= 1.0001) {
    EXPECT_LT(negative_log(u), last);
    last = negative_log(u);
  }
}

TEST(NegativeLog, has_the_same_bits_in_every_build) {
  // Frozen: what a seed means must not change with a compiler. (Checked against long double above.)
  EXPECT_EQ(negative_log(0.5), 0x1.62e42fefa39efp-1);
  EXPECT_EQ(negative_log(0x1p-53), 53 * 0x1.62e42fefa39efp-1);
}

TEST(Exponential, has_the_exponential_distribution) {
  Stream stream{8, Purpose::test, 0};
  std::vector<std::uint64_t> counts(64);  // by quantile: all places equally likely
  double sum = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = exponential(stream);
    ASSERT_GE(x, 0);
    ASSERT_TRUE(std::isfinite(x));
    ++counts[std::min<std::size_t>(63, static_cast<std::size_t>(64 * -std::expm1(-x)))];
    sum += x;
  }
  EXPECT_LT(chi_square(counts), chi_square_bound(63));
  EXPECT_NEAR(sum / kDraws, 1, 5 / std::sqrt(kDraws));
}

}  // namespace
}  // namespace copse
