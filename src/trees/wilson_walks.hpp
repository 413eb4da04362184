// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

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

/// Blocks of 64 consecutive nodes, in an order that differs from tree to tree: the order in which nodes join
/// the tree is that of siblings on its line, and a committee of lines lives on their being different.
class StartBlocks {
 public:
  static constexpr NodeId kSize = 64;

  StartBlocks(NodeId num_nodes, std::uint64_t seed, std::uint64_t index)
      : num_nodes_(num_nodes), mask_(std::bit_ceil(std::uint64_t{num_nodes} / kSize + 1) - 1) {
    Stream stream(seed, Purpose::walk_starts, index);
    first_ = stream.next64();
    stride_ = stream.next64() | 1;
  }
  std::uint64_t count() const { return mask_ + 1; }
  /// The first node of block i; `i` goes round.
  NodeId begin(std::uint64_t i) const {
    return static_cast<NodeId>(((first_ + i * stride_) & mask_) * kSize);
  }
  /// Some blocks are empty.
  NodeId size(NodeId begin) const { return begin < num_nodes_ ? std::min(kSize, num_nodes_ - begin) : 0; }

 private:
  NodeId num_nodes_;
  std::uint64_t mask_, first_, stride_;
};

/// A forest in the making, and what both orders of walks do to it.
template <class Arcs, WalkOrder kOrder>
class Growth {
 public:
  Growth(const GraphView& graph, const Arcs& arcs, std::span<const NodeId> roots, std::uint64_t index,
         const Execution& execution, const WilsonOptions& options)
      : graph_(graph),
        arcs_(arcs),
        random_(execution.seed, options.purpose, index),
        blocks_(graph.num_nodes(), execution.seed, index),
        check_(execution),
        options_(options),
        state_(Buffer<NodeState>::for_overwrite(graph.num_nodes())) {
    if (graph.is_weighted()) weight_of_ = Buffer<Weight>::for_overwrite(graph.num_nodes());
    // In sparse graphs and by weight the first arrows are better drawn on the way, where nothing waits.
    constexpr std::size_t kDense = 6;  // neighbours per node
    const bool is_dense = graph.num_arcs() >= kDense * graph.num_nodes() && !graph.is_weighted();
    const bool draws_ahead = kOrder == WalkOrder::interleaved || is_dense;
    if (draws_ahead)
      draw_first_arrows();
    else
      for (NodeState& state : state_) state.set_popped();
    plant(roots);
    if (draws_ahead) num_steps_ = num_listed_ - num_roots_;
  }

 protected:
  bool is_complete() const { return result_.num_ranked == num_listed_; }
  bool is_beyond_limit() const { return num_steps_ > options_.step_limit; }

  NodeId draw_arrow(NodeId node, std::uint64_t bits) {
    const EdgeIndex arc = arcs_.choose(node, bits);
    if (!weight_of_.empty()) weight_of_[node] = graph_.weights[arc];
    return state_[node].next = graph_.neighbors[arc];
  }

  /// The next node outside, unless its arrow leads into the tree: such nodes join it by the way. kNoNode when
  /// all have been passed.
  NodeId next_start() {
    for (;; look_ahead()) {
      while (now_.outside != 0) {
        const NodeId node = now_.begin + static_cast<NodeId>(std::countr_zero(now_.outside));
        now_.outside &= now_.outside - 1;
        const NodeState& state = state_[node];
        if (!state.is_outside()) continue;
        if (!state.has_arrow() || !state_[state.next].is_in_tree()) return node;
        join(node, state_[state.next].rank());
      }
      if (num_looked_at_ > blocks_.count()) return kNoNode;
    }
  }
  void begin_again() { num_looked_at_ = 0; }

  /// The arrows from `start` lead to the tree. The node next to the tree gets the first rank.
  void add_path(NodeId start) {
    NodeId length = 0, node = start;
    for (; !state_[node].is_in_tree(); node = state_[node].next) ++length;
    const NodeId end = result_.num_ranked + length;
    const NodeId parent_of_last = state_[node].rank();
    node = start;
    for (NodeId rank = end; rank-- > result_.num_ranked; node = state_[node].next) {
      result_.forest.node[rank] = node;
      result_.forest.parent[rank] = rank == result_.num_ranked ? parent_of_last : rank - 1;
      state_[node].set_rank(rank);
    }
    result_.num_ranked = end;
  }

  WilsonResult finish() {
    result_.steps = num_steps_;
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
  const StartBlocks blocks_;
  CancelCheck check_;
  const WilsonOptions options_;
  Buffer<NodeState> state_;
  std::uint64_t num_steps_ = 0;  // arrows that walks follow

 private:
  void draw_first_arrows() {
    constexpr NodeId kAhead = 32;
    const NodeId n = graph_.num_nodes();
    std::array<std::uint64_t, kAhead> bits;
    const auto fetch = [&](NodeId node) {
      bits[node % kAhead] = random_.next64();
      if (graph_.degree(node) != 0) arcs_.fetch_row(node, bits[node % kAhead]);
    };
    for (NodeId node = 0; node < std::min(n, kAhead); ++node) fetch(node);
    for (NodeId node = 0; node < n; ++node) {
      const std::uint64_t own_bits = bits[node % kAhead];
      if (n - node > kAhead) fetch(node + kAhead);
      state_[node].set_drawn();
      if (graph_.degree(node) != 0) draw_arrow(node, own_bits);
    }
  }

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

  void join(NodeId node, NodeId parent_rank) {
    const NodeId rank = result_.num_ranked++;
    result_.forest.node[rank] = node;
    result_.forest.parent[rank] = parent_rank;
    state_[node].set_rank(rank);
  }

  /// Goes on to the block that was looked at the last time, and looks at the one behind it: which of its
  /// nodes are outside, without a branch that nobody could predict, and where their arrows lead.
  void look_ahead() {
    now_ = soon_;
    soon_ = {blocks_.begin(num_looked_at_), 0};
    for (NodeId i = 0; i < blocks_.size(soon_.begin); ++i) {
      const NodeState& state = state_[soon_.begin + i];
      soon_.outside |= std::uint64_t{state.is_outside()} << i;
      prefetch(state.is_outside() ? &state_[state.next] : &state);
    }
    const NodeId later = blocks_.begin(num_looked_at_ + 2);
    for (NodeId i = 0; i < blocks_.size(later); i += 8) prefetch(&state_[later + i]);
    ++num_looked_at_;
  }

  struct Starts {
    NodeId begin = 0;           // of a block
    std::uint64_t outside = 0;  // its nodes that were outside when it was looked at, a bit each
  };

  Buffer<Weight> weight_of_;  // of the arrow of each node
  WilsonResult result_;
  NodeId num_listed_ = 0, num_roots_ = 0;
  std::uint64_t num_looked_at_ = 0;  // blocks
  Starts now_, soon_;
};

/// The textbook loop: walk from a node along arrows until the tree is reached. Where a walk comes a second
/// time it draws anew, which pops the cycle that has just closed.
template <class Arcs>
class OneByOne : Growth<Arcs, WalkOrder::one_by_one> {
  using Base = Growth<Arcs, WalkOrder::one_by_one>;
  using Base::state_;

 public:
  using Base::Base;

  WilsonResult run() {
    for (NodeId start; (start = this->next_start()) != kNoNode; this->add_path(start)) {
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
};

/// Walks in turns: each asks for what it will need and comes back a turn later. A walk that runs into the
/// path of another is blocked by it, and a new walk goes on in its place: if the other one reaches the tree,
/// both do. The path of a walk are the arrows from its start.
template <class Arcs>
class Interleaved : Growth<Arcs, WalkOrder::interleaved> {
  using Base = Growth<Arcs, WalkOrder::interleaved>;
  using Base::state_;

 public:
  using Base::Base;

  WilsonResult run() {
    for (std::uint32_t walk = kMaxWalks; walk-- > 0;) unused_.push_back(walk);
    while (!this->is_complete() && !this->is_beyond_limit()) {
      this->check_.step(kUnderWay);
      while (num_under_way() < kUnderWay && begin_walk()) {
      }
      take_turns();
    }
    return this->finish();
  }

 private:
  static constexpr std::size_t kUnderWay = 40;

  struct Walk {
    NodeId start, here;
    std::uint64_t bits;  // for the arrow that it will draw
    bool is_blocked;     // by the walk on whose path it stands, or did until that was popped
  };

  std::size_t num_under_way() const { return arriving_.size() + fetching_.size() + drawing_.size(); }

  /// A walk that is blocked no longer, if one is found among the next few, or a new one.
  bool begin_walk() {
    constexpr int kAsked = 4;
    for (int i = 0; i < kAsked && !blocked_.empty(); ++i) {
      last_asked_ = (last_asked_ + 1) % blocked_.size();
      std::uint32_t& walk = blocked_[last_asked_];
      if (state_[walks_[walk].here].is_on_walk()) continue;
      walks_[walk].is_blocked = false;
      arriving_.push_back(walk);
      walk = blocked_.back();
      blocked_.pop_back();
      return true;
    }
    const NodeId start = unused_.empty() ? kNoNode : this->next_start();
    if (start == kNoNode) {
      if (num_under_way() == 0 && blocked_.empty())
        this->begin_again();  // nodes that were popped when passed
      return false;
    }
    walks_[unused_.back()] = {start, start, 0, false};
    arriving_.push_back(unused_.back());
    unused_.pop_back();
    return true;
  }

  /// What every walk under way has asked for is there.
  void take_turns() {
    for (const std::uint32_t walk : drawing_) draw(walk);
    drawing_.clear();
    for (const std::uint32_t walk : fetching_) this->arcs_.fetch_row(walks_[walk].here, walks_[walk].bits);
    drawing_.swap(fetching_);
    for (const std::uint32_t walk : arriving_) arrive(walk);
    arriving_.clear();
    arriving_.swap(going_on_);
  }

  void arrive(std::uint32_t id) {
    Walk& walk = walks_[id];
    const NodeState& here = state_[walk.here];
    if (here.is_in_tree()) {
      this->add_path(walk.start);
      unused_.push_back(id);
    } else if (here.has_arrow()) {
      follow_arrow(id);
    } else if (!here.is_on_walk()) {
      ask_for_arrow(id);
    } else if (leads_to(here.walk(), id)) {
      pop_cycle(walk.here);
      ask_for_arrow(id);
    } else {
      walk.is_blocked = true;
      blocked_.push_back(id);
    }
  }
  void follow_arrow(std::uint32_t id) {
    NodeState& here = state_[walks_[id].here];
    here.set_walk(id);
    walks_[id].here = here.next;
    prefetch(&state_[here.next]);
    going_on_.push_back(id);
  }
  void ask_for_arrow(std::uint32_t id) {
    walks_[id].bits = this->random_.next64();
    this->arcs_.fetch_bounds(walks_[id].here);
    fetching_.push_back(id);
  }
  void draw(std::uint32_t id) {
    const NodeState& here = state_[walks_[id].here];
    if (!here.is_outside() || here.has_arrow()) return going_on_.push_back(id);  // another walk came first
    this->draw_arrow(walks_[id].here, walks_[id].bits);
    follow_arrow(id);
  }

  /// Whether a walk is blocked by `other`, itself or by way of those that block each other.
  bool leads_to(std::uint32_t walk, std::uint32_t other) const {
    while (walk != other && walks_[walk].is_blocked) {
      const NodeState& here = state_[walks_[walk].here];
      if (!here.is_on_walk()) return false;
      walk = here.walk();
    }
    return walk == other;
  }

  /// Arrows lead from `entry` back to it, along the paths of walks that block each other: each loses the end
  /// of its path and stands where the cycle came into it.
  void pop_cycle(NodeId entry) {
    std::uint32_t walk = kMaxWalks;
    NodeId node = entry;
    do {
      NodeState& state = state_[node];
      if (state.walk() != walk) {
        walk = state.walk();
        walks_[walk].here = node;
      }
      state.set_popped();
      ++this->num_steps_;
      node = state.next;
    } while (node != entry);
  }

  std::array<Walk, kMaxWalks> walks_;
  std::vector<std::uint32_t> unused_, blocked_;               // walks
  std::vector<std::uint32_t> arriving_, fetching_, drawing_;  // those under way, by what they have asked for
  std::vector<std::uint32_t> going_on_;                       // to arrive in the next turn
  std::size_t last_asked_ = 0;                                // place in `blocked_`
};

}  // namespace copse::detail
