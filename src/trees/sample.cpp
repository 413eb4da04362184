// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/sample.hpp"

#include <mutex>
#include <optional>
#include <variant>

#include "copse/graph/components.hpp"
#include "trees/depth_first.hpp"
#include "trees/fallback.hpp"
#include "trees/minimum.hpp"
#include "trees/roots.hpp"
#include "trees/shortest_path.hpp"

namespace copse {
namespace {

constexpr int kShortestPathRoots =
    5;  // Cesa-Bianchi et al. 2013 keep the best of several; they do not say of how many

// Most graphs take 1 to 100 steps per node. Where tree 0 takes more than the second of these, walks are slow
// because of bridges and cut nodes (long paths, chains of blocks), and every tree is drawn block by block:
// the same law. From the first on that is tried on graphs of few edges, and kept if it takes half the steps.
// Beyond the third, inside one block, the weights are pathological.
constexpr std::uint64_t kSomeSteps = 32, kManySteps = 256, kTooManySteps = 10'000;

// For the trees after one that took too many.
constexpr std::uint64_t kFewSteps = 64;

}  // namespace

struct TreeSampler::Shared {
  struct Drawn {
    SpanningForest forest;
    TreeReport report;
  };

  GraphView graph;
  TreeKind kind;
  Execution execution;
  TreeNodes nodes;
  Components components;
  std::vector<NodeId> roots;
  std::variant<std::monostate, UniformArcs, WeightedArcs> arcs;
  WalkOrder walk_order = WalkOrder::one_by_one;
  // How trees are drawn is decided once, on tree 0, so that no tree depends on what was drawn before it. That
  // tree is handed out when it is first asked for.
  bool by_blocks = false;
  std::uint64_t steps_per_node = kTooManySteps;
  std::mutex mutex;
  std::optional<Drawn> first;

  bool weighted_law() const { return kind == TreeKind::rst && graph.is_weighted(); }

  /// Nothing where walks reached their limit. The tree is independent of how long its walks were, so that
  /// drawing those again in another way keeps the law.
  std::optional<Drawn> by_walks(std::uint64_t index, std::uint64_t most_per_node) const {
    const WilsonOptions options{step_limit(most_per_node, graph.num_nodes()), nodes, walk_order};
    WilsonResult result = std::holds_alternative<WeightedArcs>(arcs)
                              ? wilson(graph, std::get<WeightedArcs>(arcs), roots, index, execution, options)
                              : wilson(graph, std::get<UniformArcs>(arcs), roots, index, execution, options);
    if (!result.complete) return {};
    return Drawn{std::move(result.forest), {TreePath::direct, result.steps}};
  }

  Drawn draw(std::uint64_t index) const {
    if (!by_blocks) {
      if (auto drawn = by_walks(index, steps_per_node)) return std::move(*drawn);
    }
    Drawn drawn;
    drawn.forest =
        sample_by_blocks(graph, weighted_law(), roots, execution, index, steps_per_node, drawn.report);
    return drawn;
  }

  void draw_first() {
    first = by_walks(0, kManySteps);
    const std::uint64_t steps = first ? first->report.steps : 0;
    const bool is_thin = graph.num_arcs() < 4 * EdgeIndex{graph.num_nodes()};  // blocks are copied
    if (first && (steps <= kSomeSteps * graph.num_nodes() || !is_thin)) return;
    by_blocks = true;
    Drawn drawn = draw(0);
    if (first && drawn.report.steps > steps / 2) {
      by_blocks = false;
      return;
    }
    first = std::move(drawn);
    if (first->report.path == TreePath::completed_by_keys) steps_per_node = kFewSteps;
  }

  SpanningForest random_tree(std::uint64_t index, TreeReport& report) {
    std::optional<Drawn> drawn;
    if (index == 0) {
      const std::lock_guard lock(mutex);
      drawn.swap(first);
    }
    if (!drawn) drawn = draw(index);
    report = drawn->report;
    return std::move(drawn->forest);
  }
};

TreeSampler::TreeSampler(const GraphView& graph, TreeKind kind, const Execution& execution, TreeNodes nodes)
    : shared_(std::make_shared<Shared>()) {
  shared_->graph = graph;
  shared_->kind = kind;
  shared_->execution = execution;
  shared_->nodes = nodes;
  Components components = connected_components(graph, execution);
  // Random keys come from streams as well, where degrees and centres are not known (forest_builder.hpp).
  shared_->roots = kind == TreeKind::random_key ? smallest_nodes(components) : walk_roots(graph, components);
  if (kind == TreeKind::spt || kind == TreeKind::dfst)
    shared_->components = std::move(components);  // they pick their own roots
  if (kind != TreeKind::rst && kind != TreeKind::nwrst) return;
  if (shared_->weighted_law()) {
    shared_->arcs.emplace<WeightedArcs>(graph, execution.threads);
  } else {
    shared_->arcs.emplace<UniformArcs>(graph);
  }
  shared_->walk_order = walk_order(graph);
  shared_->draw_first();
}

SpanningForest TreeSampler::tree(std::uint64_t index, TreeReport* report) const {
  TreeReport unused;
  TreeReport& out = report == nullptr ? unused : *report;
  out = {};
  const Shared& shared = *shared_;
  Execution one_thread = shared.execution;  // committees run one tree per thread
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
  constexpr const char* kNames[] = {"rst", "nwrst", "random_key", "mst", "spt", "dfst", "bfst"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* to_string(TreePath path) {
  constexpr const char* kNames[] = {"direct", "blocks", "completed_by_keys"};
  return kNames[static_cast<std::size_t>(path)];
}

}  // namespace copse
