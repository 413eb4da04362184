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
/// 8 to 12 bytes an arc, more than the graph. Instead 16 bytes a node (row start and total weight) and,
/// for long rows, a running sum every kBlock arcs; a choice reads one block of weights. Exact up to the
/// rounding of double sums: the same running sum decides here and in the total.
class WeightedArcs {
 public:
  explicit WeightedArcs(const GraphView& graph, int threads = 1)
      : rows_(graph.offsets.size()), sums_(graph.num_arcs() / kBlock + 1), graph_(graph) {
    rows_[graph.num_nodes()].begin = graph.num_arcs();
    parallel_blocks(threads, graph.num_nodes(), std::size_t{1} << 14,
                    [&](std::size_t first, std::size_t last, std::size_t) {
                      for (std::size_t u = first; u < last; ++u) {
                        const EdgeIndex begin = graph.offsets[u], end = graph.offsets[u + 1];
                        double sum = 0;
                        for (EdgeIndex arc = begin; arc < end; ++arc) {
                          if (arc != begin && (arc - begin) % kBlock == 0)
                            sums_[sum_slot(begin, (arc - begin) / kBlock - 1)] = sum;
                          sum += graph.weights[arc];
                        }
                        rows_[u] = {begin, sum};
                      }
                    });
  }

  void prefetch_row(NodeId u) const { prefetch(&rows_[u]); }
  EdgeIndex row_begin(NodeId u) const { return rows_[u].begin; }
  std::uint32_t begin_choice(NodeId u, std::uint64_t bits) const {
    const EdgeIndex begin = rows_[u].begin, degree = rows_[u + 1].begin - begin;
    std::uint32_t first = 0;
    if (degree > kBlock) {
      const double* sums = &sums_[sum_slot(begin, 0)];
      const auto blocks = (degree + kBlock - 1) / kBlock;
      first =
          static_cast<std::uint32_t>(std::upper_bound(sums, sums + (blocks - 1), target(u, bits)) - sums) *
          kBlock;
    }
    prefetch(&graph_.weights[begin + first]);
    prefetch(&graph_.neighbors[begin + first]);
    if (degree > 12) {
      prefetch(&graph_.weights[begin + first] + 16);
      prefetch(&graph_.neighbors[begin + first] + 16);
    }
    return first;
  }
  std::uint32_t finish_choice(NodeId u, std::uint64_t bits, std::uint32_t first) const {
    const EdgeIndex begin = rows_[u].begin;
    const auto degree = static_cast<std::uint32_t>(rows_[u + 1].begin - begin);
    const std::uint32_t last = std::min<std::uint32_t>(first + kBlock, degree) - 1;
    const double wanted = target(u, bits);
    const Weight* weights = &graph_.weights[begin];
    double sum = first == 0 ? 0 : sums_[sum_slot(begin, first / kBlock - 1)];
    std::uint32_t choice = first;
    while (choice < last && (sum += weights[choice]) <= wanted) ++choice;
    return choice;
  }

 private:
  static constexpr std::uint32_t kBlock = 64;
  struct Row {
    EdgeIndex begin;
    double total;
  };
  // Sums after all blocks of a row but its last: never a slot that another row uses.
  static EdgeIndex sum_slot(EdgeIndex row_begin, EdgeIndex block) { return row_begin / kBlock + block; }
  double target(NodeId u, std::uint64_t bits) const {
    return static_cast<double>(bits >> 11) * 0x1p-53 * rows_[u].total;
  }

  Buffer<Row> rows_;
  Buffer<double> sums_;
  GraphView graph_;
};

}  // namespace copse
