// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>

#include "copse/graph/types.hpp"
#include "copse/support/random.hpp"

namespace copse {

/// Blocks of consecutive nodes in an order that differs from tree to tree. The order in which nodes join the
/// tree is that of the siblings on its line, and a committee of lines lives on their being different.
class StartBlocks {
 public:
  static constexpr NodeId kSize = 64;

  StartBlocks(NodeId num_nodes, std::uint64_t seed, std::uint64_t index)
      : num_nodes_(num_nodes), num_blocks_((num_nodes_ + kSize - 1) / kSize) {
    if (num_blocks_ == 0) return;
    Stream stream(seed, Purpose::walk_starts, index);
    block_ = stream.below(num_blocks_);
    do stride_ = 1 + stream.below(num_blocks_);
    while (std::gcd(stride_, num_blocks_) != 1);
  }

  /// The bounds of the next block; false, once, when all have been given. Then they come round again.
  bool next_block(NodeId& begin, NodeId& end) {
    if (num_given_ == num_blocks_) {
      num_given_ = 0;
      return false;
    }
    ++num_given_;
    begin = static_cast<NodeId>(block_ * kSize);
    end = static_cast<NodeId>(std::min<std::uint64_t>(begin + std::uint64_t{kSize}, num_nodes_));
    block_ = (block_ + stride_) % num_blocks_;
    return true;
  }
  /// Where the block behind the next one begins.
  std::uint64_t after_next() const { return (block_ + stride_) % num_blocks_ * kSize; }

 private:
  std::uint64_t num_nodes_, num_blocks_, num_given_ = 0, block_ = 0, stride_ = 1;
};

}  // namespace copse
