// SPDX-License-Identifier: Apache-2.0
#include "support/wide_checksum.hpp"

#include "support/simd.hpp"

#if defined(__x86_64__) && !defined(__clang__)
#include <immintrin.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#pragma GCC push_options
#pragma GCC target("avx2")
#define XXH_VECTOR 2  // XXH_AVX2, whatever the rest is compiled for
#define XXH_INLINE_ALL
#include <xxhash.h>
static void update_in_wide_registers(void* state, const char* bytes, size_t size) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), bytes, size);
}
#pragma GCC pop_options
#endif

namespace copse {

bool update_checksum_widely(void* state, std::string_view bytes) {
  bool is_done = false;
#if defined(__x86_64__) && !defined(__clang__)
  is_done = detail::register_bytes() >= 32;
  if (is_done) update_in_wide_registers(state, bytes.data(), bytes.size());
#endif
  return is_done;
}

}  // namespace copse
