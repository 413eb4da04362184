// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/simd.hpp"

// The registers of laplacian/, until its kernels are written as simd.hpp says.

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

}  // namespace copse
