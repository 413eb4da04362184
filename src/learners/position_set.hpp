// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
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

  /// Asks the memory for the word of a position.
  void fetch(NodeId position) const { __builtin_prefetch(&levels_[0][position / 64]); }

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

/// Values at some of the positions 0 ... size - 1, 64 positions together: no insertion ever moves more than
/// 64 of them, where a hash table that grows moves all. Half a byte per position and what the values take.
template <class Value>
class PositionMap {
 public:
  explicit PositionMap(std::uint64_t size) : words_((size + 63) / 64) {}

  /// Of a member.
  const Value& operator[](NodeId position) const { return words_[position / 64].values[place(position)]; }
  Value& operator[](NodeId position) { return words_[position / 64].values[place(position)]; }

  void insert(NodeId position, Value value) {
    Word& word = words_[position / 64];
    word.values.insert(word.values.begin() + place(position), std::move(value));
    word.members |= std::uint64_t{1} << (position % 64);
  }
  void erase(NodeId position) {
    Word& word = words_[position / 64];
    word.members &= ~(std::uint64_t{1} << (position % 64));
    word.values.erase(word.values.begin() + place(position));
  }

 private:
  struct Word {
    std::uint64_t members = 0;
    std::vector<Value> values;  // of the members, ascending
  };
  std::ptrdiff_t place(NodeId position) const {
    return std::popcount(words_[position / 64].members & ((std::uint64_t{1} << (position % 64)) - 1));
  }

  std::vector<Word> words_;
};

}  // namespace copse
