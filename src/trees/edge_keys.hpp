// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "copse/graph/graph.hpp"
#include "copse/support/random.hpp"

namespace copse {

/// 128 random bits per edge as a pure function of (seed, tree index, edge): computed where they are needed,
/// the same from both ends and on every machine, never stored. The ends fill half the counter, so the
/// purpose goes into the key instead, through Philox itself: no stream of the same seed meets these numbers.
class EdgeRandom {
 public:
  EdgeRandom(std::uint64_t seed, std::uint64_t index)
      : index_{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32)} {
    const auto mixed = philox4x32({0, static_cast<std::uint32_t>(Purpose::edge_key) << 16, 0, 0},
                                  {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    key_ = {mixed[0], mixed[1]};
  }

  std::uint64_t bits(NodeId u, NodeId v) const {
    const auto block = philox4x32({std::min(u, v), std::max(u, v), index_[0], index_[1]}, key_);
    return std::uint64_t{block[0]} << 32 | block[1];
  }

 private:
  std::array<std::uint32_t, 2> index_, key_;
};

/// Keys that put the edges in a uniformly random order.
struct UniformKeys {
  using Key = std::uint64_t;
  EdgeRandom random;

  template <class Weights>
  Key key(NodeId u, NodeId v, const Weights&, EdgeIndex, Key) const {
    return random.bits(u, v) >> 1;  // below the maximum
  }
};

/// Keys Exp(1) / weight.
struct ExponentialKeys {
  using Key = double;
  EdgeRandom random;

  template <class Weights>
  Key key(NodeId u, NodeId v, const Weights& weights, EdgeIndex arc, Key bound) const {
    const double x = static_cast<double>(random.bits(u, v) >> 11) * 0x1p-53;  // in [0, 1)
    const double weight = weights[arc];
    // -ln(1 - x) >= x: most keys are seen to be too large without a logarithm. The slack is far above the
    // rounding of either side, so that the shortcut never drops a key up to the bound.
    if (x * (1 - 1e-9) > bound * weight) return std::numeric_limits<double>::infinity();
    return negative_log(1 - x) / weight;
  }
};

}  // namespace copse
