// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/sample.hpp"

#include <mutex>
#include <optional>
#include <variant>

#include "copse/graph/components.hpp"
#include "copse/trees/depth_first.hpp"
#include "copse/trees/minimum.hpp"
#include "copse/trees/shortest_path.hpp"
#include "trees/block_walks.hpp"
#include "trees/complete.hpp"
#include "trees/roots.hpp"
#include "trees/wilson.hpp"

namespace copse {
namespace {

constexpr int kShortestPathRoots =
    5;  // Cesa-Bianchi et al. 2013 keep the best of several; they do not say of how many

// A tree of a graph that random walks cross quickly takes 1 to 40 steps a node. Beyond this many the
// weights (or the shape) are pathological, and walking on could take forever.
std::uint64_t step_limit(NodeId num_nodes) {
  return std::max<std::uint64_t>(64 * std::uint64_t{num_nodes}, 1 << 20);
}

// From so many nodes on walks wait for memory, and it pays to know beforehand how long they are.
constexpr NodeId kWaitingForMemory = 100'000;

// `steps` are those of one tree; roots, nodes without neighbours among them, take none.
Walks walks_to_expect(NodeId num_nodes, std::size_t num_roots, std::uint64_t steps) {
  if (num_nodes < kWaitingForMemory) return Walks::usual;
  const std::uint64_t num_walking = num_nodes - num_roots;
  if (steps > 2 * num_walking) return Walks::winding;
  return 10 * steps > 11 * num_walking ? Walks::usual : Walks::straight;
}

}  // namespace

struct TreeSampler::Shared {
  GraphView graph;
  TreeKind kind;
  Execution execution;
  TreeNodes nodes;
  Components components;
  std::vector<NodeId> roots;
  std::variant<std::monostate, UniformArcs, WeightedArcs> arcs;
  // Whether walks get through is decided once, on tree 0, so that every tree is drawn the same way
  // whatever was drawn before it. That tree is handed out when it is first asked for.
  bool too_hard_for_walks = false;
  Walks walks = Walks::usual;
  std::mutex mutex;
  std::optional<WilsonResult> first;

  bool weighted_law() const { return kind == TreeKind::rst && graph.is_weighted(); }

  WilsonResult walk(std::uint64_t index, std::uint64_t limit) const {
    if (const auto* weighted = std::get_if<WeightedArcs>(&arcs))
      return wilson(graph, *weighted, roots, execution.seed, index, limit, execution, walks, nodes);
    return wilson(graph, std::get<UniformArcs>(arcs), roots, execution.seed, index, limit, execution, walks,
                  nodes);
  }

  SpanningForest random_tree(std::uint64_t index, TreeReport& report) {
    if (too_hard_for_walks) return sample_by_blocks(graph, weighted_law(), roots, execution, index, report);
    std::optional<WilsonResult> result;
    if (index == 0) {
      const std::lock_guard lock(mutex);
      result.swap(first);
    }
    if (!result) result = walk(index, step_limit(graph.num_nodes()));
    report.steps = result->steps;
    if (result->complete) return std::move(result->forest);
    report.path = TreePath::completed_by_keys;
    return complete_by_keys(graph, *result, weighted_law(), roots, execution, index);
  }
};

TreeSampler::TreeSampler(const GraphView& graph, TreeKind kind, const Execution& execution, TreeNodes nodes)
    : shared_(std::make_shared<Shared>()) {
  shared_->graph = graph;
  shared_->kind = kind;
  shared_->execution = execution;
  shared_->nodes = nodes;
  Components components = connected_components(graph, execution);
  shared_->roots = walk_roots(graph, components);
  if (kind == TreeKind::spt || kind == TreeKind::dfst)
    shared_->components = std::move(components);  // they pick their own roots
  if (kind != TreeKind::rst && kind != TreeKind::nwrst) return;
  if (shared_->weighted_law()) {
    shared_->arcs.emplace<WeightedArcs>(graph, execution.threads);
  } else {
    shared_->arcs.emplace<UniformArcs>(graph);
  }
  shared_->first = shared_->walk(0, step_limit(graph.num_nodes()));
  if (!shared_->first->complete) {
    shared_->too_hard_for_walks = true;
    shared_->first.reset();
  } else {
    shared_->walks = walks_to_expect(graph.num_nodes(), shared_->roots.size(), shared_->first->steps);
  }
}

SpanningForest TreeSampler::tree(std::uint64_t index, TreeReport* report) const {
  TreeReport unused;
  TreeReport& out = report == nullptr ? unused : *report;
  out = {};
  const Shared& shared = *shared_;
  Execution one_thread = shared.execution;  // committees run a tree a thread
  one_thread.threads = 1;
  switch (shared.kind) {
    case TreeKind::rst:
    case TreeKind::nwrst:
      return shared_->random_tree(index, out);
    case TreeKind::random_key:
      return random_key_forest(shared.graph, shared.roots, index, true, one_thread);
    case TreeKind::mst:
      return minimum_forest(shared.graph, shared.roots, index, one_thread);
    case TreeKind::spt:
      return best_shortest_path_forest(shared.graph, shared.components, index, kShortestPathRoots,
                                       one_thread);
    case TreeKind::dfst:
      return depth_first_forest(shared.graph, shared.components, index, one_thread);
    case TreeKind::bfst:
      return breadth_first_forest(shared.graph, shared.roots, one_thread);
  }
  throw std::logic_error("unknown TreeKind");
}

TreeKind TreeSampler::kind() const { return shared_->kind; }
bool TreeSampler::is_random() const {
  return shared_->kind != TreeKind::bfst && (shared_->kind != TreeKind::mst || !shared_->graph.is_weighted());
}
std::span<const NodeId> TreeSampler::roots() const { return shared_->roots; }

const char* to_string(TreeKind kind) {
  switch (kind) {
    case TreeKind::rst:
      return "rst";
    case TreeKind::nwrst:
      return "nwrst";
    case TreeKind::random_key:
      return "random_key";
    case TreeKind::mst:
      return "mst";
    case TreeKind::spt:
      return "spt";
    case TreeKind::dfst:
      return "dfst";
    case TreeKind::bfst:
      return "bfst";
  }
  return "?";
}

const char* to_string(TreePath path) {
  switch (path) {
    case TreePath::direct:
      return "direct";
    case TreePath::blocks:
      return "blocks";
    case TreePath::completed_by_keys:
      return "completed_by_keys";
  }
  return "?";
}

}  // namespace copse
