// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "copse/support/buffer.hpp"

namespace copse {

/// Gives the memory of the whole pages among these bytes back to the system; the bytes are lost. Also for
/// memory of the C library, which may keep what it is given back to itself.
inline void release_pages(void* begin, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page;
  const auto last = (reinterpret_cast<std::uintptr_t>(begin) + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

/// An array that is filled in many places at once and emptied from the front to the back, so that what it
/// takes at any time is what it holds: small pages (a huge one per place would take all at once), given back
/// as soon as they are used up.
template <class T>
class DrainedArray {
 public:
  explicit DrainedArray(std::size_t size) : values_(size) {
    if (is_mapped()) madvise(values_.data(), size * sizeof(T), MADV_NOHUGEPAGE);
  }
  T* data() { return values_.data(); }
  T& operator[](std::size_t i) { return values_[i]; }

  /// The values before `end` are not needed any more.
  void drain(std::size_t end) {
    if (!is_mapped() || (end < drained_ + kDrainAtOnce && end != values_.size())) return;
    // A page that lies across two calls stays: one in a hundred.
    release_pages(values_.data() + drained_, (end - drained_) * sizeof(T));
    drained_ = end;
  }

 private:
  // A call for less costs more than it gives.
  static constexpr std::size_t kDrainAtOnce = std::size_t{1} << 17;
  bool is_mapped() const { return values_.size() >= 4 * kDrainAtOnce; }

  Buffer<T> values_;
  std::size_t drained_ = 0;
};

}  // namespace copse
