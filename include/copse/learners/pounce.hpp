// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/kernel_options.hpp"
#include "copse/learners/sequential_learner.hpp"

namespace copse {

struct PounceOptions {
  KernelOn on = KernelOn::graph;
  TreeKind tree = TreeKind::rst;
  int num_trees = 31;
  bool zero_is_mistake = true;
  int max_columns = -1;
  int num_projections = 128;
  double tolerance = 1e-8;
  int max_iterations = 10000;

  static Fields fields() {
    using Self = PounceOptions;
    return {
        on_choice(&Self::on),
        tree_choice(&Self::tree, "kind of spanning tree, for on=tree"),
        field("num_trees", &Self::num_trees, "trees in the committee, for on=tree", between(1, 65535)),
        field("zero_is_mistake", &Self::zero_is_mistake,
              "also learn from a margin of 0; false: only from a wrong guess"),
        field("max_columns", &Self::max_columns,
              "stored examples whose kernel column is kept, 4 bytes a node each; with more of them an answer "
              "takes a solve; -1: what fits 1 GiB",
              at_least(-1)),
        field("num_projections", &Self::num_projections,
              "coordinates of the sketch that then spares some of these solves; 0: none", at_least(0)),
        field("tolerance", &Self::tolerance, "backward error at which the solver stops, for on=graph",
              between(1e-14, 0.1)),
        field("max_iterations", &Self::max_iterations, "most iterations of the solver", at_least(1))};
  }
};

/// Pounce (Herbster 2008): the label of the nearest stored example in effective resistance, plus what a
/// function w that is corrected by mistakes says about the difference of the two nodes. Mistakes are stored.
/// docs/learners/pounce.md.
class Pounce final : public SequentialLearner {
 public:
  using Options = PounceOptions;
  Pounce(const GraphView& graph, const Options& options, const Execution& execution);

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                             std::size_t num_classes, const Options& options, int threads);
  static std::uint64_t online_bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                                    const Options& options, int threads);
};

}  // namespace copse
