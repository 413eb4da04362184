// SPDX-License-Identifier: Apache-2.0
#include "copse/trees/diameter.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "copse/graph/components.hpp"
#include "copse/support/parallel.hpp"
#include "trees/roots.hpp"
#include "trees/shortest_path.hpp"

namespace copse {
namespace {

/// What one shortest-path forest shows.
struct Sweep {
  std::vector<NodeId> farthest;  // by component: the node farthest from its root, the first settled of equals
  std::vector<double> distance;  // of that node
  std::vector<double> diameters;  // of the trees
};

Sweep sweep(const GraphView& graph, const Components& components, std::span<const NodeId> roots) {
  const SpanningForest forest = shortest_path_forest(graph, roots);
  Sweep result{std::vector<NodeId>(roots.begin(), roots.end()), std::vector<double>(roots.size()),
               tree_diameters(forest)};
  Buffer<double> distance(forest.num_nodes());
  for (NodeId rank = 0; rank < forest.num_nodes(); ++rank) {
    if (forest.is_root(rank)) continue;
    distance[rank] = distance[forest.parent[rank]] + 1.0 / static_cast<double>(forest.edge_weight(rank));
    const NodeId component = components.of_node[forest.node[rank]];
    if (distance[rank] > result.distance[component]) {
      result.distance[component] = distance[rank];
      result.farthest[component] = forest.node[rank];
    }
  }
  return result;
}

double exactly(const GraphView& graph, const Components& components, const Execution& execution) {
  // The k-th nodes of all components are roots together: as many sweeps as the largest component has nodes.
  std::vector<std::vector<NodeId>> members(components.count());
  for (std::size_t u = 0; u < components.of_node.size(); ++u)
    members[components.of_node[u]].push_back(static_cast<NodeId>(u));
  std::size_t most = 0;
  for (const auto& nodes : members) most = std::max(most, nodes.size());
  return deterministic_reduce(
      execution.threads, most, 0.0,
      [&](std::size_t begin, std::size_t end) {
        double longest = 0;
        for (std::size_t k = begin; k < end; ++k) {
          execution.throw_if_cancelled();
          std::vector<NodeId> roots;
          roots.reserve(members.size());
          for (const auto& nodes : members) roots.push_back(nodes[k % nodes.size()]);
          for (const double distance : sweep(graph, components, roots).distance)
            longest = std::max(longest, distance);
        }
        return longest;
      },
      [](double a, double b) { return std::max(a, b); }, 16);
}

}  // namespace

double eccentricity(const GraphView& graph, NodeId node) {
  const Components components = connected_components(graph);
  std::vector<NodeId> roots = smallest_nodes(components);
  roots[components.of_node[node]] = node;
  return sweep(graph, components, roots).distance[components.of_node[node]];
}

Interval geodesic_diameter(const GraphView& graph, const Execution& execution, NodeId exact_nodes) {
  if (graph.num_nodes() == 0) return {};
  const Components components = connected_components(graph, execution);
  if (graph.num_nodes() <= exact_nodes) {
    const double diameter = exactly(graph, components, execution);
    return {diameter, diameter};
  }
  constexpr int kSweeps = 4;
  std::vector<NodeId> roots = smallest_nodes(components);
  std::vector<double> lower(components.count()),
      upper(components.count(), std::numeric_limits<double>::infinity());
  for (int i = 0; i < kSweeps; ++i) {
    execution.throw_if_cancelled();
    execution.report("sweeps", static_cast<std::uint64_t>(i), kSweeps);
    Sweep found = sweep(graph, components, roots);
    for (std::size_t c = 0; c < lower.size(); ++c) {
      lower[c] = std::max(lower[c], found.distance[c]);
      upper[c] = std::min(upper[c], found.diameters[c]);
    }
    roots = std::move(found.farthest);
  }
  return {*std::max_element(lower.begin(), lower.end()), *std::max_element(upper.begin(), upper.end())};
}

Interval structural_diameter(const GraphView& graph, const Execution& execution, NodeId exact_nodes) {
  return geodesic_diameter({graph.offsets, graph.neighbors, {}}, execution, exact_nodes);
}

}  // namespace copse
