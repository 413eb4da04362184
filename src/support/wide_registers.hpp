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

// What one register holds, and how it lies in memory: where any double may be, so that a row can be looked at
// as vectors. A type of its own, since clang forgets in a template that a plain vector was declared less
// aligned, and reads it by instructions that then fail.
struct OneDouble {
  using Vector = double;
  struct InMemory {
    Vector value;
  };
};
struct TwoDoubles {
  using Vector = double __attribute__((vector_size(16)));
  struct [[gnu::packed, gnu::aligned(8), gnu::may_alias]] InMemory {
    Vector value;
  };
};
struct FourDoubles {
  using Vector = double __attribute__((vector_size(32)));
  struct [[gnu::packed, gnu::aligned(8), gnu::may_alias]] InMemory {
    Vector value;
  };
};

static_assert(alignof(TwoDoubles::InMemory) == alignof(double) &&
              alignof(FourDoubles::InMemory) == alignof(double));

/// Not with COPSE_NARROW_REGISTERS in the environment: tests/cli/determinism_test.py compares the two.
inline bool has_wide_registers() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2") && std::getenv("COPSE_NARROW_REGISTERS") == nullptr;
  return has;
#else
  return false;
#endif
}

}  // namespace copse
