// SPDX-License-Identifier: Apache-2.0
#include "trees/block_walks.hpp"

#include <vector>

#include "copse/support/random.hpp"
#include "copse/trees/biconnected.hpp"
#include "trees/complete.hpp"
#include "trees/find_arc.hpp"
#include "trees/wilson.hpp"

namespace copse {
namespace {

NodeId heaviest_node(const GraphView& graph) {
  NodeId best = 0;
  double most = -1;
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    const double degree = weighted_degree(graph, u);
    if (degree > most) best = u, most = degree;
  }
  return best;
}

}  // namespace

SpanningForest sample_by_blocks(const GraphView& graph, bool weighted, std::span<const NodeId> roots,
                                const Execution& execution, std::uint64_t index, std::uint64_t steps_per_node,
                                TreeReport& report) {
  report.path = TreePath::blocks;
  Stream seeds(execution.seed, Purpose::block_tree, index);
  std::vector<NodeId> source;
  std::vector<EdgeIndex> arcs;
  CancelCheck check(execution);
  for_each_block(graph, [&](const Block& block) {
    Execution own = execution;
    own.seed = seeds.next64();
    check.step();
    if (block.num_nodes() == 2) {  // a bridge is in every tree
      source.push_back(block.nodes[0]);
      arcs.push_back(block.arcs[0]);
      return;
    }
    const GraphView view = block.view();
    const NodeId root[] = {heaviest_node(view)};
    const WilsonOptions options{.step_limit = step_limit(steps_per_node, view.num_nodes())};
    WilsonResult drawn = weighted ? wilson(view, WeightedArcs(view), root, index, own, options)
                                  : wilson(view, UniformArcs(view), root, index, own, options);
    report.steps += drawn.steps;
    if (!drawn.complete) {
      report.path = TreePath::completed_by_keys;
      drawn.forest = complete_by_keys(view, drawn, weighted, root, own, index);
    }
    const SpanningForest& tree = drawn.forest;
    for (NodeId rank = 0; rank < tree.num_nodes(); ++rank) {
      if (tree.is_root(rank)) continue;
      const NodeId u = tree.node[rank];
      source.push_back(block.nodes[u]);
      arcs.push_back(block.arcs[find_arc(view, u, tree.node[tree.parent[rank]])]);
    }
  });
  return root_forest(graph, source, arcs, roots);
}

}  // namespace copse
