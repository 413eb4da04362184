// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <span>

#include "copse/support/execution.hpp"
#include "copse/trees/sample.hpp"
#include "trees/arc_sampler.hpp"

// Wilson's algorithm. Every node has a stack of arrows to random neighbours; a cycle of top arrows is popped
// off the stacks until no cycle is left, and the arrows on top are the tree. In whatever order cycles are
// popped, the tree has the right law (Propp & Wilson 1998, section 2), and it is independent of what was
// popped. Arrows may be drawn when they are first looked at, one after the other from a single stream.
//
// - One by one, the textbook loop: walk from a node along new arrows until the tree is reached. A second
//   visit overwrites a node's arrow, which pops the cycle that has just closed.
// - Interleaved (wilson_interleaved.hpp), for graphs in which every step would wait for memory: several walks
//   take turns, each asks for what it will need and comes back a turn later.

namespace copse {

/// A forest that Wilson's walks have drawn, or the part of it that they drew within the step limit.
struct WilsonResult {
  SpanningForest forest;  // complete iff `complete`; otherwise the ranks [0, num_ranked) of it
  NodeId num_ranked = 0;
  std::uint64_t steps = 0;  // of the walks: the arrows that were popped, and those that stayed
  bool complete = false;
};

/// One walk after the other, or several in turns. The law is the same, the trees are not.
enum class WalkOrder { one_by_one, interleaved };

/// Which is faster, by the size of the graph and how far apart in memory its neighbours lie. A function of
/// the graph alone, so that a seed means the same tree on every machine.
WalkOrder walk_order(const GraphView& graph);

/// For walks that may take so many steps per node, and some more where nodes are few.
inline std::uint64_t step_limit(std::uint64_t steps_per_node, NodeId num_nodes) {
  return steps_per_node * num_nodes + (1 << 14);
}

struct WilsonOptions {
  std::uint64_t step_limit = ~std::uint64_t{0};
  TreeNodes nodes = TreeNodes::all;
  WalkOrder order = WalkOrder::one_by_one;
  Purpose purpose = Purpose::spanning_tree;  // what the walks' random numbers are for
};

/// The random spanning forest number `index` of execution.seed, rooted at `roots` (at least one per
/// component): P(T) is proportional to the product of the weights that `arcs` steps by. Expected steps: sum
/// over u of d_u R(u, roots) (Wilson 1996).
template <class Arcs>
WilsonResult wilson(const GraphView& graph, const Arcs& arcs, std::span<const NodeId> roots,
                    std::uint64_t index, const Execution& execution, const WilsonOptions& options = {});

namespace detail {

constexpr std::uint32_t kMaxWalks = 256;  // under way at once when walks are interleaved

/// What walks know of a node, in one read: 8 bytes per node.
class NodeState {
 public:
  NodeId next;  // where its top arrow leads; kNoNode where that is not drawn yet

  bool is_free() const { return status_ == kFree; }
  bool is_in_tree() const { return status_ < kFirstWalk; }
  NodeId rank() const { return status_; }                      // in the tree
  std::uint32_t walk() const { return status_ - kFirstWalk; }  // on the path of a walk
  void set_free() { status_ = kFree; }
  void set_rank(NodeId rank) { status_ = rank; }
  void set_walk(std::uint32_t walk) { status_ = kFirstWalk + walk; }

 private:
  static constexpr NodeId kFree = kNoNode, kFirstWalk = kFree - kMaxWalks;
  NodeId status_;  // kFree, or kFirstWalk + a walk, or a rank
};

/// Blocks of 64 consecutive nodes, in an order that differs from tree to tree: the order in which nodes join
/// the tree is that of siblings on its line, and a committee of lines lives on their being different.
class StartBlocks {
 public:
  static constexpr NodeId kSize = 64;

  StartBlocks(NodeId num_nodes, std::uint64_t seed, std::uint64_t index)
      : num_nodes_(num_nodes), count_((std::uint64_t{num_nodes} + kSize - 1) / kSize) {
    Stream stream(seed, Purpose::walk_starts, index);
    first_ = stream.below(count_);
    do stride_ = 1 + stream.below(count_);
    while (std::gcd(stride_, count_) != 1);
  }
  std::uint64_t count() const { return count_; }
  /// The first node of block i; `i` goes round.
  NodeId begin(std::uint64_t i) const {
    return static_cast<NodeId>((first_ + i % count_ * stride_) % count_ * kSize);
  }
  NodeId size(NodeId begin) const { return std::min(kSize, num_nodes_ - begin); }

 private:
  NodeId num_nodes_;
  std::uint64_t count_, first_, stride_;
};

/// A forest in the making, and what both orders of walks do to it.
template <class Arcs>
class Growth {
 public:
  Growth(const GraphView& graph, const Arcs& arcs, std::uint64_t index, const Execution& execution,
         const WilsonOptions& options)
      : graph_(graph),
        arcs_(arcs),
        random_(execution.seed, options.purpose, index),
        starts_(graph.num_nodes(), execution.seed, index),
        check_(execution),
        options_(options),
        state_(Buffer<NodeState>::for_overwrite(graph.num_nodes())) {
    if (graph.is_weighted()) weight_of_ = Buffer<Weight>::for_overwrite(graph.num_nodes());
  }

 protected:
  /// Roots come first. Those without neighbours may be left out: no walk begins or ends there.
  void plant(std::span<const NodeId> roots) {
    const auto is_left_out = [&](NodeId root) {
      return options_.nodes == TreeNodes::with_neighbors && graph_.degree(root) == 0;
    };
    num_listed_ = graph_.num_nodes() - static_cast<NodeId>(std::ranges::count_if(roots, is_left_out));
    result_.forest.node = Buffer<NodeId>::for_overwrite(num_listed_);
    result_.forest.parent = Buffer<NodeId>::for_overwrite(num_listed_);
    for (const NodeId root : roots) {
      if (is_left_out(root))
        state_[root].set_rank(0);
      else
        join(root, result_.num_ranked);
    }
    num_roots_ = result_.num_ranked;
  }

  bool is_complete() const { return result_.num_ranked == num_listed_; }

  void draw_arrow(NodeId node, std::uint64_t bits) {
    const EdgeIndex arc = arcs_.choose(node, bits);
    state_[node].next = graph_.neighbors[arc];
    if (!weight_of_.empty()) weight_of_[node] = graph_.weights[arc];
  }

  void join(NodeId node, NodeId parent_rank) {
    const NodeId rank = result_.num_ranked++;
    result_.forest.node[rank] = node;
    result_.forest.parent[rank] = parent_rank;
    state_[node].set_rank(rank);
  }

  WilsonResult finish() {
    result_.complete = is_complete();
    if (weight_of_.empty()) return std::move(result_);
    state_ = {};
    SpanningForest& forest = result_.forest;
    forest.weight = Buffer<Weight>::for_overwrite(num_listed_);
    for (NodeId rank = 0; rank < result_.num_ranked; ++rank)
      forest.weight[rank] = forest.is_root(rank) ? 0 : weight_of_[forest.node[rank]];
    return std::move(result_);
  }

  const GraphView graph_;
  const Arcs& arcs_;
  FastStream random_;
  const StartBlocks starts_;
  CancelCheck check_;
  const WilsonOptions options_;
  Buffer<NodeState> state_;
  Buffer<Weight> weight_of_;  // of the arrow of each node
  WilsonResult result_;
  NodeId num_listed_ = 0, num_roots_ = 0;
};

template <class Arcs>
class OneByOne : Growth<Arcs> {
  using Base = Growth<Arcs>;
  using Base::state_;

 public:
  using Base::Base;

  WilsonResult run(std::span<const NodeId> roots) {
    for (NodeState& state : state_) state.set_free();
    this->plant(roots);
    for (std::uint64_t block = 0; block < this->starts_.count() && !this->is_complete(); ++block) {
      const NodeId begin = this->starts_.begin(block), end = begin + this->starts_.size(begin);
      for (NodeId start = begin; start < end; ++start)
        if (!state_[start].is_in_tree() && !walk_from(start)) return this->finish();
    }
    return this->finish();
  }

 private:
  /// False where the step limit ended the walk.
  bool walk_from(NodeId start) {
    std::uint64_t steps = this->result_.steps;
    for (NodeId u = start; !state_[u].is_in_tree(); u = state_[u].next) {
      this->draw_arrow(u, this->random_.next64());
      if ((++steps & 0xFFFF) != 0) continue;
      this->check_.step(0x10000);
      if (steps > this->options_.step_limit) break;
    }
    this->result_.steps = steps;
    if (steps > this->options_.step_limit) return false;
    add_path(start);
    return true;
  }

  /// The arrows from `start` lead to the tree. Ranks go to the node next to the tree first.
  void add_path(NodeId start) {
    NodeId* const nodes = this->result_.forest.node.data();
    const NodeId begin = this->result_.num_ranked;
    NodeId end = begin, u = start;
    for (; !state_[u].is_in_tree(); u = state_[u].next) nodes[end++] = u;
    std::reverse(nodes + begin, nodes + end);
    for (NodeId parent = state_[u].rank(), rank = begin; rank < end; ++rank) {
      this->join(nodes[rank], parent);
      parent = rank;
    }
  }
};

}  // namespace detail
}  // namespace copse
