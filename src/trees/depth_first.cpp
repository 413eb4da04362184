// SPDX-License-Identifier: Apache-2.0
#include "trees/depth_first.hpp"

#include <algorithm>
#include <vector>

#include "support/bitset.hpp"
#include "trees/roots.hpp"

namespace copse {
namespace {

/// A depth-first visit that chooses among the unvisited neighbours in proportion to weight without looking
/// at a row each time it comes back to it (a star would cost d^2).
///
/// A node's first child is drawn directly, in one look at the row. Only when the visit comes back are the
/// neighbours that are *still* unvisited (on most graphs hardly any) put into the order of independent keys
/// Exp(1)/w: of exponential variables the least is each with probability proportional to its rate, and what
/// is left of the others is as fresh as before, so that taking them in this order, leaving out the ones
/// visited meanwhile, is a draw in proportion to weight among the unvisited at every step.
class DepthFirst {
 public:
  DepthFirst(const GraphView& graph, Stream stream, const Execution& execution)
      : graph_(graph),
        stream_(stream),
        check_(execution),
        visited_(graph.num_nodes()),
        returned_(graph.num_nodes()) {
    forest_.node = Buffer<NodeId>(graph.num_nodes());
    forest_.parent = Buffer<NodeId>(graph.num_nodes());
    if (graph.is_weighted()) forest_.weight = Buffer<Weight>(graph.num_nodes());
  }

  void visit(NodeId root) {
    NodeId rank = enter(root, size_, 0);  // its own parent
    for (NodeId place = first_child(root);;) {
      check_.step();
      if (place != kNoNode) {
        const EdgeIndex arc = graph_.offsets[forest_.node[rank]] + place;
        rank = enter(graph_.neighbors[arc], rank, graph_.weight(arc));
        place = first_child(forest_.node[rank]);
      } else if (forest_.parent[rank] != rank) {
        rank = forest_.parent[rank];
        place = next_child(rank);
      } else {
        return;
      }
    }
  }

  SpanningForest take() { return std::move(forest_); }

 private:
  struct Candidate {
    double value;  // sum of the weights up to here, or a key
    NodeId place;  // in the row
  };

  NodeId enter(NodeId node, NodeId parent, Weight weight) {
    const NodeId rank = size_++;
    visited_.set(node);
    forest_.node[rank] = node;
    forest_.parent[rank] = parent;
    if (graph_.is_weighted()) forest_.weight[rank] = weight;
    return rank;
  }

  /// The arcs of `u` to unvisited nodes, into `candidates_`, with running sums of their weights.
  void gather(NodeId u) {
    candidates_.clear();
    const EdgeIndex begin = graph_.offsets[u], end = graph_.offsets[u + 1];
    double sum = 0;
    for (EdgeIndex arc = begin; arc < end; ++arc) {
      if (visited_.test(graph_.neighbors[arc])) continue;
      sum += graph_.weight(arc);
      candidates_.push_back({sum, static_cast<NodeId>(arc - begin)});
    }
  }

  NodeId first_child(NodeId u) {
    gather(u);
    if (candidates_.empty()) return kNoNode;
    if (candidates_.size() == 1) return candidates_[0].place;
    if (!graph_.is_weighted()) return candidates_[stream_.below(candidates_.size())].place;
    const double mark = stream_.uniform() * candidates_.back().value;
    const auto chosen = std::partition_point(candidates_.begin(), candidates_.end() - 1,
                                             [&](const Candidate& c) { return c.value <= mark; });
    return chosen->place;
  }

  /// The place in its row of the next child of a node the visit has come back to; kNoNode when it is done.
  NodeId next_child(NodeId rank) {
    const NodeId u = forest_.node[rank];
    const EdgeIndex begin = graph_.offsets[u];
    if (!returned_.test(rank)) {
      returned_.set(rank);
      gather(u);
      if (candidates_.empty()) return kNoNode;
      if (candidates_.size() > 1) sort_candidates(begin);
      waiting_.push_back(kNoNode);  // below it wait the arcs of nodes further up
      for (const Candidate& candidate : candidates_) waiting_.push_back(candidate.place);
    }
    for (;;) {
      const NodeId place = waiting_.back();
      waiting_.pop_back();
      if (place == kNoNode || !visited_.test(graph_.neighbors[begin + place])) return place;
    }
  }

  /// By independent keys Exp(1)/w, the least last: it is the next one taken.
  void sort_candidates(EdgeIndex begin) {
    for (Candidate& candidate : candidates_)
      candidate.value = exponential(stream_) / static_cast<double>(graph_.weight(begin + candidate.place));
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return a.value != b.value ? a.value > b.value : a.place > b.place;
    });
  }

  const GraphView& graph_;
  Stream stream_;
  CancelCheck check_;
  Bitset visited_;   // by node
  Bitset returned_;  // by rank
  std::vector<Candidate> candidates_;
  std::vector<NodeId> waiting_;  // arcs of nodes come back to, by place in the row; kNoNode before each row's
  NodeId size_ = 0;
  SpanningForest forest_;
};

}  // namespace

SpanningForest depth_first_forest(const GraphView& graph, std::uint64_t index, const Execution& execution) {
  return depth_first_forest(graph, connected_components(graph, execution), index, execution);
}

SpanningForest depth_first_forest(const GraphView& graph, const Components& components, std::uint64_t index,
                                  const Execution& execution) {
  Stream root_stream{execution.seed, Purpose::root_choice, index};
  DepthFirst search(graph, Stream{execution.seed, Purpose::spanning_tree, index}, execution);
  for (const NodeId root : random_roots(components, root_stream)) search.visit(root);
  return search.take();
}

}  // namespace copse
