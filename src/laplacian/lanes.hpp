// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>

#include "support/wide_registers.hpp"

// Rows of a column block (column_block.hpp) as registers: lanes<Lane>(row)[part].value.

namespace copse {

/// Right-hand sides that share a register.
template <int width, bool is_wide>
using Lanes = std::conditional_t<width % 4 == 0 && is_wide, FourDoubles,
                                 std::conditional_t<width % 2 == 0, TwoDoubles, OneDouble>>;

template <int width, class Lane>
inline constexpr std::size_t kLanes = width * sizeof(double) / sizeof(typename Lane::Vector);  // of a row

template <class Lane>
[[gnu::always_inline]] inline typename Lane::InMemory* lanes(double* row) {
  return reinterpret_cast<typename Lane::InMemory*>(row);
}
template <class Lane>
[[gnu::always_inline]] inline const typename Lane::InMemory* lanes(const double* row) {
  return reinterpret_cast<const typename Lane::InMemory*>(row);
}

}  // namespace copse
