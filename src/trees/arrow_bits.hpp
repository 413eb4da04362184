// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "copse/graph/types.hpp"
#include "copse/support/random.hpp"

namespace copse {

/// The random bits behind the arrows of one tree, two arrows a block of Philox: a pure function of (seed,
/// tree, node, number of the arrow).
class ArrowBits {
 public:
  static constexpr std::uint32_t kBlock = 64;

  ArrowBits(std::uint64_t seed, std::uint64_t index)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        tree_{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(Purpose::spanning_tree) << 16 ^
                                                     static_cast<std::uint32_t>(index >> 32)} {}

  /// Of the arrows number 2 `pair` and 2 `pair` + 1 of `node`.
  std::array<std::uint64_t, 2> of(NodeId node, std::uint32_t pair) const {
    const auto block = philox4x32({node, pair, tree_[0], tree_[1]}, key_);
    return {std::uint64_t{block[0]} << 32 | block[1], std::uint64_t{block[2]} << 32 | block[3]};
  }
  /// The same for the kBlock nodes from `first` on, at a third of the price where registers are wide.
  void of_block(NodeId first, std::uint32_t pair, std::span<std::uint64_t, kBlock> even,
                std::span<std::uint64_t, kBlock> odd) const;

 private:
  std::array<std::uint32_t, 2> key_, tree_;
};

}  // namespace copse
