// SPDX-License-Identifier: Apache-2.0
#include "laplacian/dense_front.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/simd.hpp"

namespace copse {
namespace {

/// A symmetric positive definite matrix, column by column.
std::vector<double> random_matrix(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> a(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i)
      a[i * n + j] = a[j * n + i] = -static_cast<double>(random() % 1000) / 1000;
  }
  for (std::size_t j = 0; j < n; ++j) {
    double sum = 0.5;
    for (std::size_t i = 0; i < n; ++i) sum -= i == j ? 0 : a[j * n + i];
    a[j * n + j] = sum;
  }
  return a;
}

/// Column by column as in a textbook, the whole square in one array.
void eliminate_plainly(std::vector<double>& a, std::size_t n, std::size_t pivots) {
  for (std::size_t k = 0; k < pivots; ++k) {
    const double root = std::sqrt(a[k * n + k]);
    a[k * n + k] = root;
    for (std::size_t i = k + 1; i < n; ++i) a[k * n + i] /= root;
    for (std::size_t j = k + 1; j < n; ++j)
      for (std::size_t i = j; i < n; ++i) a[j * n + i] -= a[k * n + i] * a[k * n + j];
  }
}

struct Parts {
  std::vector<double> panel, rest;
  DenseFront front(std::size_t n, std::size_t pivots) { return {panel.data(), n, pivots, rest.data()}; }
};

Parts split(const std::vector<double>& a, std::size_t n, std::size_t pivots) {
  Parts parts;
  parts.panel.assign(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n * pivots));
  for (std::size_t j = pivots; j < n; ++j)
    for (std::size_t i = pivots; i < n; ++i) parts.rest.push_back(a[j * n + i]);
  return parts;
}

TEST(DenseFront, agrees_with_elimination_column_by_column_in_every_shape) {
  std::vector<double> scratch;
  for (const std::size_t n : {1, 2, 5, 12, 13, 16, 17, 20, 31, 32, 65, 70, 100, 131, 200}) {
    for (const std::size_t pivots : {1, 2, 3, 7, 15, 16, 17, 33, 64, 65, 100, 129, 131, 200}) {
      if (pivots > n) continue;
      SCOPED_TRACE(std::to_string(n) + " rows, " + std::to_string(pivots) + " pivots");
      auto wanted = random_matrix(n, n + pivots);
      Parts parts = split(wanted, n, pivots);
      ASSERT_TRUE(eliminate(parts.front(n, pivots), scratch));
      eliminate_plainly(wanted, n, pivots);
      const Parts right = split(wanted, n, pivots);
      for (std::size_t j = 0; j < pivots; ++j)
        for (std::size_t i = j; i < n; ++i)
          ASSERT_NEAR(parts.panel[j * n + i], right.panel[j * n + i], 1e-10) << i << ' ' << j;
      const std::size_t rest = n - pivots;
      for (std::size_t j = 0; j < rest; ++j)
        for (std::size_t i = j; i < rest; ++i)
          ASSERT_NEAR(parts.rest[j * rest + i], right.rest[j * rest + i], 1e-10) << i << ' ' << j;
    }
  }
}

TEST(DenseFront, the_width_of_the_registers_changes_no_bit) {
  std::vector<double> scratch;
  for (const std::size_t n : {10, 40, 150}) {
    for (const std::size_t pivots : {4ul, 10ul, 37ul, 150ul}) {
      if (pivots > n) continue;
      const auto matrix = random_matrix(n, n * pivots);
      Parts a = split(matrix, n, pivots), b = a;
      ASSERT_TRUE(eliminate(a.front(n, pivots), scratch));
      const NarrowRegisters narrow;
      ASSERT_TRUE(eliminate(b.front(n, pivots), scratch));
      EXPECT_EQ(a.panel, b.panel);
      EXPECT_EQ(a.rest, b.rest);
    }
  }
}

TEST(DenseFront, refuses_pivots_that_are_not_positive_and_finite) {
  std::vector<double> scratch;
  for (const std::size_t n : {3, 50}) {
    for (const double bad :
         {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      auto matrix = random_matrix(n, 1);
      matrix[(n - 1) * n + n - 1] = bad;
      Parts parts = split(matrix, n, n);
      EXPECT_FALSE(eliminate(parts.front(n, n), scratch)) << n << ' ' << bad;
    }
  }
}

}  // namespace
}  // namespace copse
