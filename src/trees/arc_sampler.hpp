// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "copse/graph/graph.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "trees/prefetch.hpp"

// How a random walk chooses the arc by which it leaves a node. `choose` needs 64 random bits and reads the
// bounds of the row, then the row. Walks that are interleaved call `fetch_bounds`, then `fetch_row`, then
// `choose`, and do something else in between.

namespace copse {

/// Every arc of a node alike: the step of an unweighted walk.
class UniformArcs {
 public:
  explicit UniformArcs(const GraphView& graph)
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

/// With probability proportional to the weight of the arc, exact up to the rounding of double sums: arcs are
/// passed until their weights exceed a share of the row's total. Totals are kept, 8 bytes per node, and of
/// rows of more than kBlock arcs the running sums after every kBlock, a quarter of a byte per arc in all, so
/// that at most two blocks are passed. An alias table would take as much memory as the graph.
class WeightedArcs {
 public:
  static constexpr EdgeIndex kBlock = 32;  // the last block of a long row has up to twice as many arcs

  explicit WeightedArcs(const GraphView& graph, int threads = 1)
      : offsets_(graph.offsets.data()),
        neighbors_(graph.neighbors),
        weights_(graph.weights),
        totals_(Buffer<double>::for_overwrite(graph.num_nodes())),
        sums_(Buffer<double>::for_overwrite(graph.num_arcs() / kBlock)) {
    parallel_blocks(threads, graph.num_nodes(), std::size_t{1} << 14,
                    [&](std::size_t first, std::size_t last, std::size_t) {
                      for (std::size_t u = first; u < last; ++u) sum_row(static_cast<NodeId>(u));
                    });
  }

  EdgeIndex choose(NodeId u, std::uint64_t bits) const {
    auto [arc, end, wanted] = block_of(u, bits);
    for (; arc + 1 < end; ++arc) {
      wanted -= weights_[arc];
      if (wanted < 0) break;
    }
    return arc;
  }
  [[gnu::always_inline]] void fetch_bounds(NodeId u) const {
    prefetch(offsets_ + u);
    prefetch(&totals_[u]);
  }
  [[gnu::always_inline]] void fetch_row(NodeId u, std::uint64_t bits) const {
    const Block block = block_of(u, bits);
    constexpr EdgeIndex kLine = 16;  // arcs
    for (EdgeIndex arc = block.begin; arc < block.end; arc += kLine) {
      prefetch(&weights_[arc]);
      prefetch(&neighbors_[arc]);
    }
  }

 private:
  struct Block {
    EdgeIndex begin, end;
    double wanted;  // the sum from its begin on that is to be exceeded
  };
  Block block_of(NodeId u, std::uint64_t bits) const {
    Block block{offsets_[u], offsets_[u + 1], static_cast<double>(bits >> 11) * 0x1p-53 * totals_[u]};
    const EdgeIndex degree = block.end - block.begin;
    if (degree <= kBlock) return block;
    // A row has as many sums as it fills blocks, so that no two rows share one.
    const double* sums = &sums_[block.begin / kBlock];
    const EdgeIndex last = degree / kBlock - 1;
    const auto i = static_cast<EdgeIndex>(std::upper_bound(sums, sums + last, block.wanted) - sums);
    block.begin += i * kBlock;
    if (i < last) block.end = block.begin + kBlock;
    if (i > 0) block.wanted -= sums[i - 1];
    return block;
  }
  void sum_row(NodeId u) {
    const EdgeIndex begin = offsets_[u], degree = offsets_[u + 1] - begin;
    double sum = 0;
    for (EdgeIndex i = 0; i < degree; ++i) {
      sum += weights_[begin + i];
      if (degree > kBlock && (i + 1) % kBlock == 0) sums_[begin / kBlock + i / kBlock] = sum;
    }
    totals_[u] = sum;
  }

  const EdgeIndex* offsets_;
  std::span<const NodeId> neighbors_;
  std::span<const Weight> weights_;
  Buffer<double> totals_, sums_;
};

}  // namespace copse
