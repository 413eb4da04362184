// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/graph/graph.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// What is known of a figure: it lies between the two.
struct Interval {
  double lower = 0, upper = 0;
};

/// Graphs of at most this many nodes get their diameters exactly, by the paths from every node.
inline constexpr NodeId kExactDiameterNodes = 2000;

/// The largest geodesic distance, of resistances 1/w along the shortest path, from a node to another of its
/// component (Herbster & Pontil 2006, section 3).
double eccentricity(const GraphView& graph, NodeId node);

/// The largest distance between two nodes of one component: in resistance (geodesic, D_G), or in edges
/// (structural, S_G; Rojas Galeano & Herbster, section 2). Exact for up to `exact_nodes` nodes. Else an
/// interval by a few double sweeps in every component at once: from below the distance of a farthest node
/// from a farthest node, from above the diameter of a shortest-path tree, at most twice the diameter.
Interval geodesic_diameter(const GraphView& graph, const Execution& execution,
                           NodeId exact_nodes = kExactDiameterNodes);
Interval structural_diameter(const GraphView& graph, const Execution& execution,
                             NodeId exact_nodes = kExactDiameterNodes);

}  // namespace copse
