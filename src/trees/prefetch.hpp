// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace copse {

/// Asks the processor to fetch what will be needed soon. Harmless if it never is.
inline void prefetch(const void* address) { __builtin_prefetch(address); }

}  // namespace copse
