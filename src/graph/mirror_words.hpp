// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "copse/graph/types.hpp"
#include "copse/support/random.hpp"

namespace copse {

/// Random numbers by which the rows of a graph are compared with their mirror image, in one pass and without
/// memory, by a test that nobody can aim at.
///
/// An arc of smaller end a, larger end b and weight bits w is the product L(a) H(b) W(w), where L, H and W
/// are themselves products of one random 64-bit word for each part of the bits of their argument. Every arc
/// up is added, every arc down subtracted, modulo 2^64. No row holds an arc twice, so the sum is a polynomial
/// in the words whose monomials have the coefficients 1 and -1, and there are none exactly if the arcs up are
/// those down. If there are some, then, words taken one after the other, the number of zero bits that the sum
/// ends in is at most a sum of d geometric ones, d being the factors of a monomial: 64 such zeros have a
/// probability below (63 + d choose d - 1) / 2^64, which is 2^-48 without weights (d = 4) and 2^-37 with them
/// (d = 7). The words are Philox's under a key that the operating system draws: whoever wrote the graph
/// cannot know it.
class MirrorWords {
 public:
  MirrorWords(NodeId num_nodes, bool has_bits)
      : shift_(static_cast<unsigned>(std::bit_width(num_nodes)) / 2),
        low_mask_((NodeId{1} << shift_) - 1),
        high_mask_(std::bit_ceil((num_nodes >> shift_) + 1) - 1),
        words_(2 * (std::size_t{low_mask_} + high_mask_ + 2) + (has_bits ? 3 * kBitsWords : 0)) {  // even
    // Not a Stream: those are for results, which anybody can compute.
    std::random_device device;
    const std::array<std::uint32_t, 2> key{device(), device()};
    std::array<std::uint32_t, 4> counter{0, device(), device(), device()};
    for (std::size_t i = 0; i < words_.size(); i += 2, ++counter[0]) {
      const std::array<std::uint32_t, 4> four = philox4x32(counter, key);
      words_[i] = std::uint64_t{four[0]} << 32 | four[1];
      words_[i + 1] = std::uint64_t{four[2]} << 32 | four[3];
    }
  }

  /// L(node), or H(node) for the larger end. Any number may be asked for.
  std::uint64_t end(NodeId node, bool is_larger) const {
    const std::uint64_t* words = words_.data() + (is_larger ? std::size_t{low_mask_} + high_mask_ + 2 : 0);
    return words[node & low_mask_] * words[low_mask_ + 1 + (node >> shift_ & high_mask_)];
  }
  std::uint64_t bits(std::uint32_t bits) const {
    const std::uint64_t* words = words_.data() + 2 * (std::size_t{low_mask_} + high_mask_ + 2);
    return words[bits % kBitsWords] * words[kBitsWords + (bits >> 11) % kBitsWords] *
           words[2 * kBitsWords + (bits >> 22)];
  }

 private:
  static constexpr std::size_t kBitsWords = 2048;
  unsigned shift_;
  NodeId low_mask_, high_mask_;
  std::vector<std::uint64_t> words_;
};

}  // namespace copse
