// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "copse/graph/graph.hpp"
#include "copse/learners/forest_committee.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "support/rounded.hpp"

namespace copse {

/// How resistances along a line are measured: as integers, in units of 2^-exponent, so that sums are exact
/// and do not depend on their order. Batch sweeps and online prefix differences then decide every tie
/// alike; with prefixes in double, one decision in 10^3 to 10^5 goes wrong once resistances range over
/// 12 to 18 orders of magnitude (the loss is in the subtraction). 64 bits serve while the longest line is
/// less than 2^45 times the smallest resistance, which leaves that one at least 18 bits; else 128.
struct ResistanceScale {
  int exponent = 0;
  int weight_exponent = 0;        // weights themselves are measured in units of 2^-weight_exponent
  bool wide = false;              // 128 bits
  Weight smallest_weight = 0;     // weights below are taken as this: 2^-60 of the largest
  std::uint64_t num_clamped = 0;  // arcs with such weights

  /// For lines over `graph`, weighted or, if told so, as if every weight were 1.
  static ResistanceScale of(const GraphView& graph, bool weighted, int threads) {
    ResistanceScale scale;
    if (!weighted || !graph.is_weighted()) return scale;
    const WeightRange range = deterministic_reduce(
        threads, graph.weights.size(), WeightRange{},
        [&](std::size_t begin, std::size_t end) {
          WeightRange part;
          for (std::size_t arc = begin; arc < end; ++arc) part.add(graph.weights[arc]);
          return part;
        },
        [](WeightRange a, const WeightRange& b) {
          a.merge(b);
          return a;
        });
    scale = of(range, graph.num_nodes());
    if (scale.smallest_weight > range.low) {
      scale.num_clamped = deterministic_reduce(
          threads, graph.weights.size(), std::uint64_t{0},
          [&](std::size_t begin, std::size_t end) {
            const std::span<const Weight> part = graph.weights.subspan(begin, end - begin);
            return static_cast<std::uint64_t>(
                std::count_if(part.begin(), part.end(), [&](Weight w) { return w < scale.smallest_weight; }));
          },
          [](std::uint64_t a, std::uint64_t b) { return a + b; });
    }
    return scale;
  }
  /// For lines of so many nodes over weights of this range; without any, as if every weight were 1.
  static ResistanceScale of(const WeightRange& range, NodeId num_nodes) {
    ResistanceScale scale;
    if (range.high == 0) return scale;
    scale.smallest_weight = std::max(range.low, std::ldexp(range.high, -60));
    if (scale.smallest_weight == 0) scale.smallest_weight = std::numeric_limits<Weight>::denorm_min();
    const double longest = num_nodes / static_cast<double>(scale.smallest_weight);
    scale.wide = longest * range.high >= 0x1p45;
    const int bits = scale.wide ? 126 : 62;
    scale.exponent = bits - std::ilogb(longest) - 1;
    scale.weight_exponent = bits - std::ilogb(static_cast<double>(range.high) * num_nodes) - 1;
    return scale;
  }

  template <class Integer>
  Integer resistance(Weight weight) const {
    return rounded<Integer>(1.0 / std::max(weight, smallest_weight) * two_to_the(exponent));
  }
  /// The weight itself; sums over all edges of a forest do not overflow.
  template <class Integer>
  Integer conductance(Weight weight) const {
    return rounded<Integer>(static_cast<double>(std::max(weight, smallest_weight)) *
                            two_to_the(weight_exponent));
  }
  template <class Integer>
  double to_double(Integer distance) const {
    return static_cast<double>(distance) * two_to_the(-exponent);
  }

 private:
  /// As std::ldexp(1, power), but inline: exponents of floats and of sums of them are far from the limits of
  /// double, where this ends (and products with it are exact).
  static double two_to_the(int power) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + power) << 52);
  }
};

}  // namespace copse
