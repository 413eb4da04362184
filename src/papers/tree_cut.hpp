// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "copse/graph/graph.hpp"
#include "copse/graph/labels.hpp"
#include "copse/support/execution.hpp"

/// How often a random spanning tree is cut by a labelling (Cesa-Bianchi et al. 2013): the papers' measure of
/// how hard the labelling is.
namespace copse {

/// body(u, v, arc) for every edge, u < v, `arc` that in the row of u.
template <class Body>
void for_each_edge(const GraphView& graph, Body&& body) {
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      if (u < graph.neighbors[arc]) body(u, graph.neighbors[arc], arc);
}

/// How likely each edge is to be in a random spanning tree: weight times effective resistance (eq. 1).
class TreeEdges {
 public:
  static constexpr NodeId kDenseNodes = 1500;

  /// On forests and, by the dense matrix, on graphs of up to kDenseNodes nodes whose weights do not range too
  /// widely for it; nothing otherwise.
  static std::optional<TreeEdges> exact(const GraphView& graph, const Execution& execution);
  /// The frequency among random spanning trees.
  static TreeEdges sampled(const GraphView& graph, std::uint64_t num_trees, const Execution& execution);

  /// body(u, v, arc, probability) for every edge, u < v; edges that no tree had are left out.
  template <class Body>
  void for_each(Body&& body) const {
    for_each_edge(graph_, [&](NodeId u, NodeId v, EdgeIndex arc) {
      if (probability_[arc] > 0) body(u, v, arc, double{probability_[arc]});
    });
  }

 private:
  explicit TreeEdges(const GraphView& graph, float probability)
      : graph_(graph), probability_(graph.num_arcs(), probability) {}
  bool add_up(std::size_t num_tree_edges) const;

  GraphView graph_;
  std::vector<float> probability_;  // by arc, of the row of the lower node
};

/// E[Phi_T], the number of edges of a random spanning tree whose ends have different labels. Edges are judged
/// where both ends have one.
struct ExpectedTreeCut {
  double value = 0;
  double error = 0;             // standard error if sampled, else a bound of the error of the solves
  std::uint64_t num_trees = 0;  // that were drawn; 0: not sampled
};

/// The sum over the cut edges of weight times effective resistance, where that is affordable: on forests, on
/// graphs of some thousand nodes, and wherever few edges are cut. Otherwise, and where weights range too
/// widely for the digits of a matrix, the mean over `num_trees` (at least 1) random spanning trees.
ExpectedTreeCut expected_tree_cut(const GraphView& graph, std::span<const Label> labels,
                                  std::uint64_t num_trees, const Execution& execution);

/// The lower bound, theorem 1, as a labelling.
struct Adversary {
  Labels labels;                // of all nodes: "+1" and "-1"
  std::vector<NodeId> budget;   // the K nodes that were labelled by coins, to be presented first
  double expected_cut = 0;      // E[Phi_T] of the labelling, below K; estimated where `num_trees` is not 0
  std::uint64_t num_trees = 0;  // drawn for the estimate; 0: exact
};

/// K = `budget` nodes get labels by fair coins, functions of the seed: any algorithm errs on half of them in
/// expectation. They are the nodes with the fewest edges in a random spanning tree, on average (sum of
/// weight times resistance over their edges); all other nodes get one label, that which is cut less. A random
/// spanning tree then cuts fewer than K edges in expectation. UsageError unless 1 <= budget <= nodes.
Adversary adversarial_labelling(const GraphView& graph, std::uint64_t budget, const Execution& execution);

}  // namespace copse
