// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "copse/support/buffer.hpp"
#include "copse/support/execution.hpp"
#include "copse/support/parallel.hpp"
#include "copse/support/random.hpp"
#include "copse/trees/spanning_forest.hpp"
#include "trees/minimum.hpp"

// The minimum spanning forest of any keys that can be computed from an arc, straight over the rows of the
// graph. Kruskal's algorithm in batches, after filter-Kruskal (Osipov, Sanders & Singler 2009): a pass over
// the rows collects the smallest 2n or so of the edges that still join two trees, these are sorted and
// taken in order, and the next pass skips what has meanwhile been closed off, mostly everything.
//
// Memory is 28 to 36 bytes per node and nothing an edge, and a key is computed two or three times at the
// most: keys may be expensive. (Borůvka over the rows takes as little memory but computes each key once a
// round from both ends: 3 times slower with random keys, 1.3 times with weights.)
//
// Keys gives Key and
//   Key key(NodeId u, NodeId v, const Weights& weights, EdgeIndex arc, Key bound) const
// the key of the edge u-v, whose weight, if the graph has any, is weights[arc]; the same from both ends;
// where it is above `bound`, any value above. Edges of equal key are ordered by (smaller end, larger end):
// the order is strict, the forest unique.

namespace copse {

/// take(candidate) for those of a batch in ascending order: a quarter is sorted and taken, and the rest goes
/// on without what that has closed off.
template <class Candidate, class Sort, class Take, class IsClosed>
void take_smallest_first(std::span<Candidate> batch, Sort&& sort, Take&& take, IsClosed&& is_closed) {
  constexpr std::ptrdiff_t kFewEnough = 1 << 16;
  auto first = batch.begin(), last = batch.end();
  while (first != last) {
    const auto middle = last - first > kFewEnough ? first + (last - first) / 4 : last;
    std::nth_element(first, middle, last);
    sort(std::span<Candidate>(first, middle));
    for (; first != middle; ++first) take(*first);
    last = std::remove_if(middle, last, is_closed);
  }
}

template <class Keys>
class FilterKruskal {
  using Key = typename Keys::Key;

 public:
  FilterKruskal(const GraphView& graph, const Keys& keys, const Execution& execution)
      : graph_(graph), keys_(keys), execution_(execution), tree_(graph.num_nodes()) {
    std::iota(tree_.begin(), tree_.end(), NodeId{0});
  }

  /// Before run(): the forest has this edge, whatever its key. False if that closes a cycle.
  bool join(NodeId u, NodeId v) {
    const NodeId a = find(u), b = find(v);
    tree_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

  /// Writes the edges of the forest, smallest first, to `source` and `edges`, which have room for exactly
  /// those; the first `num_edges` of them are joined already.
  void run(std::span<NodeId> source, std::span<EdgeIndex> edges, std::size_t num_edges = 0) {
    if (num_edges != 0) flatten();
    for (std::uint64_t round = 0; num_edges < edges.size(); ++round) {
      execution_.throw_if_cancelled();
      const Candidate bound = choose_bound(round);
      std::vector<Candidate> batch = collect(bound);
      // Within the batch the same again: the smallest part first, then the rest without what that closed off.
      take_smallest_first<Candidate>(
          batch, [&](std::span<Candidate> part) { sort(part); },
          [&](const Candidate& c) {
            if (!join(c.u, c.v)) return;
            if (num_edges == edges.size())
              throw std::logic_error("minimum forest: more roots than components");
            source[num_edges] = c.u;
            edges[num_edges++] = arc_to(c.u, c.v);
          },
          [&](const Candidate& c) { return num_edges == edges.size() || find(c.u) == find(c.v); });
      flatten();
      if (bound.u == kNoNode) break;  // that was all there is
    }
    if (num_edges != edges.size()) throw std::logic_error("minimum forest: fewer roots than components");
  }

 private:
  static constexpr std::size_t kSamples = 1 << 14;
  static constexpr Key kLargest = std::numeric_limits<Key>::has_infinity
                                      ? std::numeric_limits<Key>::infinity()
                                      : std::numeric_limits<Key>::max();
  struct Candidate {
    Key key;
    NodeId u, v;  // u < v
    bool operator<(const Candidate& other) const {
      if (key != other.key) return key < other.key;
      return u != other.u ? u < other.u : v < other.v;
    }
  };

  /// The edge up to which the next batch goes, so that about 2n are in it; above all where no more are left.
  /// A wrong guess from the sample costs a pass or some memory, never the result.
  Candidate choose_bound(std::uint64_t round) const {
    constexpr Candidate kAll{kLargest, kNoNode, kNoNode};
    const auto budget = std::max<double>(2.0 * graph_.num_nodes(), kSamples);
    if (static_cast<double>(graph_.num_edges()) <= budget) return kAll;
    Stream stream{0, Purpose::edge_key, round};
    std::vector<Candidate> open;
    for (std::size_t i = 0; i < kSamples; ++i) {
      const EdgeIndex arc = stream.below(graph_.num_arcs());
      const auto row = std::upper_bound(graph_.offsets.begin(), graph_.offsets.end(), arc) - 1;
      const auto a = static_cast<NodeId>(row - graph_.offsets.begin()), b = graph_.neighbors[arc];
      if (tree_[a] != tree_[b])
        open.push_back({keys_.key(a, b, graph_.weights, arc, kLargest), std::min(a, b), std::max(a, b)});
    }
    const double num_open =
        static_cast<double>(open.size()) / kSamples * static_cast<double>(graph_.num_edges());
    if (num_open <= budget) return kAll;
    const auto place = static_cast<std::ptrdiff_t>(budget / num_open * static_cast<double>(open.size() - 1));
    std::nth_element(open.begin(), open.begin() + place, open.end());
    return open[static_cast<std::size_t>(place)];
  }

  /// The edges up to `bound` that join two trees.
  std::vector<Candidate> collect(const Candidate& bound) const {
    const std::size_t n = graph_.num_nodes();
    const std::size_t num_parts =
        execution_.threads > 1 ? 16 * static_cast<std::size_t>(execution_.threads) : 1;
    const std::size_t rows_a_part = n / num_parts + 1;
    std::vector<std::vector<Candidate>> parts(num_parts);
    parallel_blocks(execution_.threads, n, rows_a_part,
                    [&](std::size_t begin, std::size_t end, std::size_t part) {
                      parts[part] = collect_rows(begin, end, bound);
                    });
    std::vector<Candidate> all = std::move(parts[0]);
    for (std::size_t part = 1; part < num_parts; ++part) {
      all.insert(all.end(), parts[part].begin(), parts[part].end());
      parts[part] = {};
    }
    return all;
  }

  std::vector<Candidate> collect_rows(std::size_t begin, std::size_t end, const Candidate& bound) const {
    std::vector<Candidate> found;
    CancelCheck check(execution_);
    for (std::size_t row = begin; row < end; ++row) {
      const auto u = static_cast<NodeId>(row);
      const NodeId tree = tree_[u];
      check.step();
      for (EdgeIndex arc = graph_.offsets[u]; arc < graph_.offsets[u + 1]; ++arc) {
        const NodeId v = graph_.neighbors[arc];
        if (v < u || tree_[v] == tree) continue;
        const Candidate candidate{keys_.key(u, v, graph_.weights, arc, bound.key), u, v};
        if (candidate.key <= bound.key && !(bound < candidate)) found.push_back(candidate);
      }
    }
    return found;
  }

  /// Cut into ranges of keys first, so that threads can sort these on their own.
  void sort(std::span<Candidate> batch) const {
    execution_.throw_if_cancelled();
    const auto num_ranges = static_cast<std::size_t>(std::clamp(execution_.threads, 1, 16));
    const auto edge_of = [&](std::size_t range) {
      return batch.begin() + static_cast<std::ptrdiff_t>(batch.size() * range / num_ranges);
    };
    for (std::size_t range = 1; range < num_ranges; ++range)
      std::nth_element(edge_of(range - 1), edge_of(range), batch.end());
    parallel_for(execution_.threads, num_ranges,
                 [&](std::size_t range) { std::sort(edge_of(range), edge_of(range + 1)); });
  }

  NodeId find(NodeId u) {
    while (tree_[u] != u) u = tree_[u] = tree_[tree_[u]];
    return u;
  }

  /// After this tree_ names the tree of a node directly. Links point down, so one pass is enough.
  void flatten() {
    for (std::size_t u = 0; u < tree_.size(); ++u) tree_[u] = tree_[tree_[u]];
  }

  EdgeIndex arc_to(NodeId u, NodeId v) const {
    const auto row = graph_.neighbors_of(u);
    return graph_.offsets[u] +
           static_cast<EdgeIndex>(std::lower_bound(row.begin(), row.end(), v) - row.begin());
  }

  const GraphView& graph_;
  const Keys& keys_;
  const Execution& execution_;
  Buffer<NodeId> tree_;  // union-find; flat between the rounds
};

template <class Keys>
ForestArcs filter_kruskal_arcs(const GraphView& graph, std::size_t num_components, const Keys& keys,
                               const Execution& execution) {
  if (num_components > graph.num_nodes()) throw std::logic_error("minimum forest: more roots than nodes");
  const std::size_t num_edges = graph.num_nodes() - num_components;
  ForestArcs arcs{Buffer<NodeId>(num_edges), Buffer<EdgeIndex>(num_edges)};
  FilterKruskal<Keys>(graph, keys, execution).run(arcs.source.span(), arcs.edges.span());
  return arcs;
}

template <class Keys>
SpanningForest filter_kruskal_forest(const GraphView& graph, std::span<const NodeId> roots, const Keys& keys,
                                     const Execution& execution) {
  const ForestArcs arcs = filter_kruskal_arcs(graph, roots.size(), keys, execution);
  return root_forest(graph, arcs.source.span(), arcs.edges.span(), roots);
}

}  // namespace copse
