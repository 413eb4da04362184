// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/committee_options.hpp"
#include "copse/learners/solved_learner.hpp"

namespace copse {

struct KernelRidgeOptions {
  enum class On { graph, tree };
  On on = On::graph;
  TreeKind tree = TreeKind::rst;
  int num_trees = 31;
  double ridge = 1;
  double bias = 1e-6;
  double diagonal = 0;
  double tolerance = 1e-8;
  int max_iterations = 10000;

  static Fields fields() {
    using Self = KernelRidgeOptions;
    return {
        choice("on", &Self::on, "the kernel of the whole graph, or of spanning trees, averaged",
               {{"graph", On::graph}, {"tree", On::tree}}),
        tree_choice(&Self::tree, "kind of spanning tree, for on=tree"),
        field("num_trees", &Self::num_trees, "trees to average over, for on=tree", between(1, 65535)),
        field("ridge", &Self::ridge,
              "price of roughness: 0.01 all but meets every given label, more smooths over them",
              between(1e-9, 1e9)),
        field("bias", &Self::bias,
              "b in the kernel L^+ + b 11' + c I, weights scaled to mean 1; 1 in the papers, small for few "
              "labels",
              between(1e-12, 1e12)),
        field("diagonal", &Self::diagonal, "c in that kernel: adds to the ridge", between(0.0, 1e9)),
        field("tolerance", &Self::tolerance, "backward error at which the solver stops", between(1e-14, 0.1)),
        field("max_iterations", &Self::max_iterations, "most iterations of the solver", at_least(1))};
  }
};

/// Ridge regression of each class in the kernel K = L^+ + b 11' + c I (Herbster & Pontil 2006) of the graph
/// or of spanning trees of it (Rojas Galeano & Herbster; Herbster, Pontil & Rojas Galeano 2008).
/// docs/learners/kernel_ridge.md.
class KernelRidge final : public SolvedLearner {
 public:
  using Options = KernelRidgeOptions;
  KernelRidge(const GraphView& graph, const Options& options, const Execution& execution);

  /// Every labelled node with its share of the weight: scores are linear in the labels.
  std::vector<Reason> explain(NodeId node) const override;

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                             std::size_t num_classes, const Options& options, int threads);

 private:
  ScoreTable solve() const override;
  Options options_;
};

}  // namespace copse
