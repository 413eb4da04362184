// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

#include "copse/graph/types.hpp"
#include "copse/support/buffer.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace copse {

inline std::uint64_t hash_text(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

/// Open addressing from the hash of a key to its index in an array that the caller keeps. A slot holds
/// half of the hash beside the index, so a key is only looked at when it is (almost surely) the one.
/// At the most half full; the zeroed pages of Buffer are free slots already.
class HashIndex {
 public:
  explicit HashIndex(std::uint64_t expected = 0)
      : slots_(std::bit_ceil(std::max<std::uint64_t>(2 * expected, 64))) {}

  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }

  /// The index whose key `is_key(index)`, or kNoNode.
  template <class IsKey>
  NodeId find(std::uint64_t hash, IsKey&& is_key) const {
    return entry(slots_[place(hash, is_key)]);
  }

  /// The index whose key `is_key(index)`; failing that, `fresh`, which is added.
  template <class IsKey>
  NodeId find_or_add(std::uint64_t hash, NodeId fresh, IsKey&& is_key) {
    std::uint64_t& slot = slots_[place(hash, is_key)];
    if (slot == 0) {
      slot = make(hash, fresh);
      ++used_;
    }
    return entry(slot);
  }

  /// The index whose key may have that hash, or kNoNode: a guess at what find will look at, to prefetch it.
  NodeId guess(std::uint64_t hash) const {
    constexpr std::uint64_t kEnough = 8;  // slots of a line of memory
    for (std::uint64_t i = 0; i < kEnough; ++i) {
      const std::uint64_t slot = slots_[(hash + i) & (slots_.size() - 1)];
      if (slot == 0) return kNoNode;
      if (((slot ^ hash) & kTag) == 0) return entry(slot);
    }
    return kNoNode;
  }

  /// Room for one more where the indices are 0, 1, ... in order; `hash_of(index)` is asked for every key when
  /// the table doubles, in that order: keys are read one after the other, and places are asked for in
  /// advance.
  template <class HashOf>
  void make_room(HashOf&& hash_of) {
    if (2 * (used_ + 1) <= slots_.size()) return;
    slots_ = Buffer<std::uint64_t>(2 * slots_.size());
    const std::uint64_t mask = slots_.size() - 1;
    constexpr std::uint64_t kAhead = 16;
    std::uint64_t hashes[kAhead];
    for (std::uint64_t begin = 0; begin < used_; begin += kAhead) {
      const std::uint64_t count = std::min(used_ - begin, kAhead);
      for (std::uint64_t i = 0; i < count; ++i) prefetch(hashes[i] = hash_of(static_cast<NodeId>(begin + i)));
      for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t place = hashes[i] & mask;
        while (slots_[place] != 0) place = (place + 1) & mask;
        slots_[place] = make(hashes[i], static_cast<NodeId>(begin + i));
      }
    }
  }

 private:
  static constexpr std::uint64_t kTag = 0xFFFFFFFF00000000;
  static std::uint64_t make(std::uint64_t hash, NodeId index) {
    return (hash & kTag) | (index + std::uint64_t{1});
  }
  static NodeId entry(std::uint64_t slot) { return static_cast<NodeId>(slot) - 1; }  // a free slot is kNoNode

  // The slot of the key, or the free one where it belongs.
  template <class IsKey>
  std::uint64_t place(std::uint64_t hash, IsKey&& is_key) const {
    const std::uint64_t mask = slots_.size() - 1;
    std::uint64_t i = hash & mask;
    for (; slots_[i] != 0; i = (i + 1) & mask)
      if (((slots_[i] ^ hash) & kTag) == 0 && is_key(entry(slots_[i]))) break;
    return i;
  }

  Buffer<std::uint64_t> slots_;
  std::uint64_t used_ = 0;
};

}  // namespace copse
