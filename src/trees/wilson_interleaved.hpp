// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "trees/wilson.hpp"

namespace copse::detail {

/// Walks in turns. The first arrow of every node is drawn beforehand, in the order of the rows, where nothing
/// waits; a step of a walk then reads one NodeState. A walk that runs into the path of another is
/// blocked by it, and its slot goes to a new walk: if the other one reaches the tree, both do.
template <class Arcs>
class Interleaved : Growth<Arcs> {
  using Base = Growth<Arcs>;
  using Base::state_;
  static constexpr std::uint32_t kSlots = 16, kNone = kMaxWalks;
  static constexpr NodeId kPortion = 32;  // rows that are asked for before the first of them is read

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
    const NodeId n = this->graph_.num_nodes();
    std::array<std::uint64_t, kPortion> bits;
    const auto fetch = [&](NodeId node) {
      bits[node % kPortion] = this->random_.next64();
      if (this->graph_.degree(node) != 0) this->arcs_.fetch_row(node, bits[node % kPortion]);
    };
    for (NodeId node = 0; node < std::min(n, kPortion); ++node) fetch(node);
    for (NodeId node = 0; node < n; ++node) {
      const std::uint64_t own_bits = bits[node % kPortion];
      if (n - node > kPortion) fetch(node + kPortion);
      state_[node].set_free();
      if (this->graph_.degree(node) != 0) this->draw_arrow(node, own_bits);
    }
  }

  void take_turn(Slot& slot) {
    switch (slot.stage) {
      case Stage::idle:
        return begin(slot);
      case Stage::arriving:
        return arrive(slot);
      case Stage::fetching:
        for (std::size_t i = 0; i < slot.draws.size() && i < kPortion; ++i) fetch(slot.draws[i]);
        slot.stage = Stage::drawing;
        return;
      case Stage::drawing:
        draw(slot.draws);
        slot.stage = Stage::arriving;
        prefetch(&state_[walks_[slot.walk].here]);
    }
  }

  [[gnu::always_inline]] void fetch(const Draw& draw) {
    this->arcs_.fetch_row(draw.node, draw.bits);
    if (!this->weight_of_.empty()) prefetch(&this->weight_of_[draw.node]);
  }

  /// The first rows have been fetched; of a long cycle the others are on the way.
  void draw(std::vector<Draw>& draws) {
    for (std::size_t i = 0; i < draws.size(); ++i) {
      if (i + 2 * kPortion < draws.size()) this->arcs_.fetch_bounds(draws[i + 2 * kPortion].node);
      if (i + kPortion < draws.size()) fetch(draws[i + kPortion]);
      this->draw_arrow(draws[i].node, draws[i].bits);
    }
    draws.clear();
    give_back(draws);
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
        if (slot.draws.size() < 2 * kPortion) this->arcs_.fetch_bounds(node);
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
