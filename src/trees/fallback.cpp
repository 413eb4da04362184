// SPDX-License-Identifier: Apache-2.0
#include "trees/fallback.hpp"

#include <limits>
#include <span>
#include <vector>

#include "trees/biconnected.hpp"
#include "trees/edge_keys.hpp"
#include "trees/filter_kruskal.hpp"
#include "trees/find_arc.hpp"
#include "trees/roots.hpp"

namespace copse {
namespace {

template <class Keys>
SpanningForest complete(const GraphView& graph, const WilsonResult& part, const Keys& keys,
                        std::span<const NodeId> roots, Execution execution) {
  execution.threads = 1;  // committees run one tree per thread
  const std::size_t num_edges = graph.num_nodes() - roots.size();
  Buffer<NodeId> source(num_edges);
  Buffer<EdgeIndex> edges(num_edges);
  FilterKruskal<Keys> kruskal(graph, keys, execution);
  for (const NodeId root : roots) kruskal.join(roots[0], root);  // no way may lead from one to another
  std::size_t num_given = 0;
  for (NodeId rank = 0; rank < part.num_ranked; ++rank) {
    if (part.forest.is_root(rank)) continue;
    const NodeId u = part.forest.node[rank], parent = part.forest.node[part.forest.parent[rank]];
    kruskal.join(u, parent);
    source[num_given] = u;
    edges[num_given++] = find_arc(graph, u, parent);
  }
  kruskal.run(source.span(), edges.span(), num_given);
  return root_forest(graph, source.span(), edges.span(), roots);
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
    // A cycle, round which no walk has to go: it lacks an edge, which is chosen in proportion to 1 / weight
    // by a race of exponential variables.
    if (view.num_arcs() == 2 * EdgeIndex{view.num_nodes()}) {
      double least = std::numeric_limits<double>::infinity();
      std::size_t missing = 0;
      for (NodeId u = 0; u < view.num_nodes(); ++u) {
        for (EdgeIndex arc = view.offsets[u]; arc < view.offsets[u + 1]; ++arc) {
          if (view.neighbors[arc] < u) continue;
          const double time = exponential(seeds) * (weighted ? double{view.weight(arc)} : 1.0);
          if (time < least) least = time, missing = source.size();
          source.push_back(block.nodes[u]);
          arcs.push_back(block.arcs[arc]);
        }
      }
      source.erase(source.begin() + static_cast<std::ptrdiff_t>(missing));
      arcs.erase(arcs.begin() + static_cast<std::ptrdiff_t>(missing));
      return;
    }
    const std::vector<NodeId> root =
        heaviest_nodes(view, {std::vector<NodeId>(view.num_nodes()), {view.num_nodes()}});
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

SpanningForest complete_by_keys(const GraphView& graph, const WilsonResult& part, bool weighted,
                                std::span<const NodeId> roots, const Execution& execution,
                                std::uint64_t index) {
  const EdgeRandom random{execution.seed, index};
  if (weighted && graph.is_weighted())
    return complete(graph, part, ExponentialKeys{random}, roots, execution);
  return complete(graph, part, UniformKeys{random}, roots, execution);
}

}  // namespace copse
