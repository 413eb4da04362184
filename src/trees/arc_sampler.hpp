// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>

#include "copse/graph/graph.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"

namespace copse {

/// Asks the processor to fetch what will be needed soon. Harmless if it never is.
inline void prefetch(const void* address) { __builtin_prefetch(address); }

/// Arcs are drawn two at a time: reading a row costs far more than choosing in it.
using TwoDraws = std::array<std::uint64_t, 2>;   // random bits
using TwoPlaces = std::array<std::uint32_t, 2>;  // in a row

/// Chooses an arc of a node, uniformly: the step of an unweighted walk. 0 bytes of its own.
class UniformArcs {
 public:
  explicit UniformArcs(const GraphView& graph, int /*threads*/ = 1)
      : offsets_(graph.offsets.data()), neighbors_(graph.neighbors.data()) {}

  void prefetch_row(NodeId u) const { prefetch(offsets_ + u); }
  EdgeIndex row_begin(NodeId u) const { return offsets_[u]; }
  /// Two places in the row of u for twice 64 random bits; touches the row's bounds only. The bias is below
  /// 2^-32.
  TwoPlaces begin_choice(NodeId u, const TwoDraws& bits) const {
    const EdgeIndex begin = offsets_[u], degree = offsets_[u + 1] - begin;
    TwoPlaces places;
    for (int k = 0; k < 2; ++k) {
      places[k] = static_cast<std::uint32_t>((static_cast<Uint128>(bits[k]) * degree) >> 64);
      prefetch(neighbors_ + begin + places[k]);
    }
    return places;
  }
  TwoPlaces finish_choice(NodeId, const TwoDraws&, const TwoPlaces& begun) const { return begun; }

 private:
  const EdgeIndex* offsets_;
  const NodeId* neighbors_;
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
        neighbors_(graph.neighbors.data()),
        weights_(graph.weights.data()),
        sums_(graph.num_arcs() / (kBlock / 2) + 1) {
    parallel_blocks(threads, graph.num_nodes(), std::size_t{1} << 14,
                    [&](std::size_t first, std::size_t last, std::size_t) {
                      for (std::size_t u = first; u < last; ++u) sum_blocks(static_cast<NodeId>(u));
                    });
  }

  void prefetch_row(NodeId u) const { prefetch(offsets_ + u); }
  EdgeIndex row_begin(NodeId u) const { return offsets_[u]; }
  /// The first arcs of the blocks that hold the choices, which are being fetched.
  TwoPlaces begin_choice(NodeId u, const TwoDraws& bits) const {
    const EdgeIndex begin = offsets_[u], degree = offsets_[u + 1] - begin;
    if (degree <= kBlock) {
      fetch_block(begin, degree);
      return {};
    }
    const double* sums = sums_of(begin);
    const EdgeIndex blocks = num_blocks(degree);
    TwoPlaces first;
    for (int k = 0; k < 2; ++k) {
      const double wanted = uniform(bits[k]) * sums[blocks - 1];
      first[k] =
          static_cast<std::uint32_t>(std::upper_bound(sums, sums + (blocks - 1), wanted) - sums) * kBlock;
      fetch_block(begin + first[k], degree - first[k]);
    }
    return first;
  }
  TwoPlaces finish_choice(NodeId u, const TwoDraws& bits, const TwoPlaces& first) const {
    const EdgeIndex begin = offsets_[u];
    const auto degree = static_cast<std::uint32_t>(offsets_[u + 1] - begin);
    if (degree <= kBlock) {
      const BlockSums block(weights_ + begin, degree, 0);
      return {block.place(uniform(bits[0]) * block.total()), block.place(uniform(bits[1]) * block.total())};
    }
    const double* sums = sums_of(begin);
    TwoPlaces places;
    for (int k = 0; k < 2; ++k) {
      const BlockSums block(weights_ + begin + first[k], std::min(kBlock, degree - first[k]),
                            first[k] == 0 ? 0 : sums[first[k] / kBlock - 1]);
      places[k] = first[k] + block.place(uniform(bits[k]) * sums[num_blocks(degree) - 1]);
    }
    return places;
  }

 private:
  static constexpr std::uint32_t kBlock = 64, kLine = 16;  // weights

  static double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
  static EdgeIndex num_blocks(EdgeIndex degree) { return (degree + kBlock - 1) / kBlock; }
  // A row of more than kBlock arcs has fewer blocks than half-blocks: no two rows share a slot.
  const double* sums_of(EdgeIndex row_begin) const { return &sums_[row_begin / (kBlock / 2)]; }

  // A block of mean length fills two lines of the cache.
  void fetch_block(EdgeIndex arc, EdgeIndex size) const {
    prefetch(weights_ + arc);
    prefetch(neighbors_ + arc);
    if (size > kLine) {
      prefetch(weights_ + arc + kLine);
      prefetch(neighbors_ + arc + kLine);
    }
  }

  /// Running sums of the weights of at most kBlock arcs. They go by fours, and the fours and the places in
  /// one are counted rather than searched: what a branch would do there is random, and a wrong guess costs as
  /// much as the rest.
  class BlockSums {
   public:
    BlockSums(const Weight* weights, std::uint32_t size, double before)
        : weights_(weights), size_(size), before_(before), total_(before) {
      for (std::uint32_t k = 0; k < size / 4; ++k) {
        const Weight* w = weights + std::size_t{4} * k;
        after_[k] = total_ += (double{w[0]} + double{w[1]}) + (double{w[2]} + double{w[3]});
      }
      for (std::uint32_t i = size / 4 * 4; i < size; ++i) total_ += weights[i];
    }
    double total() const { return total_; }
    /// The arc at which the sum exceeds `wanted`.
    std::uint32_t place(double wanted) const {
      const std::uint32_t fours = size_ / 4;
      std::uint32_t four = 0;
      for (std::uint32_t k = 0; k < fours; ++k) four += after_[k] <= wanted;
      double passed = four == 0 ? before_ : after_[four - 1];
      std::uint32_t place = 4 * four;
      if (four < fours) {
        const Weight* w = weights_ + place;
        const double two = double{w[0]} + double{w[1]};
        return place + (passed + w[0] <= wanted) + (passed + two <= wanted) +
               (passed + (two + w[2]) <= wanted);
      }
      while (place + 1 < size_ && (passed += weights_[place]) <= wanted) ++place;
      return std::min(place, size_ - 1);
    }

   private:
    const Weight* weights_;
    std::uint32_t size_;
    double before_, total_;
    double after_[kBlock / 4];  // sums up to the end of every four
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
  const NodeId* neighbors_;
  const Weight* weights_;
  Buffer<double> sums_;
};

}  // namespace copse
