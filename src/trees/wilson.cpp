// SPDX-License-Identifier: Apache-2.0
#include "trees/wilson.hpp"

#include <array>
#include <bit>
#include <limits>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "trees/arrow_bits.hpp"
#include "trees/find_arc.hpp"
#include "trees/hanging_walks.hpp"
#include "trees/start_blocks.hpp"

// Wilson's algorithm as cycle popping, with several walks under way in one thread.
//
// Every node u has a stack of arrows, arrow k of u being a pure function of (seed, tree, u, k). Popping
// any cycle of top arrows until none is left gives the same tree in whatever order the cycles are popped
// (Propp & Wilson 1998, section 2). So the order is ours to choose, and a plain walk is a poor one: every
// step waits for memory two or three times. Here
// - the first arrows of every node are drawn beforehand, in the order of the rows: no waiting, and a step of
//   a walk then reads one record. (Only the very first where rows are long: there few are popped.) Later ones
//   are drawn as many at a time, too, and for all of a cycle together. How many is a matter of how long the
//   walks are: one where hardly any is popped, so that records are small; three where many are and rows have
//   to be summed to draw them;
// - kSlots walks take turns; each asks for the memory that it will need and comes back a turn later. Long
//   walks go on at once where it is at hand: they often turn back;
// - a walk that runs into the path of another hangs on to it, and its slot goes to a new walk. Whether it
//   would have come back to itself is seen by going from walk to walk, not from node to node. When the walk
//   that the others hang on reaches the tree, they do.
// - a walk keeps its path: the nodes of a cycle, or of a path that joins the tree, are fetched side by side,
//   where along the arrows each would wait for the one before it;
// - records hold no weights. Those of the arrows that are left in the end are looked up in the rows, in their
//   order; only where a node has one arrow at a time, its weight is kept aside.
// The tree does not depend on any of this; the order of its ranks does.

namespace copse {
namespace {

constexpr std::uint32_t kSlots = 16, kMaxWalks = 1024;
constexpr std::uint32_t kMaxLongWalks = 128;  // more are no faster, and their paths would add up
constexpr std::uint32_t kAllSlots = (1u << kSlots) - 1;
constexpr std::size_t kKeptDraws = 64;  // of a slot; few cycles are longer
constexpr EdgeIndex kLongRow = 32;      // arcs, on average
constexpr NodeId kInTree = std::numeric_limits<NodeId>::max();

template <std::size_t kCount>
using Spares = std::conditional_t<kCount == 0, std::tuple<>, std::array<NodeId, kCount>>;

/// All about a node; every step of every walk reads one of these.
template <std::size_t kAhead>
class NodeState {
 public:
  static constexpr std::uint32_t kFree = 0,
                                 kDrawing = kMaxWalks + 1;    // else owners are walks, 1 to kMaxWalks
  static constexpr std::uint32_t kManyPops = (1u << 21) - 1;  // as far as they are counted here

  NodeId next() const { return next_; }  // where its top arrow leads
  bool in_tree() const { return next_ == kInTree; }
  NodeId rank() const { return word_; }  // in the tree
  std::uint32_t owner() const { return word_ & kOwnerMask; }
  std::uint32_t pops() const { return word_ >> kOwnerBits; }

  void join_tree(NodeId rank) { word_ = rank, next_ = kInTree; }
  void set_owner(std::uint32_t owner) { word_ = (word_ & ~kOwnerMask) | owner; }
  void count_pop() { word_ += 1u << kOwnerBits; }
  void set_free(NodeId next) { set_owner(kFree), next_ = next; }
  void begin(NodeId next) { word_ = 0, next_ = next; }  // free, and no arrow popped

 private:
  static constexpr int kOwnerBits = 11;
  static constexpr std::uint32_t kOwnerMask = (1u << kOwnerBits) - 1;
  static_assert(kDrawing <= kOwnerMask && kManyPops == (std::uint32_t{0} - 1) >> kOwnerBits);

  std::uint32_t word_;  // the owner, and above it how many arrows were popped; in the tree, the rank
  NodeId next_;

 public:
  /// The arrows below the top one: of those drawn together, number k is spares[k - 1]. What is in the tree
  /// needs none any more, and keeps there what the forest will want to know.
  [[no_unique_address]] Spares<kAhead - 1> spares;
};

template <std::size_t kAhead>
struct Draw {
  NodeId node;
  std::uint32_t top;  // which of the arrows drawn will be the top one
  Places<kAhead> places;
  Draws<kAhead> bits;
};

enum class Stage : std::uint8_t { arriving, choosing, drawing };

template <class Arcs, std::size_t kAhead, bool kLongWalks>
class Popping {
  static constexpr bool kHasSpares = kAhead > 1;
  static constexpr bool kParentsInRecords = kAhead > 2;  // these are so large that the array has to wait
  using State = NodeState<kAhead>;
  static constexpr std::size_t kParent = 0, kParentsRank = 1;  // spares that these take in the tree

  struct Slot {
    std::uint32_t walk = 0;
    Stage stage = Stage::arriving;
    std::vector<Draw<kAhead>> draws;  // for the nodes of the cycle that it has popped
  };

 public:
  Popping(const GraphView& graph, const Arcs& arcs, std::span<const NodeId> roots, std::uint64_t seed,
          std::uint64_t index, TreeNodes nodes, const Execution& execution)
      : graph_(graph),
        arcs_(arcs),
        bits_(seed, index),
        check_(execution),
        spares_beforehand_(graph.num_arcs() / kLongRow < graph.num_nodes()),
        state_(Buffer<State>::for_overwrite(graph.num_nodes())),
        walks_(std::min(kLongWalks ? kMaxLongWalks : kMaxWalks, graph.num_nodes())),
        starts_(graph.num_nodes(), seed, index) {
    const auto is_left_out = [&](NodeId root) {
      return nodes == TreeNodes::with_neighbors && graph.degree(root) == 0;
    };
    const NodeId n = graph.num_nodes();
    num_listed_ = n - static_cast<NodeId>(std::ranges::count_if(roots, is_left_out));
    result_.forest.node = Buffer<NodeId>::for_overwrite(num_listed_);
    if (!kParentsInRecords) result_.forest.parent = Buffer<NodeId>::for_overwrite(num_listed_);
    if (!kHasSpares && graph.is_weighted()) weight_of_ = Buffer<Weight>::for_overwrite(n);
    draw_first_arrows();
    for (const NodeId root : roots) {
      if (is_left_out(root)) {
        leave_out(root);
      } else {
        const NodeId rank = result_.num_ranked++;
        add_to_tree(root, rank, rank);
      }
    }
  }

  WilsonResult run(std::uint64_t step_limit) {
    const NodeId num_roots = result_.num_ranked;
    while (result_.num_ranked < num_listed_ && num_popped_ <= step_limit) {
      check_.step();
      if (active_ != kAllSlots && (walks_.has_woken() || (more_starts_ && walks_.can_begin()))) refill();
      for (std::uint32_t turn = active_; turn != 0; turn &= turn - 1) {
        Slot& slot = slots_[static_cast<unsigned>(std::countr_zero(turn))];
        switch (slot.stage) {
          case Stage::arriving:
            arrive(slot);
            break;
          case Stage::choosing:
            choose(slot);
            break;
          case Stage::drawing:
            draw(slot);
            break;
        }
      }
    }
    if (kParentsInRecords || graph_.is_weighted()) set_by_rank();
    result_.complete = result_.num_ranked == num_listed_;
    result_.steps = num_popped_ + (result_.num_ranked - num_roots);
    return std::move(result_);
  }

 private:
  void draw_first_arrows() {
    if (graph_.num_arcs() == 0) return;
    if constexpr (kHasSpares) {
      if (spares_beforehand_) return draw_first_arrows<kAhead>();
    }
    draw_first_arrows<1>();
  }

  template <std::size_t kArrows>
  void draw_first_arrows() {
    constexpr NodeId kBlock = ArrowBits::kBlock;
    const NodeId n = graph_.num_nodes();
    std::array<std::array<std::uint64_t, kBlock>, kArrows + kArrows % 2> bits_by_arrow;
    std::array<Draws<kArrows>, kBlock> bits;
    NodeId size = 0;
    for (NodeId begin = 0; begin < n; begin += size) {
      size = std::min(kBlock, n - begin);
      check_.step(size / 16);
      for (std::uint32_t k = 0; k < kArrows; k += 2)
        bits_.of_block(begin, k / 2, bits_by_arrow[k], bits_by_arrow[k + 1]);
      for (NodeId i = 0; i < size; ++i)
        for (std::size_t k = 0; k < kArrows; ++k) bits[i][k] = bits_by_arrow[k][i];
      std::array<Places<kArrows>, kBlock> places{};
      const std::span<const Draws<kArrows>> all_bits(bits.data(), size);
      const std::span<Places<kArrows>> all_places(places.data(), size);
      arcs_.choose(begin, all_bits, all_places);
      graph_.with_arcs([&](const auto& neighbors, const auto& weights) {
        for (NodeId node = begin; node < begin + size; ++node) {
          state_[node].begin(0);
          set_arrows(node, places[node - begin], neighbors, weights);
        }
      });
    }
  }

  // A node without neighbours gets some arrow or other, which costs less than asking; it will be a root.
  template <std::size_t kArrows, class Neighbors, class ArcWeights>
  void set_arrows(NodeId node, const Places<kArrows>& places, const Neighbors& neighbors,
                  const ArcWeights& weights) {
    const EdgeIndex row = std::min(arcs_.row_begin(node), graph_.num_arcs() - 1), top = row + places[0];
    State& state = state_[node];
    state.set_free(neighbors[top]);
    if constexpr (kHasSpares) {
      for (std::size_t k = 1; k < kArrows; ++k) state.spares[k - 1] = neighbors[row + places[k]];
    } else if (!weight_of_.empty()) {
      weight_of_[node] = static_cast<Weight>(weights[top]);
    }
  }

  void take_spare(NodeId node, std::uint32_t top) {
    if constexpr (kHasSpares) state_[node].set_free(state_[node].spares[top - 1]);
  }

  // Idle slots get the walks that were woken, then new ones.
  void refill() {
    for (std::uint32_t idle = kAllSlots & ~active_; idle != 0; idle &= idle - 1) {
      Slot& slot = slots_[static_cast<unsigned>(std::countr_zero(idle))];
      if (walks_.has_woken()) {
        slot.walk = walks_.take_woken();
      } else if (const NodeId start = next_start(); start != kNoNode) {
        slot.walk = walks_.begin(start);
      } else {
        return;
      }
      active_ |= idle & -idle;
      go_to(slot, walks_.here(slot.walk));
    }
  }

  // The next free node whose arrow does not lead into the tree; those on the way whose arrow does join it.
  // Nodes on paths are passed over: if their arrows are popped, they are found the next time round.
  NodeId next_start() {
    if (!walks_.can_begin() || !more_starts_) return kNoNode;
    do {
      while (block_.outside != 0) {
        const NodeId node = block_.first + static_cast<NodeId>(std::countr_zero(block_.outside));
        block_.outside &= block_.outside - 1;
        const State& here = state_[node];
        if (here.in_tree() || here.owner() != State::kFree) continue;
        const State& next = state_[here.next()];
        if (!next.in_tree()) return node;
        add_to_tree(node, result_.num_ranked++, next.rank());
      }
    } while (next_block());
    more_starts_ = walks_.all_ended();  // walks under way may still free nodes
    return kNoNode;
  }

  // Nodes that are looked at as starts.
  struct Block {
    NodeId first = 0, end = 0;  // an empty one comes behind the last
    std::uint64_t outside = 0;  // those still to be looked at, a bit each
    static_assert(StartBlocks::kSize <= 64);
  };

  bool next_block() {
    if (block_.end == 0) soon_ = fetch_block();  // the first, or the first of another round
    block_ = soon_;
    if (block_.end == 0) return false;
    soon_ = fetch_block();
    return true;
  }

  // Looks which nodes of a block are not in the tree, without a branch that nobody could foresee, and asks
  // for where their arrows lead. Its own nodes were asked for some blocks ago.
  Block fetch_block() {
    Block block;
    if (!starts_.next_block(block.first, block.end)) return {};
    for (NodeId node = block.first; node < block.end; ++node) {
      const bool joined = state_[node].in_tree();
      block.outside |= std::uint64_t{!joined} << (node - block.first);
      prefetch(&state_[joined ? node : state_[node].next()]);
    }
    const std::uint64_t later = starts_.after_next();
    for (std::size_t node = later; node < later + StartBlocks::kSize; node += 4)
      prefetch(state_.data() + node);
    return block;
  }

  void go_to(Slot& slot, NodeId node) {
    walks_.here(slot.walk) = node;
    slot.stage = Stage::arriving;
    prefetch(&state_[node]);
  }

  void arrive(Slot& slot) {
    while (take_step(slot)) {
    }
  }

  // The node where the walk stands has been fetched. Returns whether the next one is at hand, and the walk is
  // of the kind that goes on then.
  [[gnu::always_inline]] bool take_step(Slot& slot) {
    const NodeId node = walks_.here(slot.walk);
    State& here = state_[node];
    if (here.in_tree()) {
      commit(slot, here.rank());
      return false;
    }
    const std::uint32_t owner = here.owner();
    if (owner == State::kFree) {
      WalkPath& path = walks_.path(slot.walk);
      const bool turns_back = kLongWalks && !path.empty() && path.back() == here.next();
      here.set_owner(slot.walk);
      path.push_back(node, pieces_);
      go_to(slot, here.next());
      return turns_back;
    }
    if (owner == State::kDrawing) return false;  // its new arrow will be there soon
    if (walks_.root_of(owner) == slot.walk) return pop_cycle(slot, owner);
    walks_.hang(slot.walk, owner);
    retire(slot);
    return false;
  }

  // The arrows lead from where the walk stands back to there: along the path of the walk that owns the node
  // to the one that this hangs on, and so on to the walk itself. Each loses the end of its path, and stands
  // where the cycle came into it; so does every walk that hung on to a popped node. Returns as take_step
  // does.
  [[gnu::noinline]] bool pop_cycle(Slot& slot, std::uint32_t owner) {
    slot.draws.clear();
    std::uint32_t walk = owner;
    for (NodeId entry = walks_.here(slot.walk);; walk = walks_.hangs_on(walk)) {
      from_the_end(walks_.path(walk), [&](NodeId node) {
        pop(slot, node);
        return node != entry;
      });
      walks_.wake_those_cut_off(walk, [&](NodeId node) { return state_[node].owner() == walk; });
      std::swap(walks_.here(walk), entry);
      if (walk == slot.walk) break;
    }
    if (!slot.draws.empty()) {
      slot.stage = Stage::choosing;
      return false;
    }
    go_to(slot, walks_.here(slot.walk));
    return kLongWalks;
  }

  // Takes nodes off the end of a path while `body` wants more. Their states may have left the cache since the
  // walk came by, and along the arrows each would have to wait for the one before it.
  template <class Body>
  void from_the_end(WalkPath& path, const Body& body) {
    constexpr std::uint32_t kFetchAhead = 8;
    bool more = true;
    while (more && !path.empty()) {
      if (const NodeId soon = path.before_back(kFetchAhead); soon != kNoNode) prefetch(&state_[soon]);
      more = body(path.pop_back(pieces_));
    }
  }

  // The node's next arrow is at hand, or will have to be drawn.
  void pop(Slot& slot, NodeId node) {
    ++num_popped_;
    State& state = state_[node];
    const std::uint32_t pops = count_pop(node, state);
    const std::uint32_t top = pops % kAhead;
    if (top != 0 && (spares_beforehand_ || pops > 1)) {
      take_spare(node, top);
    } else {
      state.set_owner(State::kDrawing);
      arcs_.prefetch_row(node);
      if (kLongWalks && slot.draws.size() == kKeptDraws) {  // so many fetch side by side as it is
        begin_draws(slot);
        finish_draws(slot);
        slot.draws.clear();
      }
      slot.draws.push_back({node, top, {}, draws_of(node, pops / kAhead)});
    }
  }

  std::uint32_t count_pop(NodeId node, State& state) {
    if (state.pops() == State::kManyPops) return State::kManyPops + ++many_pops_[node];
    state.count_pop();
    return state.pops();
  }

  // The bounds of the rows of the popped nodes have been fetched.
  void choose(Slot& slot) {
    begin_draws(slot);
    slot.stage = Stage::drawing;
  }

  // The rows have been fetched.
  void draw(Slot& slot) {
    finish_draws(slot);
    if (slot.draws.capacity() > kKeptDraws) slot.draws = std::vector<Draw<kAhead>>();
    go_to(slot, walks_.here(slot.walk));
    if (kLongWalks) arrive(slot);
  }

  void begin_draws(Slot& slot) {
    for (auto& draw : slot.draws) draw.places = arcs_.begin_choice(draw.node, draw.bits);
  }

  void finish_draws(Slot& slot) {
    for (auto& draw : slot.draws) arcs_.finish_choice(draw.node, draw.bits, draw.places);
    graph_.with_arcs([&](const auto& neighbors, const auto& weights) {
      for (const auto& draw : slot.draws) {
        set_arrows(draw.node, draw.places, neighbors, weights);
        if (draw.top != 0) take_spare(draw.node, draw.top);
      }
    });
  }

  // The walk has reached the tree: its nodes get ranks, the one next to the tree first.
  [[gnu::noinline]] void commit(Slot& slot, NodeId parent) {
    from_the_end(walks_.path(slot.walk), [&](NodeId node) {
      const NodeId rank = result_.num_ranked++;
      add_to_tree(node, rank, parent);
      parent = rank;
      return true;
    });
    walks_.end(slot.walk);
    more_starts_ |= walks_.all_ended();
    retire(slot);
  }

  void retire(const Slot& slot) { active_ &= ~(std::uint32_t{1} << (&slot - slots_.data())); }

  // What is left of a record in the end.
  struct Edge {
    Weight weight;
  };
  struct EdgeAndParent {
    Weight weight;
    NodeId parents_rank;
  };
  using LastArrow = std::conditional_t<kParentsInRecords, EdgeAndParent, Edge>;

  void set_by_rank() {
    SpanningForest& forest = result_.forest;
    if constexpr (kHasSpares) {
      shrink_records();
    } else {
      state_ = {};
    }
    const auto* last = reinterpret_cast<const LastArrow*>(state_.data());
    if (kParentsInRecords) forest.parent = Buffer<NodeId>::for_overwrite(num_listed_);
    if (graph_.is_weighted()) forest.weight = Buffer<Weight>::for_overwrite(num_listed_);
    for (NodeId rank = 0; rank < result_.num_ranked; ++rank) {
      const NodeId node = forest.node[rank];
      if constexpr (kParentsInRecords) forest.parent[rank] = last[node].parents_rank;
      if (!graph_.is_weighted()) continue;
      const Weight weight = kHasSpares ? last[node].weight : weight_of_[node];
      forest.weight[rank] = forest.is_root(rank) ? 0 : weight;
    }
  }

  // Weights are looked up in the order of the nodes, so that rows are read one after the other.
  void shrink_records() {
    constexpr NodeId kBlock = 64;
    const NodeId n = graph_.num_nodes();
    auto* last = reinterpret_cast<LastArrow*>(state_.data());
    std::array<State, kBlock> states;  // as they were: what is left of them is written over them
    std::array<NodeId, kBlock> parents;
    std::array<EdgeIndex, kBlock> arcs;
    for (NodeId begin = 0, size = 0; begin < n; begin += size) {
      size = std::min(kBlock, n - begin);
      std::copy_n(state_.data() + begin, size, states.data());
      if (graph_.is_weighted()) {
        for (NodeId i = 0; i < size; ++i) {
          const NodeId parent = states[i].in_tree() ? states[i].spares[kParent] : begin + i;
          parents[i] = parent == begin + i ? kNoNode : parent;
        }
        find_arcs(graph_, begin, {parents.data(), size}, {arcs.data(), size});
        for (NodeId i = 0; i < size; ++i)
          last[begin + i].weight = parents[i] == kNoNode ? 0 : static_cast<Weight>(graph_.weights[arcs[i]]);
      }
      if constexpr (kParentsInRecords) {
        for (NodeId i = 0; i < size; ++i) last[begin + i].parents_rank = states[i].spares[kParentsRank];
      }
    }
    state_.shrink((n * sizeof(LastArrow) + sizeof(State) - 1) / sizeof(State));
  }

  // Not a start of walks, and no arrow leads there.
  void leave_out(NodeId root) {
    if constexpr (kHasSpares) state_[root].spares[kParent] = root;
    state_[root].join_tree(0);
  }

  void add_to_tree(NodeId node, NodeId rank, NodeId parent) {
    State& state = state_[node];
    result_.forest.node[rank] = node;
    if constexpr (kParentsInRecords)
      state.spares[kParentsRank] = parent;
    else
      result_.forest.parent[rank] = parent;
    if constexpr (kHasSpares) {
      if (graph_.is_weighted()) state.spares[kParent] = rank == parent ? node : state.next();
    }
    state.join_tree(rank);
  }

  // For the arrows from kAhead * batch on. Bits come for two arrows at a time.
  Draws<kAhead> draws_of(NodeId node, std::uint32_t batch) const {
    if constexpr (kAhead == 2) return bits_.of(node, batch);
    Draws<kAhead> draws;
    const std::uint32_t first = batch * static_cast<std::uint32_t>(kAhead);
    for (std::uint32_t k = 0; k < kAhead;) {
      const auto two = bits_.of(node, (first + k) / 2);
      for (std::uint32_t half = (first + k) % 2; half < 2 && k < kAhead; ++half) draws[k++] = two[half];
    }
    return draws;
  }

  const GraphView graph_;
  const Arcs& arcs_;
  const ArrowBits bits_;
  CancelCheck check_;
  const bool spares_beforehand_;
  Buffer<State> state_;
  Buffer<Weight> weight_of_;  // of the arrow of each node, where it has one at a time
  std::unordered_map<NodeId, std::uint32_t> many_pops_;  // what the states do not count any more
  std::array<Slot, kSlots> slots_;
  HangingWalks walks_;
  WalkPath::Pieces pieces_;
  std::uint32_t active_ = 0;  // slots, a bit each
  bool more_starts_ = true;
  StartBlocks starts_;
  Block block_, soon_;
  std::uint64_t num_popped_ = 0;
  NodeId num_listed_ = 0;  // nodes that are to be ranked
  WilsonResult result_;
};

}  // namespace

template <class Arcs>
WilsonResult wilson(const GraphView& graph, const Arcs& arcs, std::span<const NodeId> roots,
                    std::uint64_t seed, std::uint64_t index, std::uint64_t step_limit,
                    const Execution& execution, Walks walks, TreeNodes nodes) {
  const auto pop = [&]<std::size_t kAhead, bool kLongWalks>() {
    return Popping<Arcs, kAhead, kLongWalks>(graph, arcs, roots, seed, index, nodes, execution)
        .run(step_limit);
  };
  constexpr bool kDrawsAreDear = std::is_same_v<Arcs, WeightedArcs>;
  switch (walks) {
    case Walks::straight:
      return pop.template operator()<1, false>();
    case Walks::winding:
      return pop.template operator() < kDrawsAreDear ? 3 : 2, true > ();
    case Walks::usual:
      break;
  }
  return pop.template operator()<2, false>();
}

template WilsonResult wilson(const GraphView&, const UniformArcs&, std::span<const NodeId>, std::uint64_t,
                             std::uint64_t, std::uint64_t, const Execution&, Walks, TreeNodes);
template WilsonResult wilson(const GraphView&, const WeightedArcs&, std::span<const NodeId>, std::uint64_t,
                             std::uint64_t, std::uint64_t, const Execution&, Walks, TreeNodes);

}  // namespace copse
