// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "copse/graph/graph.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "trees/prefetch.hpp"

namespace copse {

/// Arcs are drawn several at a time: reading a row costs far more than choosing in it.
template <std::size_t kCount>
using Draws = std::array<std::uint64_t, kCount>;  // random bits
template <std::size_t kCount>
using Places = std::array<std::uint32_t, kCount>;  // in a row

/// Chooses an arc of a node, uniformly: the step of an unweighted walk. 0 bytes of its own.
class UniformArcs {
 public:
  explicit UniformArcs(const GraphView& graph, int /*threads*/ = 1)
      : offsets_(graph.offsets.data()),
        neighbors_(static_cast<const char*>(graph.neighbors.address(0))),
        log_bytes_(graph.neighbors.is_wide() ? 3 : 2) {}

  void prefetch_row(NodeId u) const { prefetch(offsets_ + u); }
  EdgeIndex row_begin(NodeId u) const { return offsets_[u]; }
  /// A place in the row of u for every 64 random bits; touches the row's bounds only. The bias is below
  /// 2^-32.
  template <std::size_t kCount>
  Places<kCount> begin_choice(NodeId u, const Draws<kCount>& bits) const {
    const EdgeIndex begin = offsets_[u], degree = offsets_[u + 1] - begin;
    Places<kCount> places;
    for (std::size_t k = 0; k < kCount; ++k) {
      places[k] = static_cast<std::uint32_t>((static_cast<Uint128>(bits[k]) * degree) >> 64);
      prefetch(neighbors_ + ((begin + places[k]) << log_bytes_));
    }
    return places;
  }
  template <std::size_t kCount>
  Places<kCount> finish_choice(NodeId, const Draws<kCount>&, const Places<kCount>& begun) const {
    return begun;
  }

 private:
  const EdgeIndex* offsets_;
  const char* neighbors_;
  unsigned log_bytes_;  // of a neighbor
};

/// Chooses an arc of a node with probability proportional to its weight. No alias table: that would take
/// 8 to 12 bytes an arc, more than the graph. A short row is summed and searched when its weights have
/// arrived, which costs less than one more wait for memory would; of a long row, the running sum after every
/// kBlock arcs is kept, a quarter of a byte an arc in all, and a choice reads one block. Exact up to the
/// rounding of double sums.
class WeightedArcs {
 public:
  explicit WeightedArcs(const GraphView& graph, int threads = 1)
      : offsets_(graph.offsets.data()),
        neighbors_(graph.neighbors),
        weights_(graph.weights),
        in_place_(graph.weights.is_wide() ? 0 : graph.num_arcs()),
        sums_(graph.num_arcs() / (kBlock / 2) + 1) {
    parallel_blocks(threads, graph.num_nodes(), std::size_t{1} << 14,
                    [&](std::size_t first, std::size_t last, std::size_t) {
                      for (std::size_t u = first; u < last; ++u) sum_blocks(static_cast<NodeId>(u));
                    });
  }

  void prefetch_row(NodeId u) const { prefetch(offsets_ + u); }
  EdgeIndex row_begin(NodeId u) const { return offsets_[u]; }
  /// The first arcs of the blocks that hold the choices, whose weights are being fetched.
  template <std::size_t kCount>
  Places<kCount> begin_choice(NodeId u, const Draws<kCount>& bits) const {
    const EdgeIndex begin = offsets_[u], degree = offsets_[u + 1] - begin;
    if (degree <= kBlock) {
      fetch(weights_, begin, degree);
      fetch(neighbors_, begin, degree);  // few lines: sooner than when the choice is made
      return {};
    }
    const double* sums = sums_of(begin);
    const EdgeIndex blocks = num_blocks(degree);
    Places<kCount> first;
    for (std::size_t k = 0; k < kCount; ++k) {
      const double wanted = uniform(bits[k]) * sums[blocks - 1];
      first[k] =
          static_cast<std::uint32_t>(std::upper_bound(sums, sums + (blocks - 1), wanted) - sums) * kBlock;
      fetch(weights_, begin + first[k], degree - first[k]);
    }
    return first;
  }
  template <std::size_t kCount>
  Places<kCount> finish_choice(NodeId u, const Draws<kCount>& bits, const Places<kCount>& first) const {
    const EdgeIndex begin = offsets_[u];
    const auto degree = static_cast<std::uint32_t>(offsets_[u + 1] - begin);
    Places<kCount> places;
    if (degree <= kBlock) {
      const BlockSums block(weights_, begin, degree, 0, in_place_);
      for (std::size_t k = 0; k < kCount; ++k) places[k] = block.place(uniform(bits[k]) * block.total());
      return places;
    }
    const double* sums = sums_of(begin);
    for (std::size_t k = 0; k < kCount; ++k) {
      const BlockSums block(weights_, begin + first[k], std::min(kBlock, degree - first[k]),
                            first[k] == 0 ? 0 : sums[first[k] / kBlock - 1], in_place_);
      places[k] = first[k] + block.place(uniform(bits[k]) * sums[num_blocks(degree) - 1]);
    }
    return places;
  }

 private:
  static constexpr std::uint32_t kBlock = 64;  // weights

  static double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
  static EdgeIndex num_blocks(EdgeIndex degree) { return (degree + kBlock - 1) / kBlock; }
  // A row of more than kBlock arcs has fewer blocks than half-blocks: no two rows share a slot.
  const double* sums_of(EdgeIndex row_begin) const { return &sums_[row_begin / (kBlock / 2)]; }

  template <class T>
  [[gnu::always_inline]] static void fetch_lines(const T* values, EdgeIndex arc, EdgeIndex size) {
    constexpr std::size_t kLine = 64 / sizeof(T);
    if (size == 0) return;
    const T* last = values + arc + std::min<EdgeIndex>(size, kBlock) - 1;
    for (const T* line = values + arc; line < last; line += kLine) prefetch(line);
    prefetch(last);
  }
  template <class Narrow, class Wide>
  [[gnu::always_inline]] static void fetch(const ArcArray<Narrow, Wide>& values, EdgeIndex arc,
                                           EdgeIndex size) {
    if (values.is_wide()) [[unlikely]]
      fetch_lines(static_cast<const Wide*>(values.address(0)), arc, size);
    else
      fetch_lines(static_cast<const Narrow*>(values.address(0)), arc, size);
  }

  /// Running sums of the weights of at most kBlock arcs. They go by fours, eight weights at a time, those
  /// after the last counting as 0; and the fours and the places in one are counted rather than searched: what
  /// a branch would do there is random, and a wrong guess costs as much as the rest.
  class BlockSums {
   public:
    /// Of the arcs from `arc` on. Weights below `in_place` can be read as floats where they lie.
    BlockSums(const WeightArray& weights, EdgeIndex arc, std::uint32_t size, double before,
              EdgeIndex in_place)
        : size_(size), num_fours_((size + 7) / 8 * 2) {
      if (arc + EdgeIndex{4} * num_fours_ > in_place) {
        for (std::uint32_t i = 0; i < size; ++i) padded_[i] = weights[arc + i];
        std::fill(padded_ + size, padded_ + 4 * num_fours_, Weight{0});
        weights_ = padded_;
      } else {
        weights_ = weights.narrow().data() + arc;
      }
      after_[0] = before;
      for (std::uint32_t first = 0; first < size; first += 8) {
        double* after = after_ + first / 4;
        const auto left = static_cast<std::int32_t>(size - first);
        after[1] = after[0] + sum_of_four(weights_ + first, left);
        after[2] = after[1] + sum_of_four(weights_ + first + 4, left - 4);
      }
    }
    double total() const { return after_[num_fours_]; }
    /// The arc at which the sum exceeds `wanted`.
    std::uint32_t place(double wanted) const {
      std::uint32_t four = 0;
      for (std::uint32_t k = 1; k <= num_fours_; k += 2)
        four += (after_[k] <= wanted) + (after_[k + 1] <= wanted);
      four = std::min(four, (size_ - 1) / 4);
      const Weight* w = weights_ + std::size_t{4} * four;
      const double passed = after_[four], two = double{w[0]} + double{w[1]};
      const std::uint32_t place =
          4 * four + (passed + w[0] <= wanted) + (passed + two <= wanted) + (passed + (two + w[2]) <= wanted);
      return std::min(place, size_ - 1);
    }

   private:
    // Of the first `count` of them, if there are fewer.
    static double sum_of_four(const Weight* w, std::int32_t count) {
      using Words = std::int32_t __attribute__((vector_size(16)));
      using Floats = float __attribute__((vector_size(16)));
      Words words;
      std::memcpy(&words, w, sizeof words);
      words &= Words{0, 1, 2, 3} < Words{count, count, count, count};
      const auto four = std::bit_cast<Floats>(words);
      return (double{four[0]} + double{four[1]}) + (double{four[2]} + double{four[3]});
    }

    const Weight* weights_;
    std::uint32_t size_, num_fours_;
    double after_[kBlock / 4 + 1];  // before the first four, and after every one
    Weight padded_[kBlock];
  };

  void sum_blocks(NodeId u) {
    const EdgeIndex begin = offsets_[u], degree = offsets_[u + 1] - begin;
    if (degree <= kBlock) return;
    double* slot = &sums_[begin / (kBlock / 2)];
    double passed = 0;
    for (EdgeIndex i = 0; i < degree; ++i) {
      passed += weights_[begin + i];
      if ((i + 1) % kBlock == 0 || i + 1 == degree) *slot++ = passed;
    }
  }

  const EdgeIndex* offsets_;
  NeighborArray neighbors_;
  WeightArray weights_;
  EdgeIndex in_place_;  // weights before this arc are floats with a block behind them: read where they lie
  Buffer<double> sums_;
};

}  // namespace copse
