// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <numeric>
#include <vector>

#include "trees/wilson.hpp"

// Wilson's algorithm, twice. Every node has a stack of arrows to random neighbours; a cycle of top arrows is
// popped off the stacks until no cycle is left, and the arrows on top are the tree. In whatever order cycles
// are popped, the tree has the right law (Propp & Wilson 1998, section 2), and it is independent of what was
// popped. Arrows may be drawn when they are first looked at, one after the other from a single stream.
//
// - One by one, the textbook loop: walk from a node along new arrows until the tree is reached. A second
//   visit overwrites a node's arrow, which pops the cycle that has just closed.
// - Interleaved, for graphs in which every step would wait for memory: several walks take turns, each asks
//   for what it will need and comes back a turn later.

namespace copse::detail {

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
        random_(execution.seed, Purpose::spanning_tree, index),
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

/// Walks in turns. The first arrow of every node is drawn beforehand, in the order of the rows, where nothing
/// waits; a step of a walk then reads one NodeState. A walk that runs into the path of another is
/// blocked by it, and its slot goes to a new walk: if the other one reaches the tree, both do.
template <class Arcs>
class Interleaved : Growth<Arcs> {
  using Base = Growth<Arcs>;
  using Base::state_;
  static constexpr std::uint32_t kSlots = 16, kNone = kMaxWalks;

 public:
  using Base::Base;

  WilsonResult run(std::span<const NodeId> roots) {
    draw_first_arrows();
    this->plant(roots);
    for (std::uint32_t walk = kMaxWalks; walk-- > 0;) unused_.push_back(walk);
    while (!this->is_complete() && num_popped_ <= this->options_.step_limit) {
      this->check_.step(kSlots);
      bool is_anything_under_way = false;
      for (Slot& slot : slots_) {
        take_turn(slot);
        is_anything_under_way |= slot.stage != Stage::idle;
      }
      if (!is_anything_under_way) block_ = 0;  // popped nodes that starts had passed by: once more round
    }
    this->result_.steps = num_popped_ + (this->result_.num_ranked - this->num_roots_);
    return this->finish();
  }

 private:
  struct Walk {
    NodeId here = 0;                     // where it stands, outside its path
    std::uint32_t blocked_by = kNone;    // the walk on whose path that is, if it waits for that one
    std::vector<NodeId> path;            // nodes that have an arrow to the next, the last to `here`
    std::vector<std::uint32_t> blocked;  // walks that wait for this one
  };
  struct Draw {
    NodeId node;
    std::uint64_t bits;
  };
  enum class Stage : std::uint8_t { idle, arriving, fetching, drawing };
  struct Slot {
    Stage stage = Stage::idle;
    std::uint32_t walk = 0;
    std::vector<Draw> draws;  // for the nodes of the cycle that it has popped
  };

  void draw_first_arrows() {
    constexpr NodeId kFetched = 32;  // rows ahead
    std::array<std::uint64_t, kFetched> bits;
    const NodeId n = this->graph_.num_nodes();
    for (std::uint64_t soon = 0; soon < std::uint64_t{n} + kFetched; ++soon) {
      if (soon >= kFetched) {
        const auto node = static_cast<NodeId>(soon - kFetched);
        state_[node].set_free();
        if (this->graph_.degree(node) != 0) this->draw_arrow(node, bits[soon % kFetched]);
      }
      if (soon >= n) continue;
      bits[soon % kFetched] = this->random_.next64();
      const auto node = static_cast<NodeId>(soon);
      if (this->graph_.degree(node) != 0) this->arcs_.fetch_row(node, bits[soon % kFetched]);
    }
  }

  void take_turn(Slot& slot) {
    switch (slot.stage) {
      case Stage::idle:
        return begin(slot);
      case Stage::arriving:
        return arrive(slot);
      case Stage::fetching:
        for (const Draw& draw : slot.draws) this->arcs_.fetch_row(draw.node, draw.bits);
        slot.stage = Stage::drawing;
        return;
      case Stage::drawing:
        for (const Draw& draw : slot.draws) this->draw_arrow(draw.node, draw.bits);
        slot.draws.clear();
        give_back(slot.draws);
        slot.stage = Stage::arriving;
        prefetch(&state_[walks_[slot.walk].here]);
    }
  }

  /// A walk for the slot: one that is blocked no longer, or a new one.
  void begin(Slot& slot) {
    slot.stage = Stage::idle;
    if (!released_.empty()) {
      slot.walk = released_.back();
      released_.pop_back();
    } else {
      const NodeId start = unused_.empty() ? kNoNode : next_start();
      if (start == kNoNode) return;
      slot.walk = unused_.back();
      unused_.pop_back();
      walks_[slot.walk].here = start;
    }
    slot.stage = Stage::arriving;
    prefetch(&state_[walks_[slot.walk].here]);
  }

  /// What the walk stands on has been fetched.
  void arrive(Slot& slot) {
    Walk& walk = walks_[slot.walk];
    NodeState& here = state_[walk.here];
    if (here.is_in_tree()) {
      add_path(slot.walk);
      begin(slot);
    } else if (!here.is_free()) {
      if (head_of(here.walk()) == slot.walk) return pop_cycle(slot);
      walk.blocked_by = here.walk();
      walks_[here.walk()].blocked.push_back(slot.walk);
      begin(slot);
    } else if (here.next != kNoNode) {  // else another slot is drawing its arrow
      here.set_walk(slot.walk);
      walk.path.push_back(walk.here);
      walk.here = here.next;
      prefetch(&state_[walk.here]);
    }
  }

  /// The walk that decides about `walk`, by way of those that block each other.
  std::uint32_t head_of(std::uint32_t walk) const {
    while (walks_[walk].blocked_by != kNone) walk = walks_[walk].blocked_by;
    return walk;
  }

  /// Calls body(node) for the nodes of a path, from its end, which it takes away, until that returns false.
  template <class Body>
  void take_back(std::vector<NodeId>& path, Body&& body) {
    constexpr std::size_t kNodesAhead = 8;
    for (bool more = true; more && !path.empty();) {
      const NodeId node = path.back();
      path.pop_back();
      if (path.size() >= kNodesAhead) prefetch(&state_[path[path.size() - kNodesAhead]]);
      more = body(node);
    }
  }

  /// The arrows lead from where the walk stands back to there: along the path of the walk that it has run
  /// into, then of the one that blocks this, and so on to the walk itself. Each loses the end of its path
  /// and then stands where the cycle came into it.
  void pop_cycle(Slot& slot) {
    NodeId entry = walks_[slot.walk].here;
    for (std::uint32_t id = state_[entry].walk(), next = kNone;; id = next) {
      Walk& walk = walks_[id];
      next = walk.blocked_by;
      take_back(walk.path, [&](NodeId node) {
        state_[node].set_free();
        state_[node].next = kNoNode;
        this->arcs_.fetch_bounds(node);
        slot.draws.push_back({node, this->random_.next64()});
        return node != entry;
      });
      std::swap(walk.here, entry);
      std::erase_if(walk.blocked, [&](std::uint32_t other) {
        if (!state_[walks_[other].here].is_free()) return false;
        release(other);
        return true;
      });
      if (id == slot.walk) break;
    }
    num_popped_ += slot.draws.size();
    slot.stage = Stage::fetching;
  }

  void release(std::uint32_t walk) {
    walks_[walk].blocked_by = kNone;
    released_.push_back(walk);
  }

  /// The walk stands next to its path, in the tree.
  void add_path(std::uint32_t id) {
    Walk& walk = walks_[id];
    NodeId parent = state_[walk.here].rank();
    take_back(walk.path, [&](NodeId node) {
      this->join(node, parent);
      parent = this->result_.num_ranked - 1;
      return true;
    });
    for (const std::uint32_t other : walk.blocked) release(other);
    walk.blocked.clear();
    give_back(walk.path);
    unused_.push_back(id);
  }

  /// Long paths and cycles are rare, and their memory would add up.
  template <class T>
  static void give_back(std::vector<T>& empty) {
    constexpr std::size_t kKept = 256;
    if (empty.capacity() > kKept) std::vector<T>().swap(empty);
  }

  /// The next free node whose arrow does not lead into the tree; those on the way whose arrow does join it.
  NodeId next_start() {
    for (;;) {
      for (; outside_ != 0; outside_ &= outside_ - 1) {
        const NodeId node = block_begin_ + static_cast<NodeId>(std::countr_zero(outside_));
        const NodeState& state = state_[node];
        if (!state.is_free() || state.next == kNoNode) continue;
        if (!state_[state.next].is_in_tree()) {
          outside_ &= outside_ - 1;
          return node;
        }
        this->join(node, state_[state.next].rank());
      }
      if (block_ > this->starts_.count()) return kNoNode;
      look_ahead();
    }
  }

  /// Goes on to the block that was looked at the last time, and looks at the one behind it: which of its
  /// nodes are free, without a branch that nobody could predict, and where their arrows lead.
  void look_ahead() {
    block_begin_ = soon_begin_;
    outside_ = block_ == 0 ? 0 : soon_outside_;
    soon_begin_ = this->starts_.begin(block_);
    soon_outside_ = 0;
    for (NodeId i = 0; i < this->starts_.size(soon_begin_); ++i) {
      const NodeState& state = state_[soon_begin_ + i];
      const bool is_start = state.is_free() && state.next != kNoNode;
      soon_outside_ |= std::uint64_t{is_start} << i;
      prefetch(is_start ? &state_[state.next] : &state);
    }
    const NodeId later = this->starts_.begin(block_ + 2);
    for (NodeId i = 0; i < this->starts_.size(later); i += 8) prefetch(&state_[later + i]);
    ++block_;
  }

  std::array<Slot, kSlots> slots_;
  std::array<Walk, kMaxWalks> walks_;
  std::vector<std::uint32_t> unused_, released_;  // walks
  std::uint64_t num_popped_ = 0;
  std::uint64_t block_ = 0;  // how many blocks of starts have been looked at in this round
  NodeId block_begin_ = 0, soon_begin_ = 0;
  std::uint64_t outside_ = 0, soon_outside_ = 0;  // nodes of these blocks that may be starts, one bit each
};

}  // namespace copse::detail
