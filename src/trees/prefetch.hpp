// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace copse {

/// Asks the processor to fetch what will be needed soon. Harmless if it never is. Always inlined, as must be
/// what does nothing else: GCC takes such a function for one without effects, and drops the calls.
[[gnu::always_inline]] inline void prefetch(const void* address) { __builtin_prefetch(address); }

}  // namespace copse
