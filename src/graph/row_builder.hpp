// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "copse/graph/build.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/parallel.hpp"
#include "graph/edge_buckets.hpp"
#include "graph/edge_collector.hpp"
#include "graph/sort_rows.hpp"

// An edge {u < v} waits in the bucket of u, is sorted there as the arc u -> v (an *upper* arc of row u), and
// is copied to its row and, as v -> u (a *lower* arc of row v), to the bucket of v. Buckets go in order of
// rows, so the bucket of v is still to come and gets its lower arcs sorted by u: only upper arcs are ever
// sorted.
//
// Memory: buckets are freed as their rows are done, and rows take none before. An edge waits in one place at
// a time, 8 bytes of it (12 weighted) against the 8 (16) of its two arcs in the graph: with fraction x of the
// rows done, x^2 of the edges of a random graph have gone and the peak is 1.25 (1.08) times the graph, where
// list and graph side by side would be 2 (1.75).

namespace copse {

/// Takes the signs off the weights of arcs and returns them as GraphView::negative; empty if none is below 0.
/// Weights that then are all 1 are given up: a graph of signs alone has none.
Buffer<std::uint64_t> take_signs(Buffer<Weight>& weights, int threads);  // signs.cpp

/// Makes the graph of the edges in buckets. Ids are nodes, or `seen` gives them their numbers, in order.
template <class Arc>
class RowBuilder {
  static constexpr bool kHasWeights = EdgeBuckets<Arc>::kHasWeights;
  using Key = typename Arc::Key;
  using Cursor = typename ArcLists<Arc>::Cursor;

 public:
  RowBuilder(EdgeBuckets<Arc>& edges, std::uint64_t num_nodes, const SeenIds* seen,
             const BuildOptions& options, const Execution& execution, const std::string& where)
      : edges_(edges),
        upper_(edges_.lists()),
        lower_(edges_.pool(), upper_.count()),
        has_duplicate_lower_(upper_.count()),
        num_nodes_(num_nodes),
        end_of_ids_(seen == nullptr ? num_nodes : seen->end()),
        seen_(seen),
        policy_(options.duplicates),
        is_signed_(options.is_signed),
        is_symmetric_(edges_.is_symmetric(execution)),
        num_kept_(is_symmetric_ ? edges_.size() / 2 : edges_.size()),
        execution_(execution),
        where_(where) {}

  Graph build(BuildReport& report) {
    report.num_listed = edges_.facts().listed;
    report.num_self_loops = edges_.facts().self_loops;
    report.num_zero_weights = edges_.facts().zero_weights;
    build_buckets();
    const EdgeIndex num_edges = num_arcs_ / 2;
    report.listed_both_ways = is_symmetric_ && num_duplicates_ == 0;
    report.num_cancelled = num_cancelled_ / 2;
    if (!report.listed_both_ways)
      report.num_merged = num_kept_ * (is_symmetric_ ? 2 : 1) - num_edges - report.num_cancelled;
    if (is_symmetric_ && num_duplicates_ != 0 && policy_ == Duplicates::sum) double_weights();
    offsets_[num_nodes_] = num_arcs_;
    neighbors_.shrink(num_arcs_);
    if (!weights_.empty()) weights_.shrink(num_arcs_);
    Buffer<std::uint64_t> negative;
    if (is_signed_) negative = take_signs(weights_, execution_.threads);
    return Graph{std::move(offsets_), std::move(neighbors_), std::move(weights_), std::move(negative)};
  }

 private:
  struct Pair {
    NodeId u, v;
    bool differ_in_sign = false;
  };

  // Of a bucket whose rows are being made; its memory is kept for the next one.
  struct Scratch {
    NodeId first = 0, last = 0;            // ids of its rows
    std::vector<Key> upper;                // by row
    std::vector<std::uint64_t> upper_end;  // of each row, in upper
    std::vector<std::uint64_t> counts;     // upper arcs by bucket of their larger end
    std::vector<Cursor> cursors;           // where these go
    std::vector<EdgeIndex> row_begin;      // in the graph; one more than there are rows
    std::vector<EdgeIndex> next;           // place_arcs
    std::vector<NodeId> duplicates;        // larger ends of upper arcs that repeat the one before
    EdgeIndex begin = 0, size = 0;         // in the graph
    EdgeIndex cancelled = 0;               // arcs whose weights add to 0
    RowSorter<Key> sorter;
    std::optional<Pair> bad;

    std::size_t num_rows() const { return last - first; }
    std::span<Key> upper_of(std::size_t row) {
      const std::uint64_t begin_of_row = row == 0 ? 0 : upper_end[row - 1];
      return {upper.data() + begin_of_row, upper_end[row] - begin_of_row};
    }
  };

  NodeId first_id(std::size_t bucket) const {
    return static_cast<NodeId>(std::min(std::uint64_t{bucket} << edges_.shift(), end_of_ids_));
  }

  // A few buckets at a time, so that threads have work and little memory waits.
  void build_buckets() {
    offsets_ = Buffer<EdgeIndex>(num_nodes_ + 1);
    neighbors_ = Buffer<NodeId>(2 * num_kept_);  // memory is taken where it is written
    if (kHasWeights) weights_ = Buffer<Weight>(2 * num_kept_);
    const std::size_t most = execution_.threads > 1 ? 4 * static_cast<std::size_t>(execution_.threads) : 1;
    std::vector<Scratch> scratches(std::min(most, upper_.count()));
    for (Scratch& scratch : scratches)
      scratch.sorter = RowSorter<Key>(static_cast<unsigned>(std::bit_width(end_of_ids_)));
    for (std::size_t first = 0; first < upper_.count(); first += scratches.size()) {
      execution_.throw_if_cancelled();
      const std::span<Scratch> round{scratches.data(), std::min(scratches.size(), upper_.count() - first)};
      parallel_for(execution_.threads, round.size(), [&](std::size_t k) { sort_upper(first + k, round[k]); });
      for (std::size_t k = 0; k < round.size(); ++k) {
        upper_.clear(first + k);
        num_duplicates_ += round[k].duplicates.size();
        for (const NodeId neighbor : round[k].duplicates)
          has_duplicate_lower_[neighbor >> edges_.shift()] = 1;
        for (std::size_t b = first + k; b < upper_.count(); ++b)
          round[k].cursors[b] = lower_.append(b, round[k].counts[b]);
      }
      parallel_for(execution_.threads, round.size(), [&](std::size_t k) { send_back(round[k]); });
      fill_rows(first, round);
      for (std::size_t k = 0; k < round.size(); ++k) lower_.clear(first + k);
    }
  }

  void sort_upper(std::size_t bucket, Scratch& scratch) {
    scratch.first = first_id(bucket);
    scratch.last = first_id(bucket + 1);
    scratch.upper_end.assign(scratch.num_rows(), 0);
    upper_.visit(bucket, [&](std::span<Arc> arcs) {
      for (const Arc& a : arcs) ++scratch.upper_end[a.upper().row - scratch.first];
    });
    std::uint64_t begin = 0;
    for (std::uint64_t& count : scratch.upper_end) begin += std::exchange(count, begin);
    // The memory of a bucket of hubs does not stay for those behind it.
    constexpr std::size_t kNotFelt = std::size_t{1} << 18;
    const std::size_t least = begin + RowSorter<Key>::kBehind;
    if (scratch.upper.size() < least || scratch.upper.size() > 4 * begin + kNotFelt)
      scratch.upper = std::vector<Key>(least + begin / 8);
    upper_.visit(bucket, [&](std::span<Arc> arcs) {
      for (const Arc& listed : arcs) {
        const Arc a = listed.upper();
        scratch.upper[scratch.upper_end[a.row - scratch.first]++] = a.key();
      }
    });
    scratch.sorter.sort(scratch.upper.data(), scratch.upper_end);
    if (is_symmetric_) keep_every_other(scratch);
    count_upper(scratch);
  }

  // Of a symmetric list every key is there an even number of times: half of them are the same list, one way.
  static void keep_every_other(Scratch& scratch) {
    std::uint64_t out = 0, in = 0;
    for (std::uint64_t& end : scratch.upper_end) {
      for (; in + 1 < end; in += 2) scratch.upper[out++] = scratch.upper[in];
      in = std::exchange(end, out);
    }
  }

  void count_upper(Scratch& scratch) const {
    scratch.counts.assign(upper_.count(), 0);
    scratch.cursors.resize(upper_.count());
    scratch.duplicates.clear();
    std::uint64_t i = 0;
    for (const std::uint64_t end : scratch.upper_end) {
      NodeId last = kNoNode;
      for (; i < end; ++i) {
        const NodeId neighbor = Arc::neighbor_of(scratch.upper[i]);
        ++scratch.counts[neighbor >> edges_.shift()];
        if (neighbor == last) scratch.duplicates.push_back(neighbor);
        last = neighbor;
      }
    }
  }

  void send_back(Scratch& scratch) const {
    const unsigned shift = edges_.shift();
    std::uint64_t i = 0;
    for (std::size_t row = 0; row < scratch.num_rows(); ++row)
      for (; i < scratch.upper_end[row]; ++i) {
        const Key key = scratch.upper[i];
        ArcLists<Arc>::put(scratch.cursors[Arc::neighbor_of(key) >> shift],
                           Arc::backwards(scratch.first + static_cast<NodeId>(row), key));
      }
  }

  void fill_rows(std::size_t first, std::span<Scratch> round) {
    // Parallel unweighted edges are parallel conductors of weight 1: their number becomes the weight.
    if (num_duplicates_ != 0 && !kHasWeights && policy_ == Duplicates::sum && weights_.empty()) {
      weights_ = Buffer<Weight>(2 * num_kept_);
      std::fill_n(weights_.data(), num_arcs_, Weight{1});
    }
    EdgeIndex place = num_arcs_;
    for (std::size_t k = 0; k < round.size(); ++k) {
      round[k].begin = place;
      place += lower_.size(first + k) + (round[k].num_rows() == 0 ? 0 : round[k].upper_end.back());
    }
    parallel_for(execution_.threads, round.size(), [&](std::size_t k) {
      place_arcs(first + k, round[k]);
      if (!round[k].duplicates.empty() || has_duplicate_lower_[first + k] != 0) {
        merge_rows(round[k]);
      } else if (!kHasWeights && !weights_.empty()) {
        std::fill_n(weights_.data() + round[k].begin, round[k].size, Weight{1});
      }
      if (seen_ != nullptr) number_neighbors(round[k]);
    });
    for (Scratch& scratch : round) {
      if (scratch.bad) refuse_pair({node(scratch.bad->u), node(scratch.bad->v), scratch.bad->differ_in_sign});
      num_cancelled_ += std::exchange(scratch.cancelled, 0);
      close_gap(scratch);
    }
  }

  // All lower arcs of a row come before all its upper ones, and both come in order.
  void place_arcs(std::size_t bucket, Scratch& scratch) {
    const NodeId first = scratch.first;
    scratch.next.assign(scratch.num_rows(), 0);
    lower_.visit(bucket, [&](std::span<Arc> arcs) {
      for (const Arc& a : arcs) ++scratch.next[a.row - first];
    });
    scratch.row_begin.resize(scratch.num_rows() + 1);
    EdgeIndex place = scratch.begin;
    for (std::size_t row = 0; row < scratch.num_rows(); ++row) {
      scratch.row_begin[row] = place;
      place += std::exchange(scratch.next[row], place) + scratch.upper_of(row).size();
    }
    scratch.row_begin[scratch.num_rows()] = place;
    scratch.size = place - scratch.begin;
    NodeId* const neighbors = neighbors_.data();
    lower_.visit(bucket, [&](std::span<Arc> arcs) {
      for (const Arc& a : arcs) {
        const EdgeIndex i = scratch.next[a.row - first]++;
        neighbors[i] = a.neighbor;
        if constexpr (kHasWeights) weights_[i] = a.weight;
      }
    });
    std::uint64_t at = 0;
    for (std::size_t row = 0; row < scratch.num_rows(); ++row) {
      EdgeIndex i = scratch.next[row];
      for (; at < scratch.upper_end[row]; ++at, ++i) {
        neighbors[i] = Arc::neighbor_of(scratch.upper[at]);
        if constexpr (kHasWeights) weights_[i] = Arc::weight_of(scratch.upper[at]);
      }
    }
  }

  // Merged rows move to the front of the bucket's place.
  void merge_rows(Scratch& scratch) {
    EdgeIndex out = scratch.begin;
    scratch.bad.reset();
    for (std::size_t row = 0; row < scratch.num_rows(); ++row) {
      const EdgeIndex row_end = scratch.row_begin[row + 1];
      EdgeIndex i = scratch.row_begin[row];
      scratch.next[row] = out;
      while (i < row_end) {
        const EdgeIndex group = i;
        while (i < row_end && neighbors_[i] == neighbors_[group]) ++i;
        const bool differ = is_signed_ && kHasWeights && policy_ != Duplicates::sum &&
                            std::signbit(weights_[group]) != std::signbit(weights_[i - 1]);
        neighbors_[out] = neighbors_[group];
        if (!weights_.empty()) weights_[out] = merged_weight(group, i);
        if ((policy_ == Duplicates::error && i - group > 1) || differ ||
            (!weights_.empty() && !(std::fabs(weights_[out]) <= std::numeric_limits<Weight>::max()))) {
          scratch.bad = Pair{scratch.first + static_cast<NodeId>(row), neighbors_[group], differ};
          return;
        }
        if (!weights_.empty() && weights_[out] == 0)
          ++scratch.cancelled;
        else
          ++out;
      }
    }
    std::copy_n(scratch.next.begin(), scratch.num_rows(), scratch.row_begin.begin());
    scratch.row_begin[scratch.num_rows()] = out;
    scratch.size = out - scratch.begin;
  }

  Weight merged_weight(EdgeIndex begin, EdgeIndex end) const {
    if (!kHasWeights) return static_cast<Weight>(end - begin);
    if (policy_ == Duplicates::min || end - begin == 1) return weights_[begin];  // sorted by weight
    if (policy_ == Duplicates::max) return weights_[end - 1];
    double sum = 0;
    for (EdgeIndex i = begin; i < end; ++i) sum += weights_[i];
    return to_weight(sum);
  }

  // A double beyond the range of float is converted by saturating: the C++ conversion is undefined.
  static Weight to_weight(double sum) {
    return std::fabs(sum) > static_cast<double>(std::numeric_limits<Weight>::max())
               ? std::numeric_limits<Weight>::infinity()
               : static_cast<Weight>(sum);
  }

  NodeId node(NodeId id) const { return seen_ == nullptr ? id : seen_->rank(id); }

  void number_neighbors(const Scratch& scratch) {
    NodeId* const neighbors = neighbors_.data();
    for (EdgeIndex i = scratch.begin; i < scratch.begin + scratch.size; ++i)
      neighbors[i] = seen_->rank(neighbors[i]);
  }

  // Earlier buckets of the same round were merged after this one had got its place.
  void close_gap(const Scratch& scratch) {
    const EdgeIndex gap = scratch.begin - num_arcs_;
    if (gap != 0) {
      std::copy_n(neighbors_.data() + scratch.begin, scratch.size, neighbors_.data() + num_arcs_);
      if (!weights_.empty())
        std::copy_n(weights_.data() + scratch.begin, scratch.size, weights_.data() + num_arcs_);
    }
    num_arcs_ += scratch.size;
    if (seen_ == nullptr) {
      for (std::size_t row = 0; row < scratch.num_rows(); ++row)
        offsets_[scratch.first + row] = scratch.row_begin[row] - gap;
      return;
    }
    for (std::size_t row = 0; row < scratch.num_rows(); ++row)
      if (seen_->has(scratch.first + static_cast<NodeId>(row)))
        offsets_[num_rows_done_++] = scratch.row_begin[row] - gap;
  }

  // A symmetric list of parallel edges: the half that was left out adds as much again.
  void double_weights() {
    NodeId row = 0;
    for (EdgeIndex i = 0; i < num_arcs_; ++i) {
      weights_[i] = to_weight(2.0 * weights_[i]);
      if (std::fabs(weights_[i]) <= std::numeric_limits<Weight>::max()) continue;
      while (row + 1 < num_nodes_ && offsets_[row + 1] <= i) ++row;
      refuse_pair({row, neighbors_[i]});
    }
  }

  [[noreturn]] void refuse_pair(Pair pair) const {
    if (policy_ == Duplicates::error)
      throw PairError{where_, pair.u, pair.v, "are joined by more than one edge of the list",
                      "remove the duplicates, or choose how to merge them: sum, max or min"};
    if (pair.differ_in_sign)
      throw PairError{where_, pair.u, pair.v, "are joined by a positive and by a negative edge",
                      "remove one of them, or let them add with their signs: sum"};
    throw PairError{where_, pair.u, pair.v,
                    "are joined by weights whose sum is too large for a number of 32 bits",
                    "divide all weights by a constant, or merge duplicates by max or min"};
  }

  EdgeBuckets<Arc>& edges_;
  ArcLists<Arc>& upper_;
  ArcLists<Arc> lower_;
  std::vector<char> has_duplicate_lower_;  // by bucket
  std::uint64_t num_nodes_;
  std::uint64_t end_of_ids_;
  const SeenIds* seen_;
  Duplicates policy_;
  bool is_signed_;
  bool is_symmetric_;
  EdgeIndex num_kept_;
  EdgeIndex num_duplicates_ = 0;
  EdgeIndex num_cancelled_ = 0;                 // arcs
  EdgeIndex num_arcs_ = 0, num_rows_done_ = 0;  // in the graph
  const Execution& execution_;
  const std::string& where_;
  Buffer<EdgeIndex> offsets_;
  Buffer<NodeId> neighbors_;
  Buffer<Weight> weights_;
};

}  // namespace copse
