// SPDX-License-Identifier: Apache-2.0
#include "copse/graph/build.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "copse/support/parallel.hpp"
#include "graph/both_ways.hpp"
#include "graph/drained_array.hpp"
#include "graph/listed_edges.hpp"
#include "graph/pair_error.hpp"
#include "graph/sort_arcs.hpp"

// Rows are cut into buckets of consecutive ones, so few arcs each that a bucket is worked on inside a cache:
// placing arcs straight into rows all over the memory costs a miss an arc, and is most of the time of reading
// a graph. An edge {u < v} moves from the list to the bucket of u, is sorted there, and is copied to its row
// and, as v -> u, to the bucket of v. Buckets go in order of rows, so the bucket of v is still to come, gets
// its arcs sorted by u, and no row is ever sorted as a whole.
//
// Memory: the list's chunks are freed as their edges move to the buckets, buckets as their rows are done,
// and rows take none before. An edge waits in one place at a time, 8 bytes of it (12 weighted) against the 8
// (16) of its two arcs in the graph: with fraction x of the rows done, x^2 of the edges of a random graph
// have gone and the peak is 1.25 (1.08) times the graph, where list and graph side by side would be 2 (1.75).

namespace copse {
namespace {

// About as many arcs as fit in a second-level cache; more buckets than this and the ends of all of them
// do not fit any more.
constexpr std::uint64_t kArcsPerBucket = std::uint64_t{1} << 15, kMostBuckets = 2048;

struct Pair {
  NodeId u, v;
};

template <class Arc>
class Builder {
  static constexpr bool kHasWeights = std::is_same_v<Arc, WeightedArc>;

 public:
  Builder(ListedEdges edges, std::uint64_t num_nodes, const BuildOptions& options, const Execution& execution,
          const std::string& where)
      : edges_(std::move(edges)),
        num_nodes_(num_nodes),
        policy_(options.duplicates),
        execution_(execution),
        where_(where) {
    const std::uint64_t wanted = std::min(edges_.size() / kArcsPerBucket + 1, kMostBuckets);
    while (num_nodes_ >> shift_ >= wanted && num_nodes_ >> shift_ != 0) ++shift_;
    num_buckets_ = (num_nodes_ >> shift_) + 1;
  }

  Graph build(BuildReport& report) {
    count_edges(report);
    move_to_buckets();
    build_rows();
    const EdgeIndex num_edges = num_arcs_ / 2;
    report.listed_both_ways = is_symmetric_ && num_duplicates_ == 0;
    if (!report.listed_both_ways) report.num_merged = num_kept_ * (is_symmetric_ ? 2 : 1) - num_edges;
    if (is_symmetric_ && num_duplicates_ != 0 && policy_ == Duplicates::sum) double_weights();
    offsets_[num_nodes_] = num_arcs_;
    neighbors_.shrink(num_arcs_);
    if (!weights_.empty()) weights_.shrink(num_arcs_);
    return Graph{std::move(offsets_), std::move(neighbors_), std::move(weights_)};
  }

 private:
  struct Facts {
    std::uint64_t self_loops = 0, zero_weights = 0, ups = 0, downs = 0;
    NodeId largest = 0;
  };

  std::size_t bucket_of(NodeId row) const { return row >> shift_; }
  NodeId first_row(std::size_t bucket) const {
    return static_cast<NodeId>(std::min(std::uint64_t{bucket} << shift_, num_nodes_));
  }

  static Arc arc(NodeId row, NodeId neighbor, Weight weight) {
    if constexpr (kHasWeights) {
      return {row, neighbor, weight};
    } else {
      return {row, neighbor};
    }
  }

  // For each slice, how many edges have their smaller end in each bucket, then the same of the larger end.
  void count_edges(BuildReport& report) {
    const Facts facts = count_slices();
    if (facts.largest >= num_nodes_ && edges_.size() != 0)
      throw InputError{
          where_,
          "an edge names node " + std::to_string(facts.largest) + " of " + with_commas(num_nodes_) + " nodes",
          "nodes count from 0; raise the number of nodes or correct the edge"};
    report.num_listed = edges_.size();
    report.num_self_loops = facts.self_loops;
    report.num_zero_weights = facts.zero_weights;
    // Only a list with as many edges up as down can hold every edge both ways: others pay nothing more.
    is_symmetric_ = facts.ups == facts.downs && facts.ups != 0 && sum_of_hashes() == 0;
    if (is_symmetric_) count_slices();
  }

  // Of a symmetric list the edges u -> v with u < v are enough.
  bool is_kept(NodeId u, NodeId v, Weight weight) const {
    return weight != 0 && (u < v || (u > v && !is_symmetric_));
  }

  Facts count_slices() {
    const std::size_t stride = 2 * num_buckets_;
    places_.assign(edges_.num_slices() * stride, 0);
    std::vector<Facts> facts(edges_.num_slices());
    parallel_for(execution_.threads, edges_.num_slices(), [&](std::size_t s) {
      Facts sum;
      EdgeIndex *smaller = places_.data() + s * stride, *larger = smaller + num_buckets_;
      edges_.template visit<kHasWeights>(s, [&](NodeId u, NodeId v, Weight weight) {
        const NodeId low = std::min(u, v), high = std::max(u, v);
        sum.largest = std::max(sum.largest, high);
        if (high >= num_nodes_) return false;
        if (u == v || weight == 0) {
          ++(u == v ? sum.self_loops : sum.zero_weights);
          return true;
        }
        sum.ups += u < v;
        sum.downs += u > v;
        if (!is_kept(u, v, weight)) return true;
        ++smaller[bucket_of(low)];
        ++larger[bucket_of(high)];
        return true;
      });
      facts[s] = sum;
    });
    Facts all;
    for (const Facts& part : facts) {
      all.self_loops += part.self_loops;
      all.zero_weights += part.zero_weights;
      all.ups += part.ups;
      all.downs += part.downs;
      all.largest = std::max(all.largest, part.largest);
    }
    return all;
  }

  std::uint64_t sum_of_hashes() const {
    std::vector<std::uint64_t> sums(edges_.num_slices());
    parallel_for(execution_.threads, edges_.num_slices(), [&](std::size_t s) {
      std::uint64_t sum = 0;
      edges_.template visit<kHasWeights>(s, [&](NodeId u, NodeId v, Weight weight) {
        if (u != v && weight != 0) sum += signed_arc_hash(u, v, std::bit_cast<std::uint32_t>(weight));
        return true;
      });
      sums[s] = sum;
    });
    std::uint64_t all = 0;
    for (const std::uint64_t sum : sums) all += sum;
    return all;
  }

  // Every slice has its own places in every bucket: no locks, and the order of the list is kept.
  void move_to_buckets() {
    const std::size_t stride = 2 * num_buckets_;
    up_begin_.resize(num_buckets_ + 1);
    down_begin_.resize(num_buckets_ + 1);
    EdgeIndex up = 0, down = 0;
    for (std::size_t b = 0; b < num_buckets_; ++b) {
      up_begin_[b] = up;
      down_begin_[b] = down;
      for (std::size_t at = b; at < places_.size(); at += stride) {
        up += std::exchange(places_[at], up);
        down += places_[at + num_buckets_];
      }
    }
    num_kept_ = up_begin_[num_buckets_] = down_begin_[num_buckets_] = up;
    down_end_.assign(down_begin_.begin(), down_begin_.end());
    ups_ = DrainedArray<Arc>(num_kept_);
    downs_ = DrainedArray<Arc>(num_kept_);
    parallel_for(execution_.threads, edges_.num_slices(), [&](std::size_t s) {
      EdgeIndex* const next = places_.data() + s * stride;
      Arc* const ups = ups_.data();
      edges_.template visit<kHasWeights>(s, [&](NodeId u, NodeId v, Weight weight) {
        if (!is_kept(u, v, weight)) return true;
        const NodeId low = std::min(u, v);
        ups[next[bucket_of(low)]++] = arc(low, std::max(u, v), weight);
        return true;
      });
      edges_.free_slice(s);
    });
    places_ = {};
  }

  // A few buckets at a time, so that threads have work and little memory waits.
  void build_rows() {
    offsets_ = Buffer<EdgeIndex>(num_nodes_ + 1);
    neighbors_ = Buffer<NodeId>(2 * num_kept_);  // memory is taken where it is written
    if (kHasWeights) weights_ = Buffer<Weight>(2 * num_kept_);
    const std::size_t most = execution_.threads > 1 ? 4 * static_cast<std::size_t>(execution_.threads) : 1;
    std::vector<ArcSorter<Arc>> sorters(most);
    std::vector<EdgeIndex> places(most * num_buckets_), duplicates(most);
    for (std::size_t first = 0; first < num_buckets_; first += most) {
      execution_.throw_if_cancelled();
      const std::size_t count = std::min(most, num_buckets_ - first);
      parallel_for(execution_.threads, count, [&](std::size_t k) {
        duplicates[k] = sort_bucket(first + k, sorters[k], places.data() + k * num_buckets_);
      });
      for (std::size_t k = 0; k < count; ++k) num_duplicates_ += duplicates[k];
      for (std::size_t b = first; b < num_buckets_; ++b)
        for (std::size_t k = 0; k < count; ++k)
          down_end_[b] += std::exchange(places[k * num_buckets_ + b], down_end_[b]);
      parallel_for(execution_.threads, count,
                   [&](std::size_t k) { send_back(first + k, places.data() + k * num_buckets_); });
      fill_rows(first, first + count);
      ups_.drain(up_begin_[first + count]);
      downs_.drain(down_begin_[first + count]);
    }
  }

  std::span<Arc> ups(std::size_t bucket) {
    return {ups_.data() + up_begin_[bucket], up_begin_[bucket + 1] - up_begin_[bucket]};
  }
  std::span<Arc> downs(std::size_t bucket) {
    return {downs_.data() + down_begin_[bucket], down_end_[bucket] - down_begin_[bucket]};
  }

  // Returns the number of pairs that repeat the one before; counts[b] becomes the number of arcs for bucket
  // b.
  EdgeIndex sort_bucket(std::size_t bucket, ArcSorter<Arc>& sorter, EdgeIndex* counts) {
    const std::span<Arc> arcs = ups(bucket);
    sorter.sort(arcs, first_row(bucket), first_row(bucket + 1) - first_row(bucket));
    std::fill_n(counts, num_buckets_, 0);
    EdgeIndex duplicates = 0;
    Pair last{kNoNode, kNoNode};
    for (const Arc& a : arcs) {
      ++counts[bucket_of(a.neighbor)];
      duplicates += a.neighbor == last.v && a.row == last.u;
      last = {a.row, a.neighbor};
    }
    return duplicates;
  }

  void send_back(std::size_t bucket, EdgeIndex* next) {
    Arc* const all_downs = downs_.data();
    for (const Arc& a : ups(bucket)) {
      Arc& down = all_downs[next[bucket_of(a.neighbor)]++];
      down = a;
      std::swap(down.row, down.neighbor);
    }
  }

  void fill_rows(std::size_t first, std::size_t last) {
    // Parallel unweighted edges are parallel conductors of weight 1: their number becomes the weight.
    if (num_duplicates_ != 0 && !kHasWeights && policy_ == Duplicates::sum && weights_.empty()) {
      weights_ = Buffer<Weight>(2 * num_kept_);
      std::fill_n(weights_.data(), num_arcs_, Weight{1});
    }
    std::vector<EdgeIndex> begin(last - first + 1, num_arcs_), size(last - first);
    std::vector<std::optional<Pair>> bad(last - first);
    for (std::size_t b = first; b < last; ++b)
      begin[b - first + 1] = begin[b - first] + ups(b).size() + downs(b).size();
    parallel_for(execution_.threads, last - first, [&](std::size_t k) {
      place_arcs(first + k, begin[k]);
      size[k] = num_duplicates_ == 0 ? begin[k + 1] - begin[k]
                                     : merge_rows(first + k, begin[k], begin[k + 1], bad[k]);
    });
    for (std::size_t k = 0; k < last - first; ++k) {
      if (bad[k]) refuse_pair(*bad[k]);
      close_gap(first + k, begin[k], size[k]);
    }
  }

  // All downs of a row are smaller than all its ups, and both come in order.
  void place_arcs(std::size_t bucket, EdgeIndex begin) {
    const NodeId first = first_row(bucket), last = first_row(bucket + 1);
    EdgeIndex* const next = offsets_.data();
    for (const Arc& a : downs(bucket)) ++next[a.row];
    for (const Arc& a : ups(bucket)) ++next[a.row];
    EdgeIndex place = begin;
    for (NodeId row = first; row < last; ++row) place += std::exchange(next[row], place);
    for (const std::span<const Arc> arcs : {downs(bucket), ups(bucket)})
      for (const Arc& a : arcs) {
        const EdgeIndex i = next[a.row]++;
        neighbors_[i] = a.neighbor;
        if constexpr (kHasWeights) weights_[i] = a.weight;
      }
    for (NodeId row = last; row-- > first;) next[row] = row == first ? begin : next[row - 1];
  }

  // Merged rows move to the front of the bucket's place. Returns their number of arcs.
  EdgeIndex merge_rows(std::size_t bucket, EdgeIndex begin, EdgeIndex end, std::optional<Pair>& bad) {
    const NodeId first = first_row(bucket), last = first_row(bucket + 1);
    EdgeIndex out = begin;
    for (NodeId row = first; row < last; ++row) {
      const EdgeIndex row_end = row + 1 < last ? offsets_[row + 1] : end;
      EdgeIndex i = std::exchange(offsets_[row], out);
      for (; i < row_end; ++out) {
        const EdgeIndex group = i;
        while (i < row_end && neighbors_[i] == neighbors_[group]) ++i;
        neighbors_[out] = neighbors_[group];
        if (!weights_.empty()) weights_[out] = merged_weight(group, i);
        if ((policy_ == Duplicates::error && i - group > 1) ||
            (!weights_.empty() && !(weights_[out] <= std::numeric_limits<Weight>::max()))) {
          bad = Pair{row, neighbors_[group]};
          return 0;
        }
      }
    }
    return out - begin;
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
    return sum > static_cast<double>(std::numeric_limits<Weight>::max())
               ? std::numeric_limits<Weight>::infinity()
               : static_cast<Weight>(sum);
  }

  // Earlier buckets of the same round were merged after this one had got its place.
  void close_gap(std::size_t bucket, EdgeIndex begin, EdgeIndex size) {
    if (const EdgeIndex gap = begin - num_arcs_; gap != 0) {
      std::copy_n(neighbors_.data() + begin, size, neighbors_.data() + num_arcs_);
      if (!weights_.empty()) std::copy_n(weights_.data() + begin, size, weights_.data() + num_arcs_);
      for (NodeId row = first_row(bucket); row < first_row(bucket + 1); ++row) offsets_[row] -= gap;
    }
    num_arcs_ += size;
  }

  // A symmetric list of parallel edges: the half that was left out adds as much again.
  void double_weights() {
    NodeId row = 0;
    for (EdgeIndex i = 0; i < num_arcs_; ++i) {
      weights_[i] = to_weight(2.0 * weights_[i]);
      if (weights_[i] <= std::numeric_limits<Weight>::max()) continue;
      while (row + 1 < num_nodes_ && offsets_[row + 1] <= i) ++row;
      refuse_pair({row, neighbors_[i]});
    }
  }

  [[noreturn]] void refuse_pair(Pair pair) const {
    if (policy_ == Duplicates::error)
      throw PairError{where_, pair.u, pair.v, "are joined by more than one edge of the list",
                      "remove the duplicates, or choose how to merge them: sum, max or min"};
    throw PairError{where_, pair.u, pair.v,
                    "are joined by weights whose sum is too large for a number of 32 bits",
                    "divide all weights by a constant, or merge duplicates by max or min"};
  }

  ListedEdges edges_;
  std::uint64_t num_nodes_;
  Duplicates policy_;
  const Execution& execution_;
  const std::string& where_;
  unsigned shift_ = 0;
  std::size_t num_buckets_ = 1;
  bool is_symmetric_ = false;
  EdgeIndex num_kept_ = 0, num_duplicates_ = 0;
  EdgeIndex num_arcs_ = 0;         // in the rows that are done
  std::vector<EdgeIndex> places_;  // count_slices
  std::vector<EdgeIndex> up_begin_, down_begin_, down_end_;
  DrainedArray<Arc> ups_{0}, downs_{0};  // arcs by bucket of their row
  Buffer<EdgeIndex> offsets_;
  Buffer<NodeId> neighbors_;
  Buffer<Weight> weights_;
};

Graph from_list(std::uint64_t num_nodes, const std::vector<Edge>& edges, bool has_weights) {
  std::vector<EdgeChunk> chunks(1);
  for (const Edge& edge : edges) {
    chunks[0].u.push_back(edge.u);
    chunks[0].v.push_back(edge.v);
    if (!has_weights) continue;
    if (!(edge.weight >= 0 && edge.weight <= std::numeric_limits<Weight>::max()))
      throw InputError{"edges", "weight " + std::to_string(edge.weight) + " is not a positive number",
                       "weights are similarities (> 0); leave the edge out to mean \"no edge\""};
    chunks[0].weight.push_back(edge.weight);
  }
  // A pair that is listed twice must not turn an unweighted graph into a weighted one here.
  const BuildOptions options{has_weights ? Duplicates::sum : Duplicates::max};
  return build_graph(std::move(chunks), num_nodes, options, {}, "edges");
}

}  // namespace

Graph build_graph(std::vector<EdgeChunk> chunks, std::uint64_t num_nodes, const BuildOptions& options,
                  const Execution& execution, const std::string& where, BuildReport* report) {
  BuildReport own;
  if (report == nullptr) report = &own;
  *report = {};
  if (num_nodes > kMaxNodes)
    throw InputError{where, with_commas(num_nodes) + " nodes are more than copse can number",
                     "the limit is " + with_commas(kMaxNodes) + " nodes: split the graph by component"};
  ListedEdges edges(std::move(chunks), where);
  return edges.has_weights()
             ? Builder<WeightedArc>(std::move(edges), num_nodes, options, execution, where).build(*report)
             : Builder<PlainArc>(std::move(edges), num_nodes, options, execution, where).build(*report);
}

Graph graph_from_edges(std::uint64_t num_nodes, const std::vector<Edge>& edges) {
  return from_list(num_nodes, edges, true);
}

Graph graph_from_pairs(std::uint64_t num_nodes, const std::vector<Edge>& edges) {
  return from_list(num_nodes, edges, false);
}

}  // namespace copse
