// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "copse/graph/types.hpp"

namespace copse {

/// A hash of (smaller end, larger end, weight's bits), positive where the arc u -> v points up and negative
/// where it points down. Summed over all arcs, in any order, it is 0 when every edge stands in both rows with
/// the same weight, and otherwise only by a chance of 2^-64: a test of symmetry in one pass, without memory.
inline std::uint64_t signed_arc_hash(NodeId u, NodeId v, std::uint32_t weight_bits) {
  std::uint64_t x = std::uint64_t{std::min(u, v)} << 32 | std::max(u, v);
  x += weight_bits * std::uint64_t{0x9E3779B97F4A7C15};
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;  // finalizer of SplitMix64 (Steele, Lea & Flood 2014)
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  x ^= x >> 31;
  const std::uint64_t sign = u < v ? 0 : ~std::uint64_t{0};  // no branch: which way an edge points is chance
  return (x ^ sign) - sign;
}

}  // namespace copse
