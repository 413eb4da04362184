// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/rooted_forest.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>
#include <vector>

#include "copse/graph/components.hpp"
#include "graph/with_ground.hpp"
#include "trees/fallback.hpp"

namespace copse {
namespace {

constexpr std::uint64_t kMostSteps = 256;  // of walks, per node

/// A power of two near the largest weight.
double unit_of_weights(const GraphView& graph) {
  if (graph.weights.empty()) return 1;
  return std::ldexp(1.0, std::ilogb(*std::max_element(graph.weights.begin(), graph.weights.end())));
}

}  // namespace

struct RootedForests::Shared {
  Graph grounded;  // where there are killing rates
  GraphView graph;
  NodeId num_nodes;  // without the ground
  Execution execution;
  std::vector<NodeId> roots;      // at least one per component
  std::vector<char> is_dead_end;  // by node: a root that stands in for one that its component lacks
  std::variant<std::monostate, UniformArcs, WeightedArcs> arcs;
  WilsonOptions options;

  bool is_ground(NodeId node) const { return node == num_nodes; }

  SpanningForest draw(std::uint64_t index, TreeReport& report) const {
    const auto* weighted = std::get_if<WeightedArcs>(&arcs);
    WilsonResult drawn = weighted != nullptr
                             ? wilson(graph, *weighted, roots, index, execution, options)
                             : wilson(graph, std::get<UniformArcs>(arcs), roots, index, execution, options);
    report = {drawn.complete ? TreePath::direct : TreePath::completed_by_keys, drawn.steps};
    if (drawn.complete) return std::move(drawn.forest);
    return complete_by_keys(graph, drawn, weighted != nullptr, roots, execution, index);
  }
};

RootedForests::RootedForests(const GraphView& graph, std::span<const NodeId> roots,
                             const Execution& execution, std::span<const double> killing_rates) {
  auto made = std::make_shared<Shared>();
  made->graph = graph.magnitudes();
  made->num_nodes = graph.num_nodes();
  made->execution = execution;
  made->execution.threads = 1;  // callers draw one forest per thread
  made->roots.assign(roots.begin(), roots.end());
  if (!killing_rates.empty()) {
    made->grounded = with_ground(made->graph, killing_rates, unit_of_weights(graph), execution);
    made->graph = made->grounded;
    made->roots.push_back(made->num_nodes);
  }
  const Components components = connected_components(made->graph, execution);
  std::vector<char> has_root(components.count());
  for (const NodeId root : made->roots) has_root[components.of_node[root]] = 1;
  made->is_dead_end.resize(made->graph.num_nodes());
  for (NodeId node = 0; node < made->graph.num_nodes(); ++node) {
    char& has = has_root[components.of_node[node]];
    if (has != 0) continue;
    has = made->is_dead_end[node] = 1;
    made->roots.push_back(node);
  }
  if (made->graph.is_weighted())
    made->arcs.emplace<WeightedArcs>(made->graph, execution.threads);
  else
    made->arcs.emplace<UniformArcs>(made->graph);
  made->options = {.step_limit = step_limit(kMostSteps, made->graph.num_nodes()),
                   .order = walk_order(made->graph),
                   .purpose = Purpose::rooted_forest};
  shared_ = std::move(made);
}

Buffer<NodeId> RootedForests::roots_of_nodes(std::uint64_t index, TreeReport* report) const {
  TreeReport unused;
  const SpanningForest forest = shared_->draw(index, report == nullptr ? unused : *report);
  auto root = Buffer<NodeId>::for_overwrite(shared_->graph.num_nodes());
  for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
    const NodeId node = forest.node[rank], parent = forest.node[forest.parent[rank]];
    if (forest.is_root(rank))
      root[node] = shared_->is_dead_end[node] != 0 ? kNoNode : node;
    else
      root[node] = shared_->is_ground(parent) ? node : root[parent];
  }
  root.shrink(shared_->num_nodes);
  return root;
}

}  // namespace copse
