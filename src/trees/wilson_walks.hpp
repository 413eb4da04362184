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

  [[gnu::always_inline]] void fetch_row(NodeId node, std::uint64_t bits) const {
    arcs_.fetch_row(node, bits);
    if (!weight_of_.empty()) prefetch(&weight_of_[node]);
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

  NodeId join(NodeId node, NodeId parent_rank) {
    const NodeId rank = result_.num_ranked++;
    result_.forest.node[rank] = node;
    result_.forest.parent[rank] = parent_rank;
    state_[node].set_rank(rank);
    return rank;
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
  WilsonResult result_;
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

  /// Goes on to the block that was looked at the last time, and looks at the one behind it: which of its
  /// nodes are outside, without a branch that nobody could predict, and where their arrows lead.
  void look_ahead() {
    now_ = soon_;
    soon_ = {blocks_.begin(num_looked_at_), 0};
    for (NodeId i = 0; i < blocks_.size(soon_.begin); ++i) {
      const NodeState& state = state_[soon_.begin + i];
      soon_.outside |= std::uint64_t{state.is_outside()} << i;
      prefetch(state.has_arrow() ? &state_[state.next] : &state);
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
  /// The arrows from `start` lead to the tree. The node next to the tree gets the first rank.
  void add_path(NodeId start) {
    NodeId length = 0, node = start;
    for (; !state_[node].is_in_tree(); node = state_[node].next) ++length;
    const NodeId end = this->result_.num_ranked + length;
    const NodeId parent_of_last = state_[node].rank();
    node = start;
    for (NodeId rank = end; rank-- > this->result_.num_ranked; node = state_[node].next) {
      this->result_.forest.node[rank] = node;
      this->result_.forest.parent[rank] = rank == this->result_.num_ranked ? parent_of_last : rank - 1;
      state_[node].set_rank(rank);
    }
    this->result_.num_ranked = end;
  }
};

/// Walks in turns: each asks for what it will need and comes back a turn later. A walk that runs into the
/// path of another is blocked by it, and a new walk goes on in its place: if the other one reaches the tree,
/// both do.
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
      while (arriving_.size() < kUnderWay && begin_walk()) {
      }
      take_turns();
    }
    return this->finish();
  }

 private:
  static constexpr std::size_t kUnderWay = 64;

  struct Walk {
    NodeId here = 0;
    bool is_blocked = false;   // by the walk on whose path it stands, or did until that was popped
    std::vector<NodeId> path;  // to `here`
  };
  struct Draw {
    NodeId node;
    std::uint64_t bits;  // for its arrow
  };

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
      if (arriving_.empty() && blocked_.empty()) this->begin_again();  // nodes that were popped when passed
      return false;
    }
    walks_[unused_.back()].here = start;
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
    for (const Draw& draw : fetching_) this->fetch_row(draw.node, draw.bits);
    drawing_.swap(fetching_);
    for (const std::uint32_t walk : arriving_) arrive(walk);
    arriving_.clear();
    arriving_.swap(going_on_);
  }

  void arrive(std::uint32_t id) {
    Walk& walk = walks_[id];
    NodeState& here = state_[walk.here];
    if (here.is_in_tree()) {
      add_path(walk.path, here.rank());
      unused_.push_back(id);
      return;
    }
    if (here.has_arrow()) {
      here.set_walk(id);
      walk.path.push_back(walk.here);
      walk.here = here.next;
      prefetch(&state_[here.next]);
    } else if (here.is_on_walk()) {
      if (!leads_to(here.walk(), id)) {
        walk.is_blocked = true;
        blocked_.push_back(id);
        return;
      }
      pop_cycle(id);
    }  // else its arrow is being drawn
    going_on_.push_back(id);
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

  /// Arrows lead from where the walk stands back to there, along the paths of walks that block each other:
  /// each loses the end of its path and stands where the cycle came into it.
  void pop_cycle(std::uint32_t id) {
    NodeId entry = walks_[id].here;
    for (bool is_done = false; !is_done;) {
      const std::uint32_t its_id = state_[entry].walk();
      Walk& walk = walks_[its_id];
      for (NodeId node = kNoNode; node != entry;) {
        node = take_last(walk.path);
        state_[node].set_popped();
        ++this->num_steps_;
        this->arcs_.fetch_bounds(node);
        fetching_.push_back({node, this->random_.next64()});
      }
      std::swap(walk.here, entry);
      is_done = its_id == id;
    }
  }

  void add_path(std::vector<NodeId>& path, NodeId parent) {
    while (!path.empty()) parent = this->join(take_last(path), parent);
    if (path.capacity() > 256)
      std::vector<NodeId>().swap(path);  // long paths are rare, and their memory would add up
  }

  NodeId take_last(std::vector<NodeId>& path) const {
    constexpr std::size_t kAhead = 8;
    const NodeId node = path.back();
    path.pop_back();
    if (path.size() >= kAhead) prefetch(&state_[path[path.size() - kAhead]]);
    return node;
  }

  std::array<Walk, kMaxWalks> walks_;
  std::vector<std::uint32_t> unused_, blocked_;     // walks
  std::vector<std::uint32_t> arriving_, going_on_;  // walks under way, in this turn and the next
  std::vector<Draw> fetching_, drawing_;            // whose bounds have been asked for, and whose rows
  std::size_t last_asked_ = 0;                      // place in `blocked_`
};

}  // namespace copse::detail
