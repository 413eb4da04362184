// SPDX-License-Identifier: Apache-2.0
#include "trees/wilson.hpp"

#include <array>
#include <bit>
#include <limits>
#include <vector>

#include "copse/support/random.hpp"

// Wilson's algorithm as cycle popping, with several walks under way in one thread.
//
// Every node u has a stack of arrows, arrow k of u being a pure function of (seed, tree, u, k). Popping
// any cycle of top arrows until none is left gives the same tree in whatever order the cycles are popped
// (Propp & Wilson 1998, section 2). So the order is ours to choose, and a plain walk is a poor one: it waits
// for memory twice a step. kWalks walks take turns instead; each asks for the memory it will need and comes
// back to it a turn later. The tree does not depend on kWalks; the order of its ranks does. Each walk starts
// from the nodes of a stripe of its own, beginning at a random one: siblings then follow each other in
// another order in every tree, which a committee of lines lives on, and memory is still read in order.
//
// Two walks may meet. A walk owns the nodes on its path, through its ticket. One that runs into the path
// of an older walk waits until that one has reached the tree. One that runs into the path of a younger walk
// takes the node, and the younger walk starts again from its first node: it will draw the very same arrows,
// but for those of cycles it has popped. The oldest walk always moves on, so there is no deadlock.

namespace copse {
namespace {

constexpr std::uint32_t kWalks = 16;
constexpr std::uint32_t kInTree = std::numeric_limits<std::uint32_t>::max();

struct NodeState {
  std::uint32_t owner;  // ticket of the walk on whose path it is, if that is under way; rank once in the tree
  std::uint32_t pops;   // arrows popped so far, or kInTree
};

struct Step {
  NodeId node;
  std::uint32_t arc;  // place in the node's row
};

enum class Stage : std::uint8_t { arriving, choosing };

struct Walk {
  std::vector<Step> path;
  std::uint64_t bits = 0;  // of the arrow being looked up
  NodeId start = 0, here = 0;
  NodeId first_start = 0, num_starts = 0;  // the nodes it is to start from: a stripe of its own,
  NodeId next_start = 0, starts_left = 0;  // from a random one round to the one before
  std::uint32_t ticket = 0, choice = 0, waits_for = 0;
  Stage stage = Stage::arriving;
};

template <class Arcs>
class Popping {
 public:
  Popping(const GraphView& graph, const Arcs& arcs, std::span<const NodeId> roots, std::uint64_t seed,
          std::uint64_t index)
      : graph_(graph),
        arcs_(arcs),
        key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        index_(index),
        state_(graph.num_nodes()) {
    const NodeId n = graph.num_nodes();
    result_.forest.node = Buffer<NodeId>(n);
    result_.forest.parent = Buffer<NodeId>(n);
    if (graph.is_weighted()) result_.forest.weight = Buffer<Weight>(n);
    num_roots_ = static_cast<NodeId>(roots.size());
    for (const NodeId root : roots) {
      const NodeId rank = result_.num_ranked++;
      result_.forest.node[rank] = root;
      result_.forest.parent[rank] = rank;
      state_[root] = {rank, kInTree};
    }
    Stream offsets(seed, Purpose::walk_starts, index);
    for (std::uint32_t i = 0; i < kWalks; ++i) {
      walks_[i].ticket = kWalks + i;  // ticket % kWalks is the walk; 0 in a node means free
      Walk& walk = walks_[i];
      walk.first_start = static_cast<NodeId>(std::uint64_t{n} * i / kWalks);
      walk.num_starts = static_cast<NodeId>(std::uint64_t{n} * (i + 1) / kWalks) - walk.first_start;
      walk.next_start = walk.num_starts == 0 ? 0 : static_cast<NodeId>(offsets.below(walk.num_starts));
      walk.starts_left = walk.num_starts;
    }
  }

  WilsonResult run(std::uint64_t step_limit) {
    for (Walk& walk : walks_) start_next(walk);
    while (active_ != 0 && turns_ / 2 <= step_limit) {
      for (std::uint32_t turn = active_; turn != 0; turn &= turn - 1) {
        Walk& walk = walks_[static_cast<unsigned>(std::countr_zero(turn))];
        if (walk.stage == Stage::choosing) {
          choose(walk);
        } else {
          arrive(walk);
        }
        ++turns_;
      }
    }
    result_.steps +=
        result_.num_ranked - num_roots_;  // the arrows popped are counted, these are the ones that stay
    result_.complete = active_ == 0;
    return std::move(result_);
  }

 private:
  // The node `walk.here` has been fetched.
  void arrive(Walk& walk) {
    NodeState& here = state_[walk.here];
    if (here.pops == kInTree) return commit(walk, here.owner);
    if (here.owner == walk.ticket) {
      pop_cycle(walk);
    } else if (Walk& other = walks_[here.owner % kWalks]; other.ticket == here.owner) {
      if (here.owner < walk.ticket) return wait_for(walk, here.owner);
      restart(other);
      if (waiting_ != 0) wake(here.owner);
    }
    here.owner = walk.ticket;
    walk.bits = arrow(walk.here, here.pops);
    walk.choice = arcs_.begin_choice(walk.here, walk.bits);
    walk.stage = Stage::choosing;
  }

  // The row of `walk.here` has been fetched.
  void choose(Walk& walk) {
    const std::uint32_t choice = arcs_.finish_choice(walk.here, walk.bits, walk.choice);
    walk.path.push_back({walk.here, choice});
    go_to(walk, graph_.neighbors[arcs_.row_begin(walk.here) + choice]);
  }

  void go_to(Walk& walk, NodeId node) {
    walk.here = node;
    walk.stage = Stage::arriving;
    prefetch(&state_[node]);
    arcs_.prefetch_row(node);
  }

  // The path has come back to `walk.here`: its arrows from there on form a cycle.
  void pop_cycle(Walk& walk) {
    for (;;) {
      const NodeId node = walk.path.back().node;
      walk.path.pop_back();
      ++state_[node].pops;
      ++result_.steps;
      if (node == walk.here) return;
      state_[node].owner = 0;
    }
  }

  // The path has reached the tree: its nodes get ranks, the one next to the tree first.
  void commit(Walk& walk, NodeId parent) {
    SpanningForest& forest = result_.forest;
    for (std::size_t i = walk.path.size(); i-- > 0;) {
      const Step step = walk.path[i];
      const NodeId rank = result_.num_ranked++;
      state_[step.node] = {rank, kInTree};
      forest.node[rank] = step.node;
      forest.parent[rank] = parent;
      if (graph_.is_weighted()) forest.weight[rank] = graph_.weights[arcs_.row_begin(step.node) + step.arc];
      parent = rank;
    }
    walk.path.clear();
    const std::uint32_t done = walk.ticket;
    start_next(walk);
    if (waiting_ != 0) wake(done);
  }

  void start_next(Walk& walk) {
    while (walk.starts_left > 0) {
      walk.start = walk.first_start + walk.next_start;
      if (++walk.next_start == walk.num_starts) walk.next_start = 0;
      --walk.starts_left;
      if (state_[walk.start].pops != kInTree) return restart(walk);
    }
    active_ &= ~bit(walk);
  }

  // A new ticket gives up all nodes held under the old one.
  void restart(Walk& walk) {
    walk.path.clear();
    walk.ticket += kWalks;
    active_ |= bit(walk);
    waiting_ &= ~bit(walk);
    go_to(walk, walk.start);
  }

  void wait_for(Walk& walk, std::uint32_t ticket) {
    walk.waits_for = ticket;
    active_ &= ~bit(walk);
    waiting_ |= bit(walk);
  }

  // The walk of that ticket has reached the tree or given up: who waited looks again at the node it stands
  // at.
  void wake(std::uint32_t ticket) {
    for (std::uint32_t rest = waiting_; rest != 0; rest &= rest - 1) {
      Walk& walk = walks_[static_cast<unsigned>(std::countr_zero(rest))];
      if (walk.waits_for != ticket) continue;
      active_ |= bit(walk);
      waiting_ &= ~bit(walk);
      go_to(walk, walk.here);
    }
  }

  std::uint32_t bit(const Walk& walk) const { return std::uint32_t{1} << (&walk - walks_.data()); }

  std::uint64_t arrow(NodeId node, std::uint32_t pop) const {
    const auto block = philox4x32(
        {node, pop, static_cast<std::uint32_t>(index_),
         static_cast<std::uint32_t>(Purpose::spanning_tree) << 16 ^ static_cast<std::uint32_t>(index_ >> 32)},
        key_);
    return std::uint64_t{block[0]} << 32 | block[1];
  }

  const GraphView graph_;
  const Arcs& arcs_;
  const std::array<std::uint32_t, 2> key_;
  const std::uint64_t index_;
  Buffer<NodeState> state_;
  std::array<Walk, kWalks> walks_;
  std::uint32_t active_ = 0, waiting_ = 0;  // sets of walks, a bit each
  NodeId num_roots_ = 0;
  std::uint64_t turns_ = 0;  // two a step, steps that a walk took again included
  WilsonResult result_;
};

}  // namespace

template <class Arcs>
WilsonResult wilson(const GraphView& graph, const Arcs& arcs, std::span<const NodeId> roots,
                    std::uint64_t seed, std::uint64_t index, std::uint64_t step_limit) {
  return Popping<Arcs>(graph, arcs, roots, seed, index).run(step_limit);
}

template WilsonResult wilson(const GraphView&, const UniformArcs&, std::span<const NodeId>, std::uint64_t,
                             std::uint64_t, std::uint64_t);
template WilsonResult wilson(const GraphView&, const WeightedArcs&, std::span<const NodeId>, std::uint64_t,
                             std::uint64_t, std::uint64_t);

}  // namespace copse
