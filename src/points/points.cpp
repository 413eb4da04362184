// SPDX-License-Identifier: Apache-2.0
#include "copse/points/points.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"

namespace copse {
namespace {

constexpr std::size_t kCheckedValuesPerBlock = std::size_t{1} << 18;
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// Position of the first value that is no finite number: one whose exponent bits are all set.
std::uint64_t first_not_finite(std::span<const float> values, int threads) {
  return deterministic_reduce(
      threads, values.size(), kNone,
      [&](std::size_t begin, std::size_t end) {
        bool any = false;
        for (std::size_t i = begin; i < end; ++i)
          any |= (std::bit_cast<std::uint32_t>(values[i]) << 1) >= 0xFF000000U;
        if (!any) return kNone;
        while (std::isfinite(values[begin])) ++begin;
        return std::uint64_t{begin};
      },
      [](std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }, kCheckedValuesPerBlock);
}

std::string place(const PointsView& points, std::uint64_t position) {
  std::uint64_t row = 0, column = 0;
  if (!points.is_sparse()) {
    row = position / points.num_columns;
    column = position % points.num_columns;
  } else {
    while (points.offsets[row + 1] <= position) ++row;
    column = points.columns[position];
  }
  return "row " + with_commas(row) + ", column " + with_commas(column);
}

void check_sparse(const PointsView& points, const std::string& where) {
  const auto broken = [&](const std::string& what) {
    return InputError{where, what, "rows are sorted by column, without repetition and without zeros"};
  };
  if (points.offsets.size() != points.num_points + 1 || points.offsets[0] != 0 ||
      points.offsets[points.num_points] != points.values.size() ||
      points.columns.size() != points.values.size())
    throw broken("the arrays of the sparse rows do not fit together");
  for (std::uint64_t i = 0; i < points.num_points; ++i) {
    if (points.offsets[i] > points.offsets[i + 1])
      throw broken("row " + with_commas(i) + " ends before it begins");
  }
  for (std::uint64_t i = 0; i < points.num_points; ++i) {
    const auto columns = points.columns_of(i);
    const auto values = points.row(i);
    for (std::size_t p = 0; p < columns.size(); ++p) {
      if (columns[p] >= points.num_columns || (p > 0 && columns[p] <= columns[p - 1]) || values[p] == 0)
        throw broken("row " + with_commas(i) + " is out of order at its entry " + with_commas(p));
    }
  }
}

}  // namespace

Points::Points(std::uint64_t num_points, std::uint64_t num_columns, Buffer<float> values) {
  auto owned = std::make_shared<Buffer<float>>(std::move(values));
  view_.num_points = num_points;
  view_.num_columns = num_columns;
  view_.values = owned->span();
  owner_ = std::move(owned);
}

void check_points(const PointsView& points, const std::string& where, int threads) {
  if (points.num_points == 0 || points.num_columns == 0)
    throw InputError{where,
                     "there are " + with_commas(points.num_points) + " points of " +
                         with_commas(points.num_columns) + " columns",
                     "give a matrix with one row per point and at least one column"};
  if (points.num_points > kMaxNodes)
    throw InputError{where, with_commas(points.num_points) + " points are more than copse can number",
                     "a graph may have up to " + with_commas(kMaxNodes) + " nodes"};
  if (points.is_sparse()) {
    check_sparse(points, where);
  } else if (points.values.size() / points.num_columns != points.num_points ||
             points.values.size() % points.num_columns != 0) {
    throw InputError{where,
                     with_commas(points.values.size()) + " values are not " + with_commas(points.num_points) +
                         " rows of " + with_commas(points.num_columns),
                     "give the rows one after the other, all of the same length"};
  }
  const std::uint64_t bad = first_not_finite(points.values, threads);
  if (bad != kNone) {
    const float value = points.values[bad];
    throw InputError{where,
                     place(points, bad) + " is " +
                         (std::isnan(value) ? "nan"
                          : value > 0       ? "infinite"
                                            : "minus infinite"),
                     "copse fills in nothing: drop such rows, or put a number there (rows and columns count "
                     "from 0)"};
  }
}

}  // namespace copse
