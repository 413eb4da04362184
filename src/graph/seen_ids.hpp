// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "copse/graph/names.hpp"
#include "copse/graph/types.hpp"
#include "copse/support/buffer.hpp"

namespace copse {

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
  std::uint64_t count();

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
  NodeNames names(std::uint64_t count, std::uint64_t base) const;

 private:
  static constexpr NodeId kGroup = 1024;

  NodeId smallest_;
  std::uint64_t end_;
  Buffer<std::uint64_t> words_;
  Buffer<NodeId> ranks_;         // ids seen before each word
  std::vector<NodeId> missing_;  // by group: id minus rank where all its ids occur, else kNoNode
};

}  // namespace copse
