// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "copse/graph/graph.hpp"
#include "copse/support/random.hpp"
#include "copse/trees/spanning_forest.hpp"
#include "support/simd.hpp"

namespace copse {

namespace detail {

/// EdgeRandom::start() of many edges: Philox with its numbers of 32 bits in lanes of 64.
struct EdgeStarts {
  static constexpr bool kWidest = true;
  template <std::size_t>
  [[gnu::always_inline]] void operator()(const NodeId* u, const NodeId* v, const std::uint32_t* occurrence,
                                         std::size_t count, std::array<std::uint32_t, 2> key,
                                         std::uint64_t* starts) const {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t c0 = std::min(u[i], v[i]), c1 = std::max(u[i], v[i]), c2 = occurrence[i], c3 = 0;
      std::uint32_t k0 = key[0], k1 = key[1];
#pragma GCC unroll 10
      for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * static_cast<std::uint32_t>(c0);
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * static_cast<std::uint32_t>(c2);
        c0 = b >> 32 ^ c1 ^ k0;
        c1 = static_cast<std::uint32_t>(b);
        c2 = a >> 32 ^ c3 ^ k1;
        c3 = static_cast<std::uint32_t>(a);
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
      }
      starts[i] = c0 << 32 | c1;
    }
  }
};

/// SplitMix64 after so many steps from each start.
struct EdgeBits {
  static constexpr bool kWidest = true;
  template <std::size_t>
  [[gnu::always_inline]] void operator()(const std::uint64_t* starts, std::size_t count, std::uint64_t steps,
                                         std::uint64_t* bits) const {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t z = starts[i] + steps * 0x9E3779B97F4A7C15;
      z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
      z = (z ^ z >> 27) * 0x94D049BB133111EB;
      bits[i] = z ^ z >> 31;
    }
  }
};

}  // namespace detail

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
  std::uint64_t bits(NodeId u, NodeId v, std::uint32_t occurrence = 0) const {
    std::uint64_t bits = start(u, v, occurrence);
    detail::EdgeBits{}.operator()<8>(&bits, 1, index_ + 1, &bits);
    return bits;
  }

  /// Of many edges at once, a fraction of the time each; of_tree may write over the starts.
  void starts(const NodeId* u, const NodeId* v, const std::uint32_t* occurrence, std::size_t count,
              std::uint64_t* starts) const {
    run_kernel(detail::EdgeStarts{}, u, v, occurrence, count, key_, starts);
  }
  static void of_tree(const std::uint64_t* starts, std::size_t count, std::uint64_t index,
                      std::uint64_t* bits) {
    run_kernel(detail::EdgeBits{}, starts, count, index + 1, bits);
  }
  void bits(const NodeId* u, const NodeId* v, const std::uint32_t* occurrence, std::size_t count,
            std::uint64_t* bits) const {
    starts(u, v, occurrence, count, bits);
    of_tree(bits, count, index_, bits);
  }

 private:
  std::uint64_t index_;
  std::array<std::uint32_t, 2> key_;
};

/// Of every second tree siblings come by number, as in those that walks draw, of the others by key: numbers
/// say something about labels in some graphs, and nothing in others (docs/scale.md).
constexpr Siblings siblings_of(std::uint64_t tree) {
  return tree % 2 == 1 ? Siblings::by_number : Siblings::by_edge;
}

/// Keys that put the edges in a uniformly random order.
struct UniformKeys {
  using Key = std::uint64_t;
  EdgeRandom random;

  static Key of_bits(std::uint64_t bits, Weight, Key) { return bits >> 1; }  // below the maximum
  static std::uint64_t order(std::uint64_t bits, Weight) { return bits >> 1; }
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
  /// A whole number in the order of the keys: doubles that are not negative order as their bits do.
  static std::uint64_t order(std::uint64_t bits, Weight weight) {
    const Key key = of_bits(bits, weight, std::numeric_limits<Key>::infinity());
    return std::bit_cast<std::uint64_t>(key + 0.0);  // no -0
  }
  template <class Weights>
  Key key(NodeId u, NodeId v, const Weights& weights, EdgeIndex arc, Key bound) const {
    return of_bits(random.bits(u, v), weights[arc], bound);
  }
};

}  // namespace copse
