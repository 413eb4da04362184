// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "copse/graph/graph.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "trees/prefetch.hpp"
#include "trees/row_choice.hpp"

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
  /// Places for all nodes from `first` on that have neighbours.
  template <std::size_t kCount>
  void choose(NodeId first, std::span<const Draws<kCount>> bits, std::span<Places<kCount>> places) const {
    for (std::size_t i = 0; i < bits.size(); ++i)
      places[i] = begin_choice(first + static_cast<NodeId>(i), bits[i]);
  }
  template <std::size_t kCount>
  void finish_choice(NodeId, const Draws<kCount>&, Places<kCount>&) const {}

 private:
  const EdgeIndex* offsets_;
  const char* neighbors_;
  unsigned log_bytes_;  // of a neighbor
};

/// Chooses an arc of a node with probability proportional to its weight. No alias table: that would take
/// 8 to 12 bytes an arc, more than the graph. A short row is summed and searched when its weights have
/// arrived (row_choice.hpp), which costs less than one more wait for memory would; of a long row, the running
/// sum after every kBlock arcs is kept, an eighth of a byte an arc in all, and a choice reads one block.
/// Exact up to the rounding of double sums.
class WeightedArcs {
 public:
  explicit WeightedArcs(const GraphView& graph, int threads = 1)
      : offsets_(graph.offsets.data()),
        num_nodes_(graph.num_nodes()),
        neighbors_(graph.neighbors),
        weights_(graph.weights),
        in_place_(graph.weights.is_wide() ? 0 : graph.num_arcs()),
        choice_(RowChoice::best()),
        sums_(graph.num_arcs() / kBlock + 1) {
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
      const double wanted = RowChoice::uniform(bits[k]) * sums[blocks - 1];
      first[k] =
          static_cast<std::uint32_t>(std::upper_bound(sums, sums + (blocks - 1), wanted) - sums) * kBlock;
      fetch(weights_, begin + first[k], block_size(degree, first[k]));
    }
    return first;
  }
  /// Makes first arcs of blocks the arcs that are chosen there. Where they lead to is being fetched.
  template <std::size_t kCount>
  void finish_choice(NodeId u, const Draws<kCount>& bits, Places<kCount>& places) const {
    const EdgeIndex begin = offsets_[u];
    const auto degree = static_cast<std::uint32_t>(offsets_[u + 1] - begin);
    std::array<Weight, RowChoice::kMostInPart> copy;
    if (degree <= kBlock) {
      choice_.in_row(readable(begin, degree, copy), degree, bits.data(), kCount, places.data());
      return;
    }
    const double* sums = sums_of(begin);
    for (std::size_t k = 0; k < kCount; ++k) {
      const std::uint32_t first = places[k], size = block_size(degree, first);
      places[k] = first + choice_.in_part(readable(begin + first, size, copy), size,
                                          first == 0 ? 0 : sums[first / kBlock - 1],
                                          RowChoice::uniform(bits[k]) * sums[num_blocks(degree) - 1]);
      fetch(neighbors_, begin + places[k], 1);
    }
  }
  /// Places for all nodes from `first` on that have neighbours. Their rows lie side by side: some are chosen
  /// from while short ones of a few nodes further on, perhaps behind the last, are being fetched.
  template <std::size_t kCount>
  void choose(NodeId first, std::span<const Draws<kCount>> bits, std::span<Places<kCount>> places) const {
    constexpr std::uint32_t kAtOnce = 8, kFurtherOn = 32;
    const auto size = static_cast<std::uint32_t>(bits.size());
    const EdgeIndex* offsets = offsets_ + first;
    const auto degree = [&](std::uint32_t i) { return offsets[i + 1] - offsets[i]; };
    const bool in_place = offsets[size] + kBlock <= in_place_;  // all that will be read
    for (std::uint32_t i = 0; i < size; ++i)
      if (degree(i) > kBlock) places[i] = begin_choice(first + i, bits[i]);
    for (std::uint32_t i = 0; i < size; i += kAtOnce) {
      fetch_short_rows(std::uint64_t{first} + i + kFurtherOn, kAtOnce);
      if (in_place)
        choice_.in_rows(weights_.narrow().data(), offsets + i, std::min(kAtOnce, size - i), bits[i].data(),
                        kCount, places[i].data());
    }
    for (std::uint32_t i = 0; i < size; ++i)
      if (degree(i) > (in_place ? kBlock : 0)) finish_choice(first + i, bits[i], places[i]);
  }

 private:
  static constexpr std::uint32_t kBlock = RowChoice::kMost;  // weights; in the last of a long row up to twice
  static_assert(RowChoice::kMostInPart >= 2 * kBlock);

  // As many as the row fills: no two rows share a slot.
  static EdgeIndex num_blocks(EdgeIndex degree) { return degree / kBlock; }
  static std::uint32_t block_size(EdgeIndex degree, EdgeIndex first) {
    const EdgeIndex left = degree - first;
    return left < 2 * kBlock ? static_cast<std::uint32_t>(left) : kBlock;
  }
  const double* sums_of(EdgeIndex row_begin) const { return &sums_[row_begin / kBlock]; }

  template <class T>
  [[gnu::always_inline]] static void fetch_lines(const T* values, EdgeIndex arc, EdgeIndex size) {
    constexpr std::size_t kLine = 64 / sizeof(T);
    if (size == 0) return;
    const T* last = values + arc + size - 1;
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

  // Every line of them once, unless long ones lie between.
  void fetch_short_rows(std::uint64_t first, std::uint64_t count) const {
    const std::uint64_t begin = std::min(first, num_nodes_), end = std::min(first + count, num_nodes_);
    const auto fetch_arcs = [&](EdgeIndex from, EdgeIndex to) {
      fetch(weights_, from, to - from);
      fetch(neighbors_, from, to - from);
    };
    if (offsets_[end] - offsets_[begin] <= (end - begin) * (kBlock / 2))
      return fetch_arcs(offsets_[begin], offsets_[end]);
    for (std::uint64_t u = begin; u < end; ++u)
      if (offsets_[u + 1] - offsets_[u] <= kBlock) fetch_arcs(offsets_[u], offsets_[u + 1]);
  }

  // The weights from `arc` on, as floats with as much behind them as a choice may read: where they lie, but
  // for double weights and the last few of the graph.
  const Weight* readable(EdgeIndex arc, std::uint32_t size,
                         std::array<Weight, RowChoice::kMostInPart>& copy) const {
    if (arc + RowChoice::num_read(size) <= in_place_) return weights_.narrow().data() + arc;
    for (std::uint32_t i = 0; i < size; ++i) copy[i] = static_cast<Weight>(weights_[arc + i]);
    std::fill(copy.begin() + size, copy.end(), Weight{0});
    return copy.data();
  }

  void sum_blocks(NodeId u) {
    const EdgeIndex begin = offsets_[u], degree = offsets_[u + 1] - begin;
    if (degree <= kBlock) return;
    double* slot = &sums_[begin / kBlock];
    double passed = 0;
    for (EdgeIndex first = 0; first < degree;) {
      const EdgeIndex end = first + block_size(degree, first);
      for (; first < end; ++first) passed += weights_[begin + first];
      *slot++ = passed;
    }
  }

  const EdgeIndex* offsets_;
  std::uint64_t num_nodes_;
  NeighborArray neighbors_;
  WeightArray weights_;
  EdgeIndex in_place_;  // weights before this arc are floats
  const RowChoice& choice_;
  Buffer<double> sums_;
};

}  // namespace copse
