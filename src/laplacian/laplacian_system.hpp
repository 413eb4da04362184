// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "copse/graph/components.hpp"
#include "copse/graph/graph.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// L x = b as the iterations see it. Grounded nodes keep their rows: every vector is 0 there, so that
/// sum_v w (p_u - p_v) is the row of L_UU without further ado.
struct LaplacianSystem {
  GraphView graph;
  Execution execution;            // every pass over the rows asks whether to go on
  Buffer<double> inverse_degree;  // 1 / weighted degree; 0 where x is fixed at 0: grounded or isolated
  Buffer<NodeId> singular;        // number of the singular component a node is in, or kNoNode
  std::vector<NodeId> sizes;      // of the singular components
  NodeId num_free = 0;            // nodes that are not fixed
  EdgeIndex num_arcs = 0;

  NodeId num_nodes() const { return graph.num_nodes(); }
  bool is_fixed(NodeId u) const { return inverse_degree[u] == 0; }
  bool is_singular() const { return !sizes.empty(); }

  static LaplacianSystem of(const GraphView& graph, std::span<const NodeId> grounded,
                            const Execution& execution);
};

/// The same system with its nodes in another order, and the arrays of the graph it then needs.
struct ReorderedSystem {
  std::vector<NodeId> order;  // order[new] = old
  Graph graph;
  LaplacianSystem system;
};
ReorderedSystem reorder(const LaplacianSystem& system, std::vector<NodeId> order);

/// Breadth-first from the first node of every component: neighbours get numbers that lie close together,
/// which is what a sweep over the rows needs from a cache.
std::vector<NodeId> breadth_first_order(const GraphView& graph, const Execution& execution = {});

/// Levels of breadth-first searches from the first node of every component.
struct LevelStructure {
  /// Sum of level times (level + the one before): entries that a factor has at most, when it eliminates level
  /// by level.
  std::uint64_t fill = 0;
  NodeId depth = 0;      // levels of the deepest search
  bool is_whole = true;  // or the search stopped, `fill` having passed its limit
};
LevelStructure level_structure(const GraphView& graph, std::uint64_t max_fill,
                               const Execution& execution = {});

/// Whether the neighbours of a node mostly lie near it, from a sample of the arcs: as the nodes are numbered,
/// or in another order of theirs.
bool has_local_order(const GraphView& graph, std::span<const NodeId> order = {});

}  // namespace copse
