// SPDX-License-Identifier: Apache-2.0
#pragma once

// Code for registers of four doubles beside that for any processor, chosen when the program runs. Without
// fused multiply-adds (-ffp-contract=off) and without sums split over lanes, both give the same bits.

#if defined(__x86_64__)
#define COPSE_WIDE_REGISTERS [[gnu::target("avx2")]]
#else
#define COPSE_WIDE_REGISTERS
#endif

namespace copse {

// What one register holds.
struct OneDouble {
  using Vector = double;
};
struct TwoDoubles {
  using Vector = double __attribute__((vector_size(16)));
};
struct FourDoubles {
  using Vector = double __attribute__((vector_size(32)));
};

/// Any double in memory looked at as the first of a vector. A struct, because clang forgets an alignment that
/// is told with the vector's type, and then reads it as if it lay at a multiple of its size.
template <class Lane>
struct [[gnu::packed, gnu::may_alias]] InMemory {
  typename Lane::Vector value;
};

inline bool has_wide_registers() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
#else
  return false;
#endif
}

}  // namespace copse
