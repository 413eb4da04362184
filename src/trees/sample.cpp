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

// Steps per node. Most graphs take 1 to 100. Where tree 0 takes more than the first of these, distances are
// long, and trees are rooted in the middle. Beyond the second, walks are slow because of bridges and cut
// nodes (long paths, chains of blocks), and a tree is drawn block by block, as are all after a tree 0 that
// is. Beyond the third, inside one block, the weights are pathological; after a tree 0 that got there others
// give up early.
constexpr std::uint64_t kSomeSteps = 4, kManySteps = 256, kTooManySteps = 10'000, kFewSteps = 64;

}  // namespace

struct TreeSampler::Shared {
  struct Drawn {
    SpanningForest forest;
    TreeReport report;
  };

  GraphView graph;
  TreeKind kind;
  Execution execution;
  Components components;
  std::vector<NodeId> roots;
  std::variant<std::monostate, UniformArcs, WeightedArcs> arcs;
  WalkOrder order = WalkOrder::one_by_one;
  // How trees are drawn is decided once, on tree 0, so that no tree depends on what was drawn before it. That
  // tree is handed out when it is first asked for.
  bool by_blocks = false;
  std::uint64_t steps_in_blocks = kTooManySteps;  // per node
  std::uint64_t stream_of_first = 0;
  std::mutex mutex;
  std::optional<Drawn> first;

  /// A tree is independent of how long its walks were, so that drawing those that reached their limit again
  /// in another way keeps the law.
  Drawn draw(std::uint64_t index) const {
    if (index == 0) index = stream_of_first;
    const bool weighted = std::holds_alternative<WeightedArcs>(arcs);
    const WilsonOptions options{step_limit(kManySteps, graph.num_nodes()), order};
    WilsonResult walked;
    if (!by_blocks)
      walked = weighted ? wilson(graph, std::get<WeightedArcs>(arcs), roots, index, execution, options)
                        : wilson(graph, std::get<UniformArcs>(arcs), roots, index, execution, options);
    if (walked.complete) return {std::move(walked.forest), {TreePath::direct, walked.steps}};
    Drawn drawn;
    drawn.forest = sample_by_blocks(graph, weighted, roots, execution, index, steps_in_blocks, drawn.report);
    return drawn;
  }

  void draw_first() {
    first = draw(0);
    const std::uint64_t steps = first->report.steps;
    by_blocks = first->report.path != TreePath::direct;
    if (first->report.path == TreePath::completed_by_keys) steps_in_blocks = kFewSteps;
    if (by_blocks || steps <= kSomeSteps * graph.num_nodes()) return;
    move_to_centroids(roots, first->forest);
    first.reset();  // it has another root; and one drawn from the same numbers would depend on the new roots
    stream_of_first = ~std::uint64_t{0};
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

TreeSampler::TreeSampler(const GraphView& graph, TreeKind kind, const Execution& execution)
    : shared_(std::make_shared<Shared>()) {
  shared_->graph = graph;
  shared_->kind = kind;
  shared_->execution = execution;
  Components components = connected_components(graph, execution);
  // Random keys come from streams as well, where degrees are not known (forest_builder.hpp).
  shared_->roots =
      kind == TreeKind::random_key ? smallest_nodes(components) : heaviest_nodes(graph, components);
  if (kind == TreeKind::spt || kind == TreeKind::dfst)
    shared_->components = std::move(components);  // they pick their own roots
  if (kind != TreeKind::rst && kind != TreeKind::nwrst) return;
  if (kind == TreeKind::rst && graph.is_weighted())
    shared_->arcs.emplace<WeightedArcs>(graph, execution.threads);
  else
    shared_->arcs.emplace<UniformArcs>(graph);
  shared_->order = walk_order(graph);
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
