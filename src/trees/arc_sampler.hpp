// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "copse/graph/graph.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"

namespace copse {

/// Asks the processor to fetch what will be needed soon. Harmless if it never is.
inline void prefetch(const void* address) { __builtin_prefetch(address); }

/// Chooses an arc of a node, uniformly: the step of an unweighted walk. 0 bytes of its own.
class UniformArcs {
 public:
  explicit UniformArcs(const GraphView& graph, int /*threads*/ = 1)
      : offsets_(graph.offsets.data()), neighbors_(graph.neighbors.data()) {}

  void prefetch_row(NodeId u) const { prefetch(offsets_ + u); }
  EdgeIndex row_begin(NodeId u) const { return offsets_[u]; }
  /// A place in the row of u for 64 random bits; touches the row's bounds only. The bias is below 2^-32.
  std::uint32_t begin_choice(NodeId u, std::uint64_t bits) const {
    const EdgeIndex begin = offsets_[u], degree = offsets_[u + 1] - begin;
    const auto choice = static_cast<std::uint32_t>((static_cast<Uint128>(bits) * degree) >> 64);
    prefetch(neighbors_ + begin + choice);
    return choice;
  }
  std::uint32_t finish_choice(NodeId, std::uint64_t, std::uint32_t begun) const { return begun; }

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
  /// The first arc of the block that holds the choice, which is being fetched.
  std::uint32_t begin_choice(NodeId u, std::uint64_t bits) const {
    const EdgeIndex begin = offsets_[u], degree = offsets_[u + 1] - begin;
    std::uint32_t first = 0;
    if (degree > kBlock) {
      const double* sums = sums_of(begin);
      const EdgeIndex blocks = num_blocks(degree);
      const double wanted = uniform(bits) * sums[blocks - 1];
      first = static_cast<std::uint32_t>(std::upper_bound(sums, sums + (blocks - 1), wanted) - sums) * kBlock;
    }
    // A block of mean length fills two lines of the cache.
    prefetch(weights_ + begin + first);
    prefetch(neighbors_ + begin + first);
    if (degree > kLine) {
      prefetch(weights_ + begin + first + kLine);
      prefetch(neighbors_ + begin + first + kLine);
    }
    return first;
  }
  std::uint32_t finish_choice(NodeId u, std::uint64_t bits, std::uint32_t first) const {
    const EdgeIndex begin = offsets_[u];
    const auto degree = static_cast<std::uint32_t>(offsets_[u + 1] - begin);
    if (degree <= kBlock) return choose_in_block(weights_ + begin, degree, 0, -1, bits);
    const double* sums = sums_of(begin);
    return first + choose_in_block(weights_ + begin + first, std::min(kBlock, degree - first),
                                   first == 0 ? 0 : sums[first / kBlock - 1], sums[num_blocks(degree) - 1],
                                   bits);
  }

 private:
  static constexpr std::uint32_t kBlock = 64, kLine = 16;  // weights

  static double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
  static EdgeIndex num_blocks(EdgeIndex degree) { return (degree + kBlock - 1) / kBlock; }
  // A row of more than kBlock arcs has fewer blocks than half-blocks: no two rows share a slot.
  const double* sums_of(EdgeIndex row_begin) const { return &sums_[row_begin / (kBlock / 2)]; }

  // The place of the arc at which the sum of the weights, from `passed` on, exceeds the random part of
  // `total` (of this block's own sum, where that is negative). Sums go by fours, and the fours and the places
  // in one are counted rather than searched: what a branch here would do is random, and a wrong guess costs
  // as much as the rest.
  static std::uint32_t choose_in_block(const Weight* weights, std::uint32_t size, double passed, double total,
                                       std::uint64_t bits) {
    double after[kBlock / 4];  // sums up to the end of every four
    const std::uint32_t fours = size / 4;
    double sum = passed;
    for (std::uint32_t k = 0; k < fours; ++k) {
      const Weight* w = weights + std::size_t{4} * k;
      sum += (double{w[0]} + double{w[1]}) + (double{w[2]} + double{w[3]});
      after[k] = sum;
    }
    for (std::uint32_t i = 4 * fours; i < size; ++i) sum += weights[i];
    const double wanted = uniform(bits) * (total < 0 ? sum : total);
    std::uint32_t chosen = 0;
    for (std::uint32_t k = 0; k < fours; ++k) chosen += after[k] <= wanted;
    if (chosen > 0) passed = after[chosen - 1];
    std::uint32_t choice = 4 * chosen;
    if (chosen < fours) {
      const Weight* w = weights + choice;
      const double two = double{w[0]} + double{w[1]};
      return choice + (passed + w[0] <= wanted) + (passed + two <= wanted) +
             (passed + (two + w[2]) <= wanted);
    }
    while (choice + 1 < size && (passed += weights[choice]) <= wanted) ++choice;
    return std::min(choice, size - 1);
  }

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
