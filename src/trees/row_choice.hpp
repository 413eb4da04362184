// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "copse/graph/types.hpp"

namespace copse {

/// Chooses arcs among a few neighbouring ones, with probabilities proportional to their weights:
/// exact up to the rounding of double sums. Weights are added by fours, and the sums up to a choice are
/// counted rather than searched: what a branch would do there is random, and a wrong guess costs as much as
/// the rest.
struct RowChoice {
  static constexpr std::uint32_t kMost = 64, kMostInPart = 128;
  /// Rows are read in whole fours, and at least so far; what lies behind the last weight does not count.
  static constexpr std::uint32_t kLeastRead = 16;
  static constexpr std::uint32_t num_read(std::uint32_t size) {
    return size <= kLeastRead ? kLeastRead : (size + 3) / 4 * 4;
  }

  /// For each of `count` times 64 random bits the place of an arc in a whole row.
  void (*in_row)(const Weight* weights, std::uint32_t size, const std::uint64_t* bits, std::uint32_t count,
                 std::uint32_t* places);
  /// The same for `num_rows` rows one after the other, row i from offsets[i] on; those that are empty or too
  /// long are passed over.
  void (*in_rows)(const Weight* weights, const EdgeIndex* offsets, std::uint32_t num_rows,
                  const std::uint64_t* bits, std::uint32_t count, std::uint32_t* places);
  /// The place in a part of a row at which the sum, `before` the part's first weight, exceeds `wanted`.
  std::uint32_t (*in_part)(const Weight* weights, std::uint32_t size, double before, double wanted);

  static double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

  static const RowChoice kAnyProcessor;
  /// The quickest for this processor. All give the same places.
  static const RowChoice& best();
};

}  // namespace copse
