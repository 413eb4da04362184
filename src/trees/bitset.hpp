// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "copse/support/buffer.hpp"

namespace copse {

/// Marks on nodes, an eighth of a byte each: 12.5 MB at 10^8 nodes, where bytes would no longer fit a cache.
class Bitset {
 public:
  explicit Bitset(std::size_t size) : words_((size + 63) / 64) {}
  bool test(std::size_t i) const { return words_[i >> 6] >> (i & 63) & 1; }
  void set(std::size_t i) { words_[i >> 6] |= std::uint64_t{1} << (i & 63); }

 private:
  Buffer<std::uint64_t> words_;
};

}  // namespace copse
