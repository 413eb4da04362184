// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <type_traits>

// Several vectors side by side, node by node: value[node * width + column]. One pass over the graph then
// serves all of them. The width is known to the compiler inside a kernel.

namespace copse {

inline constexpr int kMaxWidth = 8;  // 64 bytes per node, one cache line
inline constexpr std::size_t kBlockRows =
    1 << 13;  // rows of a task and of a partial sum, on any number of threads

using ColumnValues = std::array<double, kMaxWidth>;  // one number a column

/// body(std::integral_constant<int, width>), for 1 <= width <= kMaxWidth.
template <class Body>
void with_width(int width, Body&& body) {
  switch (width) {
    case 1:
      return body(std::integral_constant<int, 1>{});
    case 2:
      return body(std::integral_constant<int, 2>{});
    case 3:
      return body(std::integral_constant<int, 3>{});
    case 4:
      return body(std::integral_constant<int, 4>{});
    case 5:
      return body(std::integral_constant<int, 5>{});
    case 6:
      return body(std::integral_constant<int, 6>{});
    case 7:
      return body(std::integral_constant<int, 7>{});
    default:
      return body(std::integral_constant<int, 8>{});
  }
}

inline ColumnValues operator+(ColumnValues a, const ColumnValues& b) {
  for (int c = 0; c < kMaxWidth; ++c) a[c] += b[c];
  return a;
}

}  // namespace copse
