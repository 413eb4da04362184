// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "copse/graph/types.hpp"

namespace copse {

/// A set of positions 0 ... size - 1 that finds the next member on either side: a hierarchy of 64-bit
/// words, each bit of a level telling whether a word below it has any. Insert, erase and look-up touch one
/// word per level (five levels for 2^30 positions); size / 63 words in all. Cesa-Bianchi et al. 2013,
/// section 6, use a marked binary tree that only grows; this one also takes members back.
class PositionSet {
 public:
  explicit PositionSet(std::uint64_t size) {
    do {
      size = (size + 63) / 64;
      levels_.emplace_back(size);
    } while (size > 1);
  }

  bool contains(NodeId position) const { return levels_[0][position / 64] >> (position % 64) & 1; }

  void insert(std::uint64_t position) {
    for (auto& level : levels_) {
      std::uint64_t& word = level[position / 64];
      const bool had_any = word != 0;
      word |= bit(position);
      if (had_any) return;
      position /= 64;
    }
  }

  void erase(std::uint64_t position) {
    for (auto& level : levels_) {
      std::uint64_t& word = level[position / 64];
      word &= ~bit(position);
      if (word != 0) return;
      position /= 64;
    }
  }

  /// The largest member <= position.
  std::optional<NodeId> at_or_before(std::uint64_t position) const {
    for (std::size_t height = 0; height < levels_.size(); ++height) {
      const std::uint64_t word = levels_[height][position / 64] & (~std::uint64_t{0} >> (63 - position % 64));
      if (word != 0)
        return descend(height, position / 64 * 64 + 63 - std::countl_zero(word),
                       [](std::uint64_t w) { return 63 - std::countl_zero(w); });
      if (position / 64 == 0) return std::nullopt;
      position = position / 64 - 1;
    }
    return std::nullopt;
  }

  /// The smallest member >= position.
  std::optional<NodeId> at_or_after(std::uint64_t position) const {
    for (std::size_t height = 0; height < levels_.size(); ++height) {
      if (position / 64 >= levels_[height].size()) return std::nullopt;
      const std::uint64_t word = levels_[height][position / 64] & (~std::uint64_t{0} << (position % 64));
      if (word != 0)
        return descend(height, position / 64 * 64 + std::countr_zero(word),
                       [](std::uint64_t w) { return std::countr_zero(w); });
      position = position / 64 + 1;
    }
    return std::nullopt;
  }

 private:
  static std::uint64_t bit(std::uint64_t position) { return std::uint64_t{1} << (position % 64); }

  template <class End>
  NodeId descend(std::size_t height, std::uint64_t position, End end) const {
    while (height-- > 0) position = position * 64 + static_cast<unsigned>(end(levels_[height][position]));
    return static_cast<NodeId>(position);
  }

  std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace copse
