// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>

#include "copse/graph/graph.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "trees/prefetch.hpp"

// How a random walk chooses the arc by which it leaves a node. `choose` needs 64 random bits and reads the
// bounds of the row, then the row. Walks that are interleaved call `fetch_bounds`, then `fetch_row`, then
// `choose`, and do something else in between.

namespace copse {

/// Asks for all cache lines of the arcs [begin, begin + count). count > 0.
template <class Value>
[[gnu::always_inline]] inline void prefetch_arcs(std::span<const Value> values, EdgeIndex begin,
                                                 EdgeIndex count) {
  const auto* first = reinterpret_cast<const char*>(values.data() + begin);
  const auto* last = reinterpret_cast<const char*>(values.data() + begin + count - 1);
  for (const char* line = first; line < last; line += 64) prefetch(line);
  prefetch(last);
}

/// Every arc of a node alike: the step of an unweighted walk.
class UniformArcs {
 public:
  explicit UniformArcs(const GraphView& graph, int /*threads*/ = 1)
      : offsets_(graph.offsets.data()), neighbors_(graph.neighbors) {}

  /// The bias is below 2^-32.
  EdgeIndex choose(NodeId u, std::uint64_t bits) const {
    const EdgeIndex begin = offsets_[u], degree = offsets_[u + 1] - begin;
    return begin + static_cast<EdgeIndex>((static_cast<Uint128>(bits) * degree) >> 64);
  }
  [[gnu::always_inline]] void fetch_bounds(NodeId u) const { prefetch(offsets_ + u); }
  [[gnu::always_inline]] void fetch_row(NodeId u, std::uint64_t bits) const {
    prefetch(neighbors_.data() + choose(u, bits));
  }

 private:
  const EdgeIndex* offsets_;
  std::span<const NodeId> neighbors_;
};

/// With probability proportional to the weight of the arc, exact up to the rounding of double sums. A row of
/// up to kBlock arcs is summed at every visit: an alias table or prefix sums would take more memory than the
/// graph. Of a longer row the running sums after every kBlock arcs are kept, an eighth of a byte per arc in
/// all, and a choice sums one block.
class WeightedArcs {
 public:
  static constexpr EdgeIndex kBlock = 64;  // the last block of a long row has up to twice as many arcs

  explicit WeightedArcs(const GraphView& graph, int threads = 1)
      : offsets_(graph.offsets.data()),
        neighbors_(graph.neighbors),
        weights_(graph.weights),
        sums_(graph.num_arcs() / kBlock + 1) {
    parallel_blocks(threads, graph.num_nodes(), std::size_t{1} << 14,
                    [&](std::size_t first, std::size_t last, std::size_t) {
                      for (std::size_t u = first; u < last; ++u) sum_blocks(static_cast<NodeId>(u));
                    });
  }

  EdgeIndex choose(NodeId u, std::uint64_t bits) const {
    const double share = static_cast<double>(bits >> 11) * 0x1p-53;
    const EdgeIndex begin = offsets_[u], degree = offsets_[u + 1] - begin;
    if (degree <= kBlock) {
      const FourSums sums(weights_.subspan(begin, degree), 0);
      return begin + sums.place_of(share * sums.total());
    }
    const Block block = block_of(begin, degree, share);
    const FourSums sums(weights_.subspan(block.begin, block.size), block.before);
    return block.begin + sums.place_of(block.wanted);
  }
  [[gnu::always_inline]] void fetch_bounds(NodeId u) const { prefetch(offsets_ + u); }
  [[gnu::always_inline]] void fetch_row(NodeId u, std::uint64_t bits) const {
    EdgeIndex begin = offsets_[u], count = offsets_[u + 1] - begin;
    if (count > kBlock) {
      const Block block = block_of(begin, count, static_cast<double>(bits >> 11) * 0x1p-53);
      begin = block.begin;
      count = block.size;
    }
    prefetch_arcs(weights_, begin, count);
    prefetch_arcs(neighbors_, begin, count);
  }

 private:
  /// Running sums of weights by fours. The last four is filled up with zeros: loops whose number of turns is
  /// random, like branches that are, cost more than a few additions.
  class FourSums {
   public:
    FourSums(std::span<const Weight> weights, double before) : weights_(weights) {
      sums_[0] = before;
      const std::size_t full = weights.size() / 4;
      for (std::size_t k = 0; k < full; ++k) {
        const Weight* four = &weights[4 * k];
        sums_[k + 1] = sums_[k] + ((weight(four[0]) + weight(four[1])) + (weight(four[2]) + weight(four[3])));
      }
      total_ = sums_[full] + ((weight_at(4 * full) + weight_at(4 * full + 1)) + weight_at(4 * full + 2));
    }
    double total() const { return total_; }
    /// The first place at which the sum exceeds `wanted`, or the last one.
    std::size_t place_of(double wanted) const {
      std::size_t fours = 0;
      for (std::size_t k = 1; k <= weights_.size() / 4; ++k) fours += sums_[k] <= wanted;
      double sum = sums_[fours];
      std::size_t place = 4 * fours;
      for (std::size_t i = 4 * fours; i < 4 * fours + 3; ++i) {
        sum += weight_at(i);
        place += sum <= wanted;
      }
      return std::min(place, weights_.size() - 1);
    }

   private:
    static double weight(Weight value) { return value; }
    double weight_at(std::size_t i) const {
      const double last_or_before = weight(weights_[std::min(i, weights_.size() - 1)]);
      return i < weights_.size() ? last_or_before : 0;
    }

    std::span<const Weight> weights_;
    double total_;
    std::array<double, 2 * kBlock / 4 + 1> sums_;  // sums_[k]: before the four number k
  };

  struct Block {
    EdgeIndex begin, size;
    double before, wanted;  // the sum before its first arc, and the sum to be exceeded
  };
  Block block_of(EdgeIndex row_begin, EdgeIndex degree, double share) const {
    const double* sums = &sums_[row_begin / kBlock];
    const EdgeIndex last = degree / kBlock - 1;
    const double wanted = share * sums[last];
    const auto block = static_cast<EdgeIndex>(std::upper_bound(sums, sums + last, wanted) - sums);
    return {row_begin + block * kBlock, block_size(degree, block * kBlock), block == 0 ? 0 : sums[block - 1],
            wanted};
  }
  static EdgeIndex block_size(EdgeIndex degree, EdgeIndex first) {
    return degree - first < 2 * kBlock ? degree - first : kBlock;
  }
  /// A row has as many blocks as it fills, so that no two rows share one of the sums.
  void sum_blocks(NodeId u) {
    const EdgeIndex begin = offsets_[u], degree = offsets_[u + 1] - begin;
    if (degree <= kBlock) return;
    double* slot = &sums_[begin / kBlock];
    double sum = 0;
    for (EdgeIndex first = 0; first < degree;) {
      const EdgeIndex end = first + block_size(degree, first);
      for (; first < end; ++first) sum += weights_[begin + first];
      *slot++ = sum;
    }
  }

  const EdgeIndex* offsets_;
  std::span<const NodeId> neighbors_;
  std::span<const Weight> weights_;
  Buffer<double> sums_;
};

}  // namespace copse
