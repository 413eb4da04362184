// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "copse/graph/names.hpp"
#include "copse/graph/types.hpp"
#include "copse/support/buffer.hpp"

namespace copse {

/// Ids are integers only where their text is the one the number would be written as: "7", not "007" or "+7",
/// which are nodes of their own.
inline std::optional<std::uint64_t> canonical_integer(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9' || (text[0] == '0' && text.size() > 1))
    return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Which integer ids of a range occur, a bit each, and their ranks: the numbers of the nodes.
class SeenIds {
 public:
  SeenIds(NodeId smallest, NodeId largest)
      : smallest_(smallest), end_(std::uint64_t{largest} + 1), words_((end_ - smallest + 63) / 64) {}

  /// Thread-safe.
  void mark(NodeId id) {
    const NodeId bit = id - smallest_;
    std::atomic_ref<std::uint64_t> word(words_[bit / 64]);
    const std::uint64_t flag = std::uint64_t{1} << bit % 64;
    // Almost every id was seen before: a read is far cheaper than a locked write.
    if ((word.load(std::memory_order_relaxed) & flag) == 0) word.fetch_or(flag, std::memory_order_relaxed);
  }

  /// How many ids occur. After all are marked, and before the rest.
  std::uint64_t count() {
    ranks_ = Buffer<NodeId>(words_.size());
    std::uint64_t total = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      ranks_[w] = static_cast<NodeId>(total);
      total += static_cast<std::uint64_t>(std::popcount(words_[w]));
    }
    constexpr std::size_t kWords = kGroup / 64;
    for (std::size_t w = 0; w < words_.size(); w += kWords) {
      const std::uint64_t before = ranks_[w], after = w + kWords < words_.size() ? ranks_[w + kWords] : total;
      missing_.push_back(after - before == kGroup ? static_cast<NodeId>(smallest_ + 64 * w - before)
                                                  : kNoNode);
    }
    return total;
  }

  std::uint64_t end() const { return end_; }  // behind the largest
  bool has(NodeId id) const {
    return id >= smallest_ && (words_[(id - smallest_) / 64] >> (id - smallest_) % 64 & 1) != 0;
  }
  NodeId rank(NodeId id) const {
    // Where ids are nearly dense almost every group is full, and the table of groups fits in a small cache.
    if (const NodeId missing = missing_[(id - smallest_) / kGroup]; missing != kNoNode) return id - missing;
    const NodeId bit = id - smallest_;
    const std::uint64_t below = words_[bit / 64] & ((std::uint64_t{1} << bit % 64) - 1);
    return ranks_[bit / 64] + static_cast<NodeId>(std::popcount(below));
  }

  /// The ids plus `base`, in order.
  NodeNames names(std::uint64_t count, std::uint64_t base) const {
    auto ids = Buffer<NodeId>::for_overwrite(count);
    std::uint64_t node = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
        ids[node++] = static_cast<NodeId>(smallest_ + 64 * w + static_cast<unsigned>(std::countr_zero(word)));
    }
    return NodeNames::integers(base, std::move(ids));
  }

 private:
  static constexpr NodeId kGroup = 1024;

  NodeId smallest_;
  std::uint64_t end_;
  Buffer<std::uint64_t> words_;
  Buffer<NodeId> ranks_;         // ids seen before each word
  std::vector<NodeId> missing_;  // by group: id minus rank where all its ids occur, else kNoNode
};

}  // namespace copse
