// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>

#include "copse/support/parallel.hpp"
#include "trees/similarity_edge.hpp"

namespace copse {
namespace {

/// Boruvka 1926: every part of the forest takes its first edge to another part, until none is left. A row of
/// similarities costs n, so each point keeps its first few edges: while one of them still leaves the part, it
/// is the point's first edge, and when none does, the last of them bounds what the row could bring. The
/// largest part never asks, the others find it: what is read again are the rows of small parts.
class Boruvka {
 public:
  Boruvka(const Similarity& similarity, const Execution& execution)
      : similarity_(similarity),
        execution_(execution),
        n_(similarity.num_points),
        part_(n_),
        list_(n_),
        all_(n_) {
    std::iota(part_.begin(), part_.end(), NodeId{0});
    std::iota(all_.begin(), all_.end(), NodeId{0});
  }

  std::vector<SimilarityEdge> run() {
    read_rows(all_);
    for (bool joined = n_ > 1; joined;) {
      execution_.throw_if_cancelled();
      execution_.report("minimum tree", edges_.size(), n_);
      joined = join(first_edges());
    }
    return std::move(edges_);
  }

 private:
  static constexpr std::size_t kListed = 8;
  /// The first edges of a point, best first; `complete` when the point has no others.
  struct List {
    std::array<float, kListed> log_weight;
    std::array<NodeId, kListed> other;
    NodeId size = 0;
    bool complete = true;
  };

  SimilarityEdge listed(NodeId point, std::size_t i) const {
    return SimilarityEdge::between(point, list_[point].other[i], list_[point].log_weight[i]);
  }

  void insert(NodeId point, const SimilarityEdge& edge) {
    List& list = list_[point];
    if (list.size == kListed) {
      list.complete = false;
      if (!edge.beats(listed(point, kListed - 1))) return;
    } else {
      ++list.size;
    }
    std::size_t i = list.size - 1;
    for (; i > 0 && edge.beats(listed(point, i - 1)); --i) {
      list.log_weight[i] = list.log_weight[i - 1];
      list.other[i] = list.other[i - 1];
    }
    list.log_weight[i] = edge.log_weight;
    list.other[i] = edge.other(point);
  }

  /// Lists afresh the first edges of `points` that leave their parts. A few rows at a time go over one block
  /// of the others after the other, which then stays in a near cache.
  void read_rows(const std::vector<NodeId>& points) {
    constexpr std::size_t kRows = 32, kOthers = 512;
    parallel_blocks(execution_.threads, points.size(), kRows,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      execution_.throw_if_cancelled();
                      float row[kOthers];
                      for (std::size_t i = begin; i < end; ++i) list_[points[i]] = List();
                      for (std::size_t from = 0; from < n_; from += kOthers) {
                        const std::size_t count = std::min<std::size_t>(kOthers, n_ - from);
                        for (std::size_t i = begin; i < end; ++i)
                          read_piece(points[i], {&all_[from], count}, row);
                      }
                    });
  }

  void read_piece(NodeId point, std::span<const NodeId> others, float* row) {
    fill_log_weights(similarity_, point, others, row);
    for (std::size_t j = 0; j < others.size(); ++j) {
      const List& list = list_[point];
      if (row[j] == kNoEdge || part_[others[j]] == part_[point]) continue;
      if (list.size == kListed && row[j] < list.log_weight[kListed - 1]) {
        list_[point].complete = false;
        continue;
      }
      insert(point, SimilarityEdge::between(point, others[j], row[j]));
    }
  }

  /// By part (its smallest point): the first edge that leaves it, as far as it asked.
  std::vector<SimilarityEdge> first_edges() {
    std::vector<NodeId> size(n_);
    for (const NodeId part : part_) ++size[part];
    const auto largest = static_cast<NodeId>(std::max_element(size.begin(), size.end()) - size.begin());
    std::vector<SimilarityEdge> first(n_);
    std::vector<NodeId> unknown;  // points none of whose listed edges leaves the part
    const auto offer = [&](NodeId point) {
      const List& list = list_[point];
      for (std::size_t i = 0; i < list.size; ++i) {
        if (part_[list.other[i]] == part_[point]) continue;
        const SimilarityEdge edge = listed(point, i);
        if (edge.beats(first[part_[point]])) first[part_[point]] = edge;
        return true;
      }
      return list.complete;
    };
    for (NodeId point = 0; point < n_; ++point)
      if (part_[point] != largest && !offer(point)) unknown.push_back(point);
    std::erase_if(unknown, [&](NodeId point) {
      return first[part_[point]].exists() && !listed(point, kListed - 1).beats(first[part_[point]]);
    });
    read_rows(unknown);
    for (const NodeId point : unknown) offer(point);
    return first;
  }

  NodeId find(NodeId point) {
    while (part_[point] != point) point = part_[point] = part_[part_[point]];
    return point;
  }

  bool join(const std::vector<SimilarityEdge>& first) {
    bool joined = false;
    for (const SimilarityEdge& edge : first) {
      if (!edge.exists()) continue;
      const NodeId a = find(edge.low), b = find(edge.high);
      if (a == b) continue;  // both ends chose it
      part_[std::max(a, b)] = std::min(a, b);
      edges_.push_back(edge);
      joined = true;
    }
    for (NodeId point = 0; point < n_; ++point) part_[point] = find(point);
    return joined;
  }

  const Similarity& similarity_;
  const Execution& execution_;
  NodeId n_;
  std::vector<NodeId> part_;  // by point: the smallest point of its part
  std::vector<List> list_;
  std::vector<NodeId> all_;
  std::vector<SimilarityEdge> edges_;
};

}  // namespace

std::vector<SimilarityEdge> boruvka_edges(const Similarity& similarity, const Execution& execution) {
  return Boruvka(similarity, execution).run();
}

}  // namespace copse
