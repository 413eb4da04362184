// SPDX-License-Identifier: Apache-2.0
#include "trees/shortest_path.hpp"

#include <algorithm>
#include <stdexcept>

#include "support/bitset.hpp"
#include "copse/support/error.hpp"
#include "copse/support/parallel.hpp"
#include "trees/roots.hpp"

namespace copse {
namespace {

constexpr NodeId kUnseen = 0;  // places in the heap count from 1: fresh memory is zero
constexpr NodeId kSettled = kNoNode;

/// Dijkstra with an indexed 4-ary heap. A heap with lazy deletion is a little simpler, but may hold an entry
/// an edge; this one never holds more than one a node.
class Dijkstra {
 public:
  Dijkstra(const GraphView& graph, const Execution& execution)
      : graph_(graph), check_(execution), state_(graph.num_nodes()), heap_(graph.num_nodes()) {
    forest_.node = Buffer<NodeId>(graph.num_nodes());
    forest_.parent = Buffer<NodeId>(graph.num_nodes());
    forest_.weight = Buffer<Weight>(graph.num_nodes());
  }

  SpanningForest run(std::span<const NodeId> roots) {
    for (const NodeId root : roots) {
      if (state_[root].place != kUnseen)
        throw std::logic_error("shortest_path_forest: a component has two roots");
      reach(root, 0, static_cast<NodeId>(settled_));
      while (size_ > 0) {
        check_.step();
        settle(pop());
      }
    }
    if (settled_ != graph_.num_nodes())
      throw std::logic_error("shortest_path_forest: a component has no root");
    return std::move(forest_);
  }

 private:
  struct State {
    double distance;
    NodeId place;   // in the heap, from 1; kUnseen or kSettled
    NodeId parent;  // rank of the best parent so far
  };
  struct Entry {
    double distance;
    NodeId node;
    bool operator<(const Entry& other) const {
      return distance != other.distance ? distance < other.distance : node < other.node;
    }
  };

  void settle(const Entry& entry) {
    const auto rank = static_cast<NodeId>(settled_++);
    const NodeId u = entry.node, parent = state_[u].parent;
    state_[u].place = kSettled;
    forest_.node[rank] = u;
    forest_.parent[rank] = parent;
    const NodeId parent_node = parent == rank ? kNoNode : forest_.node[parent];
    for (EdgeIndex arc = graph_.offsets[u]; arc < graph_.offsets[u + 1]; ++arc) {
      const NodeId v = graph_.neighbors[arc];
      if (v == parent_node) forest_.weight[rank] = graph_.weights[arc];
      State& state = state_[v];
      if (state.place == kSettled) continue;
      const double distance = entry.distance + 1.0 / static_cast<double>(graph_.weights[arc]);
      if (state.place == kUnseen || distance < state.distance) reach(v, distance, rank);
    }
  }

  void reach(NodeId node, double distance, NodeId parent) {
    State& state = state_[node];
    state.distance = distance;
    state.parent = parent;
    if (state.place == kUnseen) state.place = static_cast<NodeId>(++size_);
    sift_up(state.place - 1, {distance, node});
  }

  void put(std::size_t i, const Entry& entry) {
    heap_[i] = entry;
    state_[entry.node].place = static_cast<NodeId>(i + 1);
  }
  void sift_up(std::size_t i, const Entry& entry) {
    for (; i > 0; i = (i - 1) / 4) {
      const Entry& above = heap_[(i - 1) / 4];
      if (!(entry < above)) break;
      put(i, above);
    }
    put(i, entry);
  }
  Entry pop() {
    const Entry top = heap_[0], last = heap_[--size_];
    if (size_ == 0) return top;
    std::size_t i = 0;
    for (std::size_t first = 1; first < size_; first = 4 * i + 1) {
      std::size_t least = first;
      for (std::size_t j = first + 1; j < std::min(first + 4, size_); ++j)
        if (heap_[j] < heap_[least]) least = j;
      if (!(heap_[least] < last)) break;
      put(i, heap_[least]);
      i = least;
    }
    put(i, last);
    return top;
  }

  const GraphView& graph_;
  CancelCheck check_;
  Buffer<State> state_;
  Buffer<Entry> heap_;
  std::size_t size_ = 0, settled_ = 0;
  SpanningForest forest_;
};

/// Replaces every tree of `best` by that of `other` where its diameter is smaller. The trees of
/// forests made by shortest_path_forest lie one after the other, each component in the same ranks.
void keep_better_trees(SpanningForest& best, std::vector<double>& diameters, const SpanningForest& other,
                       const std::vector<double>& other_diameters, const Components& components) {
  std::size_t begin = 0;
  for (std::size_t tree = 0; tree < diameters.size(); ++tree) {
    const std::size_t size = components.sizes[tree];
    if (other_diameters[tree] < diameters[tree]) {
      diameters[tree] = other_diameters[tree];
      std::copy_n(other.node.begin() + begin, size, best.node.begin() + begin);
      std::copy_n(other.parent.begin() + begin, size, best.parent.begin() + begin);
      if (best.is_weighted()) std::copy_n(other.weight.begin() + begin, size, best.weight.begin() + begin);
    }
    begin += size;
  }
}

}  // namespace

SpanningForest shortest_path_forest(const GraphView& graph, std::span<const NodeId> roots,
                                    const Execution& execution) {
  return graph.is_weighted() ? Dijkstra(graph, execution).run(roots)
                             : breadth_first_forest(graph, roots, execution);
}

std::vector<double> tree_diameters(const SpanningForest& forest) {
  const std::size_t n = forest.num_nodes();
  Buffer<NodeId> tree(n);  // by rank: trees may interleave
  NodeId num_trees = 0;
  for (std::size_t rank = 0; rank < n; ++rank)
    tree[rank] = forest.parent[rank] == rank ? num_trees++ : tree[forest.parent[rank]];
  std::vector<double> diameters(num_trees);
  Buffer<double> height(n);  // by rank: resistance to the farthest node of the subtree
  // Children before parents. A longest path turns at its highest node, where two branches meet.
  for (std::size_t rank = n; rank-- > 0;) {
    const NodeId parent = forest.parent[rank];
    if (parent == rank) continue;
    const double branch =
        height[rank] + 1.0 / static_cast<double>(forest.edge_weight(static_cast<NodeId>(rank)));
    double& longest = diameters[tree[rank]];
    longest = std::max(longest, height[parent] + branch);
    height[parent] = std::max(height[parent], branch);
  }
  return diameters;
}

SpanningForest best_shortest_path_forest(const GraphView& graph, std::uint64_t index, int num_roots,
                                         const Execution& execution) {
  return best_shortest_path_forest(graph, connected_components(graph, execution), index, num_roots,
                                   execution);
}

SpanningForest best_shortest_path_forest(const GraphView& graph, const Components& components,
                                         std::uint64_t index, int num_roots, const Execution& execution) {
  if (num_roots < 1)
    throw UsageError{"num_roots", std::to_string(num_roots) + " roots make no tree", "give at least 1"};
  Stream stream{execution.seed, Purpose::root_choice, index};
  const int batch = std::clamp(execution.threads, 1, num_roots);
  SpanningForest best;
  std::vector<double> diameters;
  for (int done = 0; done < num_roots; done += batch) {
    execution.throw_if_cancelled();
    const auto count = static_cast<std::size_t>(std::min(batch, num_roots - done));
    std::vector<std::vector<NodeId>> roots(count);
    for (auto& draw : roots) draw = random_roots(components, stream);
    std::vector<SpanningForest> forests(count);
    std::vector<std::vector<double>> found(count);
    parallel_for(execution.threads, count, [&](std::size_t i) {
      forests[i] = shortest_path_forest(graph, roots[i], execution);
      found[i] = tree_diameters(forests[i]);
    });
    for (std::size_t i = 0; i < count; ++i) {
      if (diameters.empty()) {
        best = std::move(forests[i]);
        diameters = std::move(found[i]);
      } else {
        keep_better_trees(best, diameters, forests[i], found[i], components);
      }
    }
  }
  return best;
}

SpanningForest breadth_first_forest(const GraphView& graph, std::span<const NodeId> roots,
                                    const Execution& execution) {
  const std::size_t n = graph.num_nodes();
  SpanningForest forest;
  forest.node = Buffer<NodeId>(n);
  forest.parent = Buffer<NodeId>(n);
  if (graph.is_weighted()) forest.weight = Buffer<Weight>(n);

  Bitset seen(n);
  CancelCheck check(execution);
  std::size_t head = 0, tail = 0;  // the list of nodes is the queue
  const auto append = [&](NodeId node, std::size_t parent, Weight weight) {
    seen.set(node);
    forest.node[tail] = node;
    forest.parent[tail] = static_cast<NodeId>(parent);
    if (!forest.weight.empty()) forest.weight[tail] = weight;
    ++tail;
  };
  for (const NodeId root : roots) {
    if (seen.test(root)) throw std::logic_error("breadth_first_forest: a component has two roots");
    append(root, tail, 0);
    for (; head < tail; ++head) {
      const NodeId u = forest.node[head];
      check.step();
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
        if (!seen.test(graph.neighbors[arc])) append(graph.neighbors[arc], head, graph.weight(arc));
    }
  }
  if (tail != n) throw std::logic_error("breadth_first_forest: a component has no root");
  return forest;
}

}  // namespace copse
