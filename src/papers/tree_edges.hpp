// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// How likely each edge is to be in a random spanning tree: weight times effective resistance (Cesa-Bianchi
/// et al. 2013, eq. 1). Exact on forests and, by the dense matrix, on graphs of up to kDenseNodes nodes whose
/// weights do not range too widely for it; otherwise the frequency among random spanning trees.
class TreeEdges {
 public:
  static constexpr NodeId kDenseNodes = 1500;

  TreeEdges(const GraphView& graph, const Execution& execution, std::uint64_t num_trees = 64);
  static bool may_be_exact(const GraphView& graph, const Execution& execution);

  /// body(u, v, probability) for every edge, u < v; edges that no tree had are left out.
  template <class Body>
  void for_each(Body&& body) const {
    for (NodeId u = 0; u < graph_.num_nodes(); ++u) {
      for (EdgeIndex arc = graph_.offsets[u]; arc < graph_.offsets[u + 1]; ++arc) {
        const NodeId v = graph_.neighbors[arc];
        if (u < v && probability_[arc] > 0) body(u, v, double{probability_[arc]});
      }
    }
  }
  double probability(EdgeIndex arc) const { return probability_[arc]; }  // of the arc in the lower row
  /// Trees that were drawn; 0: exact.
  std::uint64_t num_trees() const { return num_trees_; }

 private:
  bool add_up(std::size_t num_tree_edges) const;
  void sample(const Execution& execution, std::uint64_t num_trees);

  GraphView graph_;
  std::vector<float> probability_;  // by arc, of the row of the lower node
  std::uint64_t num_trees_ = 0;
};

}  // namespace copse
