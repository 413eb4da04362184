// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

// Code for registers of four doubles beside that for any processor, chosen when the program runs. Without
// fused multiply-adds (-ffp-contract=off) and without sums split over lanes, both give the same bits.

#if defined(__x86_64__)
#define COPSE_WIDE_REGISTERS [[gnu::target("avx2")]]
#else
#define COPSE_WIDE_REGISTERS
#endif

namespace copse {

// What one register holds. Any double in memory may be looked at as the first of a vector. Types in types,
// since a template argument would lose the attributes.
struct OneDouble {
  using Vector = double;
};
struct TwoDoubles {
  using Vector = double __attribute__((vector_size(16), aligned(8), may_alias));
};
struct FourDoubles {
  using Vector = double __attribute__((vector_size(32), aligned(8), may_alias));
};

/// Not with COPSE_NARROW_REGISTERS in the environment: tests/cli/determinism_test.py compares the two.
inline bool has_wide_registers() {
#if defined(__x86_64__)
  static const bool has =
      __builtin_cpu_supports("avx2") && std::getenv("COPSE_NARROW_REGISTERS") == nullptr;
  return has;
#else
  return false;
#endif
}

}  // namespace copse
