// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "copse/support/buffer.hpp"

namespace copse {

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
    if (!is_mapped()) return;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t stop = end * sizeof(T) / page * page;
    if (stop < drained_ + kDrainBytes && end != values_.size()) return;
    madvise(reinterpret_cast<char*>(values_.data()) + drained_, stop - drained_, MADV_DONTNEED);
    drained_ = stop;
  }

 private:
  static constexpr std::size_t kDrainBytes = std::size_t{1}
                                             << 20;  // a call for less costs more than it gives
  bool is_mapped() const { return values_.size() * sizeof(T) >= 4 * kDrainBytes; }

  Buffer<T> values_;
  std::size_t drained_ = 0;  // bytes
};

}  // namespace copse
