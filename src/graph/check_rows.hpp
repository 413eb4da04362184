// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>

#include "copse/graph/graph.hpp"
#include "graph/mirror_words.hpp"

namespace copse {

/// What is wrong with the rows of a graph whose offsets are in order.
struct RowCheck {
  NodeId bad_row = kNoNode;  // the first that is not ascending, in range, without loops, with weights > 0
  bool is_symmetric = true;  // each edge stands in both rows, with one weight and sign; if no row is bad
};

/// Looks for it, some arcs at a time, on any thread; O(arcs), and nothing is kept per node or arc.
///
/// Every arc (smaller end, larger end, bits of its weight, sign) becomes a number that nobody who does not
/// know the key can tell; those of arcs up are added, those of arcs down subtracted. As no row holds an arc
/// twice, the sum is 0 if the arcs up are those down, and hardly ever if they are not:
///
/// - Where the processor encrypts four blocks at once (VAES), the number is the arc itself, encrypted by AES
///   under round keys that the operating system drew: 128 bits, two sums modulo 2^64. If AES cannot be told
///   from random numbers by someone who sees nothing of what it gives, whose arcs were fixed before the keys,
///   then other sums are 0 with a probability of 2^-128.
/// - Elsewhere it is the product of random words (mirror_words.hpp), without any such assumption: 2^-37.
class RowChecker {
 public:
  struct Part {
    NodeId bad_row = kNoNode;
    std::array<std::uint64_t, 2> sums{};
  };

  /// Arcs that a check asks the memory for before their time.
  static constexpr EdgeIndex kArcsAhead = EdgeIndex{1} << 14;

  explicit RowChecker(const GraphView& graph);

  /// Arcs from `begin`, a multiple of 16, to `end`: what is found joins what is in `part`.
  void check(EdgeIndex begin, EdgeIndex end, Part& part) const;
  /// All parts of a graph, in order.
  static RowCheck sum(std::span<const Part> parts);

 private:
  bool check_ciphers(EdgeIndex begin, EdgeIndex end, Part& part) const;
  bool check_words(EdgeIndex begin, EdgeIndex end, Part& part) const;
  bool is_arc_bad(EdgeIndex arc, NodeId row) const;
  NodeId row_of(EdgeIndex arc) const;

  GraphView graph_;
  std::optional<MirrorWords> words_;
  std::array<std::uint32_t, 44> round_keys_{};
};

RowCheck check_rows(const GraphView& graph, int threads);

}  // namespace copse
