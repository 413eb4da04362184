// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "copse/support/buffer.hpp"

namespace copse {

/// Marks on nodes, an eighth of a byte each: 12.5 MB at 10^8 nodes, where bytes would no longer fit a cache.
class Bitset {
 public:
  Bitset() = default;
  explicit Bitset(std::size_t size) : words_((size + 63) / 64) {}
  bool test(std::size_t i) const { return words_[i >> 6] >> (i & 63) & 1; }
  void set(std::size_t i) { words_[i >> 6] |= std::uint64_t{1} << (i & 63); }

  /// Calls body with every place that is set, in ascending order.
  template <class Body>
  void for_each(Body&& body) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t left = words_[w]; left != 0; left &= left - 1)
        body(64 * w + static_cast<std::size_t>(std::countr_zero(left)));
    }
  }

 private:
  Buffer<std::uint64_t> words_;
};

}  // namespace copse
