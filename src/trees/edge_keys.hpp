// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "copse/graph/graph.hpp"
#include "copse/support/random.hpp"

namespace copse {

/// 64 random bits per edge and tree as a pure function of (seed, tree index, edge): computed where they are
/// needed, the same from both ends and on every machine, never stored. Philox gives every edge a start, from
/// which its trees are the numbers of SplitMix64 (Steele, Lea & Flood 2014): a committee whose edges pass by
/// once pays Philox once per edge. Listings of a pair that are edges of their own differ in their occurrence.
/// The ends fill half the counter, so the purpose goes into the key instead, through Philox itself: no stream
/// of the same seed meets these numbers.
class EdgeRandom {
 public:
  explicit EdgeRandom(std::uint64_t seed, std::uint64_t index = 0) : index_(index) {
    const auto mixed = philox4x32({0, static_cast<std::uint32_t>(Purpose::edge_key) << 16, 0, 0},
                                  {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    key_ = {mixed[0], mixed[1]};
  }

  std::uint64_t start(NodeId u, NodeId v, std::uint32_t occurrence = 0) const {
    const auto block = philox4x32({std::min(u, v), std::max(u, v), occurrence, 0}, key_);
    return std::uint64_t{block[0]} << 32 | block[1];
  }
  static std::uint64_t of_tree(std::uint64_t start, std::uint64_t index) {
    std::uint64_t z = start + (index + 1) * 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  std::uint64_t bits(NodeId u, NodeId v, std::uint32_t occurrence = 0) const {
    return of_tree(start(u, v, occurrence), index_);
  }

 private:
  std::uint64_t index_;
  std::array<std::uint32_t, 2> key_;
};

/// Keys that put the edges in a uniformly random order.
struct UniformKeys {
  using Key = std::uint64_t;
  EdgeRandom random;

  static Key of_bits(std::uint64_t bits, Weight, Key) { return bits >> 1; }  // below the maximum
  template <class Weights>
  Key key(NodeId u, NodeId v, const Weights&, EdgeIndex, Key bound) const {
    return of_bits(random.bits(u, v), 1, bound);
  }
};

/// Keys Exp(1) / weight.
struct ExponentialKeys {
  using Key = double;
  EdgeRandom random;

  static Key of_bits(std::uint64_t bits, Weight edge_weight, Key bound) {
    const double x = static_cast<double>(bits >> 11) * 0x1p-53;  // in [0, 1)
    const double weight = edge_weight;
    // -ln(1 - x) >= x: most keys are seen to be too large without a logarithm. The slack is far above the
    // rounding of either side, so that the shortcut never drops a key up to the bound.
    if (x * (1 - 1e-9) > bound * weight) return std::numeric_limits<double>::infinity();
    return negative_log(1 - x) / weight;
  }
  template <class Weights>
  Key key(NodeId u, NodeId v, const Weights& weights, EdgeIndex arc, Key bound) const {
    return of_bits(random.bits(u, v), weights[arc], bound);
  }
};

}  // namespace copse
