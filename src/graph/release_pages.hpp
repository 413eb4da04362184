// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace copse {

/// Gives the memory of the whole pages among these bytes back to the system; the bytes are lost. Also for
/// memory of the C library, which may keep what it is given back to itself.
inline void release_pages(void* begin, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const auto first = (address + page - 1) / page * page;
  const auto last = (address + bytes) / page * page;
  if (first < last) madvise(static_cast<char*>(begin) + (first - address), last - first, MADV_DONTNEED);
}

}  // namespace copse
