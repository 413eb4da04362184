// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "trees/prefetch.hpp"
#include "trees/wilson.hpp"

// Wilson's algorithm. Every node has a stack of arrows to random neighbours; a cycle of top arrows is popped
// off the stacks until no cycle is left, and the arrows on top are the tree. In whatever order cycles are
// popped, the tree has the right law (Propp & Wilson 1998, section 2), and it is independent of what was
// popped. Arrows may be drawn at any time before they are looked at, from a single stream: the first of every
// node is drawn beforehand, in the order of the rows, where walks would wait for it.

namespace copse::detail {

constexpr std::uint32_t kMaxWalks = 256;  // begun and not ended when walks take turns

/// What walks know of a node, in one read: 8 bytes per node.
class NodeState {
 public:
  NodeId next;  // where its last arrow leads

  bool is_in_tree() const { return status_ < kFirstWalk; }
  bool is_on_walk() const { return status_ >= kFirstWalk && status_ < kDrawn; }
  bool has_arrow() const { return status_ == kDrawn; }   // that no walk has followed yet
  bool is_outside() const { return status_ >= kDrawn; }  // of the tree and of all walks
  NodeId rank() const { return status_; }                // in the tree
  std::uint32_t walk() const { return status_ - kFirstWalk; }

  void set_drawn() { status_ = kDrawn; }
  void set_popped() { status_ = kPopped; }
  void set_rank(NodeId rank) { status_ = rank; }
  void set_walk(std::uint32_t walk) { status_ = kFirstWalk + walk; }

 private:
  static constexpr NodeId kPopped = kNoNode, kDrawn = kPopped - 1, kFirstWalk = kDrawn - kMaxWalks;
  NodeId status_;  // kPopped, kDrawn, kFirstWalk + a walk, or a rank
};

/// Where walks begin: blocks of consecutive nodes, in an order that differs from tree to tree. The order in
/// which nodes join the tree is that of siblings on its line, and a committee of lines lives on their being
/// different.
class Starts {
 public:
  Starts(NodeId num_nodes, std::uint64_t seed, std::uint64_t index)
      : num_nodes_(num_nodes), num_blocks_(std::bit_ceil(std::uint64_t{num_nodes} / kBlock + 1)) {
    Stream stream(seed, Purpose::walk_starts, index);
    first_ = stream.next64();
    stride_ = stream.next64() | 1;
  }
  static constexpr std::uint64_t kBlock = 64;
  struct Block {
    NodeId begin, end;
  };
  /// That which comes after `i` others.
  Block upcoming(std::uint64_t i) const {
    const std::uint64_t begin = ((first_ + (block_ + i) * stride_) & (num_blocks_ - 1)) * kBlock;
    return {static_cast<NodeId>(std::min(begin, num_nodes_)),
            static_cast<NodeId>(std::min(begin + kBlock, num_nodes_))};
  }
  /// kNoNode when all nodes have been passed.
  NodeId next() {
    while (now_.begin == now_.end) {
      if (block_ == num_blocks_) return kNoNode;
      now_ = upcoming(0);
      ++block_;
    }
    return now_.begin++;
  }
  void begin_again() { block_ = 0; }

 private:
  std::uint64_t num_nodes_, num_blocks_, first_, stride_, block_ = 0;
  Block now_{};  // what is left of it
};

/// A forest in the making, and what both orders of walks do to it.
template <class Arcs>
class Growth {
 public:
  Growth(const GraphView& graph, const Arcs& arcs, std::span<const NodeId> roots, std::uint64_t index,
         const Execution& execution, const WilsonOptions& options, bool draws_ahead)
      : graph_(graph),
        arcs_(arcs),
        random_(execution.seed, options.purpose, index),
        starts_(graph.num_nodes(), execution.seed, index),
        check_(execution),
        step_limit_(options.step_limit),
        state_(Buffer<NodeState>::for_overwrite(graph.num_nodes())) {
    const NodeId n = graph.num_nodes();
    if (graph.is_weighted()) weight_of_ = Buffer<Weight>::for_overwrite(n);
    forest_.node = Buffer<NodeId>::for_overwrite(n);
    forest_.parent = Buffer<NodeId>::for_overwrite(n);
    for (NodeState& state : state_) state.set_popped();
    if (draws_ahead) draw_first_arrows();
    for (const NodeId root : roots) join(root, num_ranked_);
    if (draws_ahead) num_steps_ = n - num_ranked_;
  }

 protected:
  bool is_complete() const { return num_ranked_ == graph_.num_nodes(); }
  bool is_beyond_limit() const { return num_steps_ > step_limit_; }

  NodeId draw_arrow(NodeId node, std::uint64_t bits) {
    const EdgeIndex arc = arcs_.choose(node, bits);
    if (!weight_of_.empty()) weight_of_[node] = graph_.weights[arc];
    return state_[node].next = graph_.neighbors[arc];
  }

  /// The next node outside, unless its arrow leads into the tree: such nodes join it by the way. kNoNode when
  /// all have been passed.
  NodeId next_start() {
    for (NodeId node; (node = starts_.next()) != kNoNode;) {
      if (node % Starts::kBlock == 0) look_ahead();
      const NodeState& state = state_[node];
      if (!state.is_outside()) continue;
      if (!state.has_arrow() || !state_[state.next].is_in_tree()) return node;
      join(node, state_[state.next].rank());
    }
    return kNoNode;
  }

  NodeId join(NodeId node, NodeId parent_rank) {
    const NodeId rank = num_ranked_++;
    forest_.node[rank] = node;
    forest_.parent[rank] = parent_rank;
    state_[node].set_rank(rank);
    return rank;
  }

  WilsonResult finish() {
    if (!weight_of_.empty()) {
      state_ = {};
      forest_.weight = Buffer<Weight>::for_overwrite(graph_.num_nodes());
      for (NodeId rank = 0; rank < num_ranked_; ++rank)
        forest_.weight[rank] = forest_.is_root(rank) ? 0 : weight_of_[forest_.node[rank]];
    }
    return {std::move(forest_), num_ranked_, num_steps_, is_complete()};
  }

  const GraphView graph_;
  const Arcs& arcs_;
  FastStream random_;
  Starts starts_;
  CancelCheck check_;
  std::uint64_t step_limit_, num_steps_ = 0;  // arrows that walks follow
  Buffer<NodeState> state_;
  Buffer<Weight> weight_of_;  // of the arrow of each node
  SpanningForest forest_;
  NodeId num_ranked_ = 0;

 private:
  /// Asks for what the next block of starts needs, where its arrows lead, and for the block behind it.
  void look_ahead() {
    const Starts::Block next = starts_.upcoming(0), later = starts_.upcoming(1);
    for (NodeId node = next.begin; node < next.end; ++node)
      if (state_[node].has_arrow()) prefetch(&state_[state_[node].next]);
    for (NodeId node = later.begin; node < later.end; node += 8) prefetch(&state_[node]);
  }

  /// Rows are asked for some nodes ahead.
  void draw_first_arrows() {
    constexpr std::size_t kAhead = 32;
    std::array<std::uint64_t, kAhead> bits;
    for (std::size_t i = 0; i < state_.size() + kAhead; ++i) {
      if (i >= kAhead) {
        const auto node = static_cast<NodeId>(i - kAhead);
        if (graph_.degree(node) != 0) draw_arrow(node, bits[i % kAhead]);
        state_[node].set_drawn();
      }
      if (i >= state_.size()) continue;
      const auto node = static_cast<NodeId>(i);
      bits[i % kAhead] = random_.next64();
      if (graph_.degree(node) != 0) arcs_.fetch_row(node, bits[i % kAhead]);
    }
  }
};

/// The textbook loop: walk from a node along arrows until the tree is reached. Where a walk comes a second
/// time it draws anew, which pops the cycle that has just closed.
template <class Arcs>
class OneByOne : Growth<Arcs> {
  using Growth<Arcs>::state_, Growth<Arcs>::forest_, Growth<Arcs>::num_ranked_;

 public:
  OneByOne(const GraphView& graph, const Arcs& arcs, std::span<const NodeId> roots, std::uint64_t index,
           const Execution& execution, const WilsonOptions& options)
      : Growth<Arcs>(graph, arcs, roots, index, execution, options, is_dense(graph)) {}

  WilsonResult run() {
    for (NodeId start; (start = this->next_start()) != kNoNode; add_path(start)) {
      for (NodeId u = start; !state_[u].is_in_tree();) {
        if (state_[u].has_arrow()) {
          state_[u].set_popped();  // if a walk comes again
          u = state_[u].next;
          continue;
        }
        u = this->draw_arrow(u, this->random_.next64());
        if ((++this->num_steps_ & 0xFFFF) != 0) continue;
        this->check_.step(0x10000);
        if (this->is_beyond_limit()) return this->finish();
      }
    }
    return this->finish();
  }

 private:
  /// In sparse graphs and by weight the first arrows are better drawn on the way, where nothing waits.
  static bool is_dense(const GraphView& graph) {
    return graph.num_arcs() >= 6 * EdgeIndex{graph.num_nodes()} && !graph.is_weighted();
  }

  /// The arrows from `start` lead to the tree. The node next to the tree gets the first rank.
  void add_path(NodeId start) {
    NodeId length = 0, node = start;
    for (; !state_[node].is_in_tree(); node = state_[node].next) ++length;
    const NodeId parent_of_last = state_[node].rank(), first = num_ranked_;
    num_ranked_ += length;
    node = start;
    for (NodeId rank = num_ranked_; rank-- > first; node = state_[node].next) {
      forest_.node[rank] = node;
      forest_.parent[rank] = rank == first ? parent_of_last : rank - 1;
      state_[node].set_rank(rank);
    }
  }
};

/// Walks in turns: each asks for what it will need and comes back a turn later. Where two meet, the older one
/// takes over the end of the other one's path and goes on from there. The younger one waits where they met,
/// and a new walk begins in its place, until that node joins the tree or is popped.
template <class Arcs>
class Interleaved : Growth<Arcs> {
  using Growth<Arcs>::state_;

 public:
  Interleaved(const GraphView& graph, const Arcs& arcs, std::span<const NodeId> roots, std::uint64_t index,
              const Execution& execution, const WilsonOptions& options)
      : Growth<Arcs>(graph, arcs, roots, index, execution, options, true) {}

  WilsonResult run() {
    for (std::uint32_t walk = 0; walk < kMaxWalks; ++walk) unused_.push_back(walk);
    while (!this->is_complete() && !this->is_beyond_limit()) {
      this->check_.step(kUnderWay);
      while (arriving_.size() < kUnderWay && (wake_walk() || begin_walk())) {
      }
      take_turns();
    }
    return this->finish();
  }

 private:
  static constexpr std::size_t kUnderWay = 64;

  struct Walk {
    NodeId here = 0;
    std::uint64_t age = 0;     // the number of walks that are older
    std::vector<NodeId> path;  // to `here`
  };
  struct Draw {
    NodeId node;
    std::uint64_t bits;  // for its arrow
  };

  /// Whether one of the next few that wait need not wait any more.
  bool wake_walk() {
    constexpr int kAsked = 4;
    for (int i = 0; i < kAsked && !waiting_.empty(); ++i) {
      last_asked_ = (last_asked_ + 1) % waiting_.size();
      std::uint32_t& walk = waiting_[last_asked_];
      if (must_wait(walks_[walk])) continue;
      arriving_.push_back(walk);
      walk = waiting_.back();
      waiting_.pop_back();
      return true;
    }
    return false;
  }

  /// On the path of an older one.
  bool must_wait(const Walk& walk) const {
    const NodeState& here = state_[walk.here];
    return here.is_on_walk() && walks_[here.walk()].age < walk.age;
  }

  bool begin_walk() {
    const NodeId start = unused_.empty() ? kNoNode : this->next_start();
    if (start == kNoNode) {
      const bool are_none_left = arriving_.empty() && waiting_.empty();
      if (are_none_left) this->starts_.begin_again();  // for nodes that were passed before they were popped
      return false;
    }
    walks_[unused_.back()].here = start;
    walks_[unused_.back()].age = num_begun_++;
    arriving_.push_back(unused_.back());
    unused_.pop_back();
    return true;
  }

  /// What was asked for in the last turn is there: rows of popped nodes, their bounds, where walks stand.
  void take_turns() {
    for (const Draw& draw : drawing_) {
      this->draw_arrow(draw.node, draw.bits);
      state_[draw.node].set_drawn();
    }
    drawing_.clear();
    for (const Draw& draw : fetching_) this->arcs_.fetch_row(draw.node, draw.bits);
    drawing_.swap(fetching_);
    for (const std::uint32_t walk : arriving_) arrive(walk);
    arriving_.clear();
    arriving_.swap(going_on_);
  }

  void arrive(std::uint32_t id) {
    Walk& walk = walks_[id];
    NodeState& here = state_[walk.here];
    if (here.is_in_tree()) {
      NodeId parent = here.rank();
      while (!walk.path.empty()) parent = this->join(take_last(walk), parent);
      if (walk.path.capacity() > 256) walk.path.shrink_to_fit();  // long ones are rare, but would add up
      unused_.push_back(id);
      return;
    }
    if (here.is_on_walk()) {
      if (must_wait(walk)) {
        waiting_.push_back(id);
        return;
      }
      if (here.walk() == id)
        pop_cycle(walk);
      else
        take_over(walk, id, walks_[here.walk()]);
    } else if (here.has_arrow()) {  // otherwise it is being drawn
      here.set_walk(id);
      walk.path.push_back(walk.here);
      walk.here = here.next;
      prefetch(&state_[here.next]);
    }
    going_on_.push_back(id);
  }

  void pop_cycle(Walk& walk) {
    for (NodeId node = kNoNode; node != walk.here;) {
      node = take_last(walk);
      state_[node].set_popped();
      ++this->num_steps_;
      this->arcs_.fetch_bounds(node);
      fetching_.push_back({node, this->random_.next64()});
    }
  }

  void take_over(Walk& walk, std::uint32_t id, Walk& other) {
    const auto met = std::find(other.path.rbegin(), other.path.rend(), walk.here).base() - 1;
    for (auto node = met; node != other.path.end(); ++node) state_[*node].set_walk(id);
    walk.path.insert(walk.path.end(), met, other.path.end());
    other.path.erase(met, other.path.end());
    std::swap(walk.here, other.here);
  }

  NodeId take_last(Walk& walk) const {
    constexpr std::size_t kAhead = 8;
    const NodeId node = walk.path.back();
    walk.path.pop_back();
    if (walk.path.size() >= kAhead) prefetch(&state_[walk.path[walk.path.size() - kAhead]]);
    return node;
  }

  std::array<Walk, kMaxWalks> walks_;
  std::vector<std::uint32_t> unused_, waiting_;     // walks
  std::vector<std::uint32_t> arriving_, going_on_;  // walks under way, in this turn and the next
  std::vector<Draw> fetching_, drawing_;            // whose bounds have been asked for, and whose rows
  std::size_t last_asked_ = 0;                      // place in `waiting_`
  std::uint64_t num_begun_ = 0;                     // walks
};

}  // namespace copse::detail
