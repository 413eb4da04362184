// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/laplacian/laplacian_solver.hpp"

namespace copse {

/// For every node the `k` nearest of a set of sources that grows and shrinks, of its component, nearest
/// first; of two as near the one of lower number. 16 bytes a node and place.
class NearestLists {
 public:
  virtual ~NearestLists() = default;
  virtual void add(std::span<const NodeId> sources) = 0;
  virtual void remove(NodeId source) = 0;
  virtual std::size_t size(NodeId node) const = 0;
  virtual NodeId source(NodeId node, std::size_t place) const = 0;
  /// Distances of all that are listed for the node. A solve where they are resistances.
  virtual std::vector<double> distances(NodeId node) const = 0;
};

/// By the length of the shortest path.
std::unique_ptr<NearestLists> geodesic_lists(const GraphView& graph, std::size_t k,
                                             const Execution& execution);
/// By effective resistance: a solve a source; to remove one, a solve for each that stays.
std::unique_ptr<NearestLists> resistance_lists(const GraphView& graph, std::size_t k,
                                               const SolveOptions& solve, const Execution& execution);

}  // namespace copse
