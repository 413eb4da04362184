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
  /// Running sums of weights, after every fourth of them.
  class FourSums {
   public:
    FourSums(std::span<const Weight> weights, double before) : weights_(weights), before_(before) {
      double sum = before;
      std::size_t i = 0;
      for (; i + 4 <= weights.size(); i += 4) {
        sum += (value(i) + value(i + 1)) + (value(i + 2) + value(i + 3));
        after_[i / 4] = sum;
      }
      for (; i < weights.size(); ++i) sum += value(i);
      total_ = sum;
    }
    double total() const { return total_; }
    /// The first place at which the sum exceeds `wanted`, or the last one. Fours are counted rather than
    /// searched: which one it is is random, and a wrongly predicted branch costs more than a few comparisons.
    std::size_t place_of(double wanted) const {
      std::size_t fours = 0;
      for (std::size_t k = 0; k < weights_.size() / 4; ++k) fours += after_[k] <= wanted;
      double sum = fours == 0 ? before_ : after_[fours - 1];
      const std::size_t first = 4 * fours, last = std::min(first + 4, weights_.size()) - 1;
      std::size_t place = first;
      for (std::size_t i = first; i < last; ++i) {
        sum += value(i);
        place += sum <= wanted;
      }
      return std::min(place, weights_.size() - 1);
    }

   private:
    double value(std::size_t i) const { return weights_[i]; }

    std::span<const Weight> weights_;
    double before_, total_;
    std::array<double, 2 * kBlock / 4> after_;
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
