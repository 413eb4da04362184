// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "copse/graph/types.hpp"
#include "copse/support/random.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace copse {

/// The random bits behind the arrows of one tree, two arrows a block of Philox: a pure function of (seed,
/// tree, node, number of the arrow).
class ArrowBits {
 public:
  static constexpr std::uint32_t kBlock = 64;

  ArrowBits(std::uint64_t seed, std::uint64_t index)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        tree_{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(Purpose::spanning_tree) << 16 ^
                                                     static_cast<std::uint32_t>(index >> 32)} {
    for (std::uint32_t round = 0; round < kRounds; ++round)
      round_keys_[round] = {key_[0] + round * 0x9E3779B9, 0, key_[1] + round * 0xBB67AE85, 0};
  }

  /// Of the arrows number 2 `pair` and 2 `pair` + 1 of `node`.
  std::array<std::uint64_t, 2> of(NodeId node, std::uint32_t pair) const {
#if defined(__SSE2__)
    // Both multiplications of a round in one instruction, and half the instructions in all.
    const std::array<std::uint32_t, 4> counter{node, pair, tree_[0], tree_[1]};
    const __m128i factors = _mm_setr_epi32(static_cast<int>(0xD2511F53), 0, static_cast<int>(0xCD9E8D57), 0);
    __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(counter.data()));
    for (const auto& round_key : round_keys_) {
      const __m128i products = _mm_mul_epu32(words, factors);
      const __m128i mixed = _mm_xor_si128(_mm_srli_epi64(words, 32),
                                          _mm_load_si128(reinterpret_cast<const __m128i*>(&round_key)));
      words = _mm_xor_si128(_mm_shuffle_epi32(products, _MM_SHUFFLE(0, 1, 2, 3)), mixed);
    }
    std::array<std::uint64_t, 2> bits;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bits.data()),
                     _mm_shuffle_epi32(words, _MM_SHUFFLE(2, 3, 0, 1)));
    return bits;
#else
    const auto block = philox4x32({node, pair, tree_[0], tree_[1]}, key_);
    return {std::uint64_t{block[0]} << 32 | block[1], std::uint64_t{block[2]} << 32 | block[3]};
#endif
  }
  /// The same for the kBlock nodes from `first` on, at a third of the price where registers are wide.
  void of_block(NodeId first, std::uint32_t pair, std::span<std::uint64_t, kBlock> even,
                std::span<std::uint64_t, kBlock> odd) const;

 private:
  static constexpr std::uint32_t kRounds = 10;

  std::array<std::uint32_t, 2> key_, tree_;
  alignas(16) std::array<std::array<std::uint32_t, 4>, kRounds> round_keys_;  // two words each, spread
};

}  // namespace copse
