// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "copse/support/execution.hpp"
#include "copse/support/parallel.hpp"
#include "graph/arc_lists.hpp"
#include "graph/both_ways.hpp"
#include "graph/edge_collector.hpp"

namespace copse {

/// What all edges of a list have shown.
struct EdgeFacts {
  std::uint64_t listed = 0, self_loops = 0, zero_weights = 0;
  std::uint64_t upper = 0, lower = 0;  // listed from the smaller end, from the larger end
  std::vector<NodeId> dropped;         // ids of loops and edges of weight 0: they are nodes all the same

  void add(EdgeFacts&& other);
};

/// Edges on their way into a graph: each waits as it was listed, in the list of the bucket of consecutive
/// rows that its smaller end is in. Placing arcs straight into rows all over the memory would cost one miss
/// per arc; a bucket is worked on inside a cache. Edges may be added while the list is still being read:
/// where larger ids turn up than were expected, buckets get wider.
template <class Arc>
class EdgeBuckets final : public EdgeCollector {
 public:
  static constexpr bool kHasWeights = std::is_same_v<Arc, WeightedArc>;
  static constexpr std::uint64_t kEdgesPerBucket = std::uint64_t{1} << 15, kMostBuckets = 1024;

  explicit EdgeBuckets(std::uint64_t expected_edges)
      : pool_(std::make_unique<BlockPool>()), lists_(*pool_, num_buckets(expected_edges)) {}

  BlockPool& pool() { return *pool_; }
  ArcLists<Arc>& lists() { return lists_; }
  unsigned shift() const { return shift_; }
  const EdgeFacts& facts() const { return facts_; }
  std::uint64_t size() const { return facts_.upper + facts_.lower; }
  /// Every edge is listed as often from one end as from the other, with the same weights: looked for only
  /// where the two are as many, which is rare among lists that are not so.
  bool is_symmetric(const Execution& execution) const {
    if (facts_.upper != facts_.lower || facts_.upper == 0) return false;
    std::vector<BothWays> found(lists_.count());
    parallel_for(execution.threads, found.size(), [&](std::size_t b) {
      BothWays both_ways;
      lists_.visit(b, [&](std::span<Arc> arcs) {
        for (const Arc& a : arcs) both_ways.add(a.row, a.neighbor, a.weight_bits());
      });
      found[b] = both_ways;
    });
    for (std::size_t b = 1; b < found.size(); ++b) found[0].add(found[b]);
    return found[0].agree();
  }

  /// What is done with an edge does not depend on how the list is cut into pieces.
  void add(std::span<const EdgeColumns> pieces, NodeId largest_id, const Execution& execution) override {
    make_room_for(largest_id);
    const std::size_t count = lists_.count();
    cursors_.resize(pieces.size() * count);
    counts_.assign(pieces.size() * count, 0);
    std::vector<EdgeFacts> facts(pieces.size());
    parallel_for(execution.threads, pieces.size(),
                 [&](std::size_t p) { facts[p] = count_edges(pieces[p], counts_.data() + p * count); });
    for (EdgeFacts& part : facts) facts_.add(std::move(part));
    for (std::size_t b = 0; b < count; ++b)
      for (std::size_t at = b; at < cursors_.size(); at += count)
        cursors_[at] = lists_.append(b, counts_[at]);
    parallel_for(execution.threads, pieces.size(),
                 [&](std::size_t p) { move_edges(pieces[p], cursors_.data() + p * count); });
  }

  void mark_ids(SeenIds& seen, const Execution& execution) const override {
    parallel_for(execution.threads, lists_.count(), [&](std::size_t b) {
      lists_.visit(b, [&](std::span<Arc> arcs) {
        for (const Arc& a : arcs) {
          seen.mark(a.row);
          seen.mark(a.neighbor);
        }
      });
    });
    for (const NodeId id : facts_.dropped) seen.mark(id);
  }

  /// Buckets are cut anew, for the number of edges there are by now. Ranks keep the order of ids: the smaller
  /// end stays the smaller one.
  void number_now(const SeenIds& seen, std::uint64_t num_nodes) override {
    ArcLists<Arc> old = std::exchange(lists_, ArcLists<Arc>(*pool_, num_buckets(size())));
    shift_ = 0;
    make_room_for(static_cast<NodeId>(num_nodes - 1));
    for (std::size_t b = 0; b < old.count(); ++b) {
      old.visit(b, [&](std::span<Arc> arcs) {
        for (Arc& a : arcs) {
          a.row = seen.rank(a.row);
          a.neighbor = seen.rank(a.neighbor);
          typename ArcLists<Arc>::Cursor cursor = lists_.append(std::min(a.row, a.neighbor) >> shift_, 1);
          ArcLists<Arc>::put(cursor, a);
        }
      });
      old.clear(b);
    }
  }

  Graph build(std::uint64_t num_nodes, const SeenIds* seen, const BuildOptions& options,
              const Execution& execution, const std::string& where,
              BuildReport& report) override;  // edge_collector.cpp

 private:
  void make_room_for(NodeId largest_id) {
    while (largest_id >> shift_ >= lists_.count()) {
      lists_.join_pairs();
      ++shift_;
    }
  }
  // At least two: ids have 32 bits, and shifting by all of them is undefined.
  static std::size_t num_buckets(std::uint64_t num_edges) {
    return std::bit_floor(std::clamp<std::uint64_t>(num_edges / kEdgesPerBucket, 2, kMostBuckets));
  }
  static bool is_dropped(const EdgeColumns& piece, std::size_t i) {
    return piece.u[i] == piece.v[i] || (kHasWeights && piece.weight[i] == 0);
  }

  EdgeFacts count_edges(const EdgeColumns& piece, std::uint64_t* counts) const {
    EdgeFacts facts;
    facts.listed = piece.size;
    const unsigned shift = shift_;
    std::uint64_t upper = 0, dropped = 0;
    for (std::size_t i = 0; i < piece.size; ++i) {
      const NodeId u = piece.u[i], v = piece.v[i];
      if (is_dropped(piece, i)) {
        ++dropped;
        ++(u == v ? facts.self_loops : facts.zero_weights);
        facts.dropped.insert(facts.dropped.end(), {u, v});
        continue;
      }
      upper += u < v;
      ++counts[std::min(u, v) >> shift];
    }
    facts.upper = upper;
    facts.lower = piece.size - dropped - upper;
    return facts;
  }

  void move_edges(const EdgeColumns& piece, typename ArcLists<Arc>::Cursor* cursors) const {
    const unsigned shift = shift_;
    for (std::size_t i = 0; i < piece.size; ++i) {
      if (is_dropped(piece, i)) continue;
      const NodeId u = piece.u[i], v = piece.v[i];
      if constexpr (kHasWeights) {
        ArcLists<Arc>::put(cursors[std::min(u, v) >> shift], {u, v, piece.weight[i]});
      } else {
        ArcLists<Arc>::put(cursors[std::min(u, v) >> shift], {u, v});
      }
    }
  }

  std::unique_ptr<BlockPool> pool_;  // the lists know its address
  ArcLists<Arc> lists_;
  unsigned shift_ = 0;
  EdgeFacts facts_;
  std::vector<std::uint64_t> counts_;
  std::vector<typename ArcLists<Arc>::Cursor> cursors_;
};

inline void EdgeFacts::add(EdgeFacts&& other) {
  listed += other.listed;
  self_loops += other.self_loops;
  zero_weights += other.zero_weights;
  upper += other.upper;
  lower += other.lower;
  dropped.insert(dropped.end(), other.dropped.begin(), other.dropped.end());
}

}  // namespace copse
