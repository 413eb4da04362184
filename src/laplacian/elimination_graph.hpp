// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "laplacian/laplacian_system.hpp"

namespace copse {

/// The graph that is left while nodes are eliminated one by one: a list of neighbours per node, in one pool.
///
/// Short lists are kept clean: no eliminated node, no neighbour twice. They are a few cache lines, searched
/// from end to end. Long ones only grow, and are cleaned when they are full or their node's turn comes; an
/// edge between a short and a long list may thus stand once here and in two parts there. That harms
/// nothing: the end that goes first decides what is used of it.
class EliminationGraph {
 public:
  struct Link {
    NodeId node;
    float weight;  // negative: two parallel edges that share -weight (see `merge`)
  };

  /// The free nodes of `system`. Edges to grounded nodes are summed up in `ground`, weights scaled by
  /// `scale`.
  EliminationGraph(const LaplacianSystem& system, double scale, bool doubled)
      : lists_(system.num_nodes()),
        slot_(system.num_nodes(), kGone),
        ground_(system.num_nodes()),
        doubled_(doubled) {
    const GraphView& graph = system.graph;
    CancelCheck check(system.execution);
    pool_.reserve(graph.num_arcs() + graph.num_arcs() / 4 + 2 * std::size_t{graph.num_nodes()});
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      if (system.is_fixed(u)) continue;
      slot_[u] = 0;
      check.step(graph.degree(u));
      List& list = lists_[u];
      list.begin = pool_.size();
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
        const double weight = graph.weight(arc) * scale;
        const NodeId v = graph.neighbors[arc];
        if (system.is_fixed(v))
          ground_[u] += weight;
        else
          pool_.push_back({v, doubled ? -stored(weight) : stored(weight)});
      }
      list.size = list.degree = static_cast<std::uint32_t>(pool_.size() - list.begin);
      pool_.resize(pool_.size() + 1 + list.size / 8);
      list.capacity = static_cast<std::uint32_t>(pool_.size() - list.begin);
    }
  }

  std::uint32_t degree(NodeId u) const { return lists_[u].degree; }
  double ground(NodeId u) const { return ground_[u]; }
  void add_ground(NodeId u, double weight) { ground_[u] += weight; }

  /// Calls body(neighbor, weight, copies) for every neighbour of `u` and takes `u` out of the graph.
  template <class Body>
  void remove(NodeId u, Body&& body) {
    clean(u);
    slot_[u] = kGone;
    List& list = lists_[u];
    for (std::uint32_t i = 0; i < list.size; ++i) {
      const Link link = pool_[list.begin + i];
      unlink(link.node, u);
      body(link.node, std::fabs(static_cast<double>(link.weight)), link.weight < 0 ? 2 : 1);
    }
    give_back(list);
  }

  /// Sum of the weights at `u`, the ground's included.
  double weight_at(NodeId u) {
    clean(u);
    double sum = ground_[u];
    for (std::uint32_t i = 0; i < lists_[u].size; ++i) sum += std::fabs(pool_[lists_[u].begin + i].weight);
    return sum;
  }

  void add_edge(NodeId u, NodeId v, double weight) {
    link(u, v, stored(weight));
    link(v, u, stored(weight));
  }

 private:
  static constexpr std::uint32_t kShort = 32;
  static constexpr std::uint32_t kGone = std::numeric_limits<std::uint32_t>::max();

  struct List {
    std::uint64_t begin = 0;
    std::uint32_t size = 0, capacity = 0;
    std::uint32_t degree = 0;  // neighbours; of a long list an estimate
  };

  /// Resistances in series may leave the range of float; the smallest number is as good as any there.
  static float stored(double weight) {
    return std::max(static_cast<float>(weight), std::numeric_limits<float>::min());
  }
  /// Parallel edges add; at most two count as such for sampling.
  float merge(float a, float b) const {
    const float sum = std::fabs(a) + std::fabs(b);
    return doubled_ ? -sum : sum;
  }

  void unlink(NodeId u, NodeId gone) {
    List& list = lists_[u];
    --list.degree;
    if (list.size > kShort) return;
    Link* links = &pool_[list.begin];
    std::uint32_t i = 0;
    while (links[i].node != gone) ++i;
    links[i] = links[--list.size];
    list.degree = list.size;
  }

  void link(NodeId u, NodeId v, float weight) {
    List& list = lists_[u];
    if (list.size == list.capacity) make_room(u);  // a long list may come out short: search it after that
    Link* links = &pool_[list.begin];
    if (list.size <= kShort) {
      for (std::uint32_t i = 0; i < list.size; ++i) {
        if (links[i].node != v) continue;
        links[i].weight = merge(links[i].weight, weight);
        return;
      }
    }
    links[list.size++] = {v, weight};
    ++list.degree;
  }

  void clean(NodeId u) {
    List& list = lists_[u];
    if (list.size <= kShort) return;
    Link* links = &pool_[list.begin];
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < list.size; ++i) {
      const Link link = links[i];
      std::uint32_t& slot = slot_[link.node];
      if (slot == kGone) continue;
      if (slot < kept && links[slot].node == link.node) {
        links[slot].weight = merge(links[slot].weight, link.weight);
        continue;
      }
      slot = kept;
      links[kept++] = link;
    }
    list.size = list.degree = kept;
  }

  void make_room(NodeId u) {
    List& list = lists_[u];
    clean(u);
    if (list.size + list.size / 4 < list.capacity) return;
    List larger = take(2 * list.size + 2);
    std::copy_n(&pool_[list.begin], list.size, &pool_[larger.begin]);
    give_back(list);
    list.begin = larger.begin;
    list.capacity = larger.capacity;
  }

  List take(std::uint32_t capacity) {
    const int octave = std::bit_width(capacity - 1);  // room for at least 2^octave
    std::vector<List>& free = free_[octave];
    if (!free.empty()) {
      const List list = free.back();
      free.pop_back();
      return list;
    }
    List list{.begin = pool_.size(), .capacity = std::uint32_t{1} << octave};
    pool_.resize(pool_.size() + list.capacity);
    return list;
  }
  void give_back(const List& list) {
    if (list.capacity == 0) return;
    free_[std::bit_width(list.capacity) - 1].push_back({.begin = list.begin, .capacity = list.capacity});
  }

  std::vector<Link> pool_;
  std::vector<List> lists_;
  std::vector<std::uint32_t> slot_;  // kGone once eliminated; scratch of clean() before
  std::vector<double> ground_;
  std::vector<List> free_[33];
  bool doubled_;
};

/// Nodes by degree, the least first, first in first out among equals: a sweep in the order of the nodes
/// stays one, which caches like. Degrees from 32 on are told apart only to a quarter of an octave.
///
/// A node that moves down is listed anew and its old listing goes stale; one that moves up is moved when
/// its turn comes. Every node has one listing that counts, so that no list is ever searched.
class DegreeQueue {
 public:
  explicit DegreeQueue(NodeId num_nodes) : listed_(num_nodes, kNowhere) {}

  /// `degree` has changed, or the node is new.
  void update(NodeId node, std::uint32_t degree) {
    const std::uint8_t bucket = bucket_of(degree);
    if (bucket >= listed_[node]) return;
    list(node, bucket);
  }

  /// The next node, or kNoNode; degree_of(node) is asked for what it has become.
  template <class DegreeOf>
  NodeId pop(DegreeOf&& degree_of) {
    for (;;) {
      while (lowest_ < kBuckets && heads_[lowest_] == buckets_[lowest_].size()) {
        buckets_[lowest_].clear();
        heads_[lowest_++] = 0;
      }
      if (lowest_ == kBuckets) return kNoNode;
      const NodeId node = buckets_[lowest_][heads_[lowest_]++];
      if (listed_[node] != lowest_) continue;
      const std::uint8_t bucket = bucket_of(degree_of(node));
      listed_[node] = kNowhere;
      if (bucket <= lowest_) return node;
      list(node, bucket);
    }
  }

 private:
  static constexpr std::uint32_t kSingle = 32;
  static constexpr std::size_t kBuckets = kSingle + 4 * 27;
  static constexpr std::uint8_t kNowhere = 255;

  static std::uint8_t bucket_of(std::uint32_t degree) {
    if (degree < kSingle) return static_cast<std::uint8_t>(degree);
    const int octave = std::bit_width(degree) - 1;
    return static_cast<std::uint8_t>(kSingle + 4 * static_cast<std::uint32_t>(octave - 5) +
                                     (degree >> (octave - 2) & 3));
  }
  void list(NodeId node, std::uint8_t bucket) {
    listed_[node] = bucket;
    buckets_[bucket].push_back(node);
    lowest_ = std::min<std::size_t>(lowest_, bucket);
  }

  std::array<std::vector<NodeId>, kBuckets> buckets_;
  std::array<std::size_t, kBuckets> heads_{};
  std::vector<std::uint8_t> listed_;  // bucket of the listing that counts
  std::size_t lowest_ = kBuckets;
};

}  // namespace copse
