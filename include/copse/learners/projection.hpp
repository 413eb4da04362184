// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/kernel_options.hpp"
#include "copse/learners/sequential_learner.hpp"

namespace copse {

struct ProjectionOptions {
  enum class Strategy { last, all };
  Strategy strategy = Strategy::last;
  bool cyclic = false;
  bool aggressive = false;
  KernelOn on = KernelOn::graph;
  TreeKind tree = TreeKind::rst;
  int num_trees = 31;
  bool zero_is_mistake = true;
  int max_sweeps = 100;
  int max_columns = -1;
  double tolerance = 1e-8;
  int max_iterations = 10000;

  static Fields fields() {
    using Self = ProjectionOptions;
    return {choice("strategy", &Self::strategy, "project on the last label, or on all so far",
                   {{"last", Strategy::last}, {"all", Strategy::all}}),
            field("cyclic", &Self::cyclic,
                  "project on one half-space after the other; false: on all values at once"),
            field("aggressive", &Self::aggressive, "learn from every label, not from mistakes only"),
            on_choice(&Self::on),
            tree_choice(&Self::tree, "kind of spanning tree, for on=tree"),
            num_trees_field<Self>(),
            zero_field<Self>(),
            max_sweeps_field<Self>(),
            max_columns_field<Self>(),
            tolerance_field<Self>(),
            max_iterations_field<Self>()};
  }

  // Told once for the presets as well.
  template <class Self>
  static Field num_trees_field() {
    return field("num_trees", &Self::num_trees, "trees in the committee, for on=tree", between(1, 65535));
  }
  template <class Self>
  static Field zero_field() {
    return field("zero_is_mistake", &Self::zero_is_mistake,
                 "also learn from a margin of 0; false: only from a wrong guess");
  }
  template <class Self>
  static Field max_sweeps_field() {
    return field("max_sweeps", &Self::max_sweeps,
                 "most sweeps over earlier labels after a new one, for strategy=all with cyclic",
                 at_least(1));
  }
  template <class Self>
  static Field max_columns_field() {
    return field(
        "max_columns", &Self::max_columns,
        "kernel columns kept for these sweeps, 4 bytes a node each; others are solved for again; -1: "
        "what fits 1 GiB",
        at_least(-1));
  }
  template <class Self>
  static Field tolerance_field() {
    return field("tolerance", &Self::tolerance, "backward error at which the solver stops, for on=graph",
                 between(1e-14, 0.1));
  }
  template <class Self>
  static Field max_iterations_field() {
    return field("max_iterations", &Self::max_iterations, "most iterations of the solver", at_least(1));
  }
};

/// Online projections (Herbster, Pontil & Wainer 2005, algorithm 2) in the space of the kernel L^+: after a
/// mistake the nearest function that meets the label, or all labels. docs/learners/projection.md.
class Projection : public SequentialLearner {
 public:
  using Options = ProjectionOptions;
  Projection(const GraphView& graph, const Options& options, const Execution& execution);

  /// Learns a label that was asked for: as `aggressive` would, whatever the option says (Act-st and Act-mu of
  /// the paper, section 6, footnote 2).
  void reveal_queried(NodeId node, Label label) override { reveal_aggressively(node, label); }

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                             std::size_t num_classes, const Options& options, int threads);
  static std::uint64_t online_bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                                    const Options& options, int threads);
};

// The paper's named instances (its table 1), each with the options that it leaves open.

struct OneProjectionOptions {  // 1-proj
  KernelOn on = KernelOn::graph;
  TreeKind tree = TreeKind::rst;
  int num_trees = 31;
  bool zero_is_mistake = true;
  double tolerance = 1e-8;
  int max_iterations = 10000;

  static Fields fields() {
    using Self = OneProjectionOptions;
    return {on_choice(&Self::on),
            tree_choice(&Self::tree, "kind of spanning tree, for on=tree"),
            ProjectionOptions::num_trees_field<Self>(),
            ProjectionOptions::zero_field<Self>(),
            ProjectionOptions::tolerance_field<Self>(),
            ProjectionOptions::max_iterations_field<Self>()};
  }
  operator ProjectionOptions() const {
    return {.on = on,
            .tree = tree,
            .num_trees = num_trees,
            .zero_is_mistake = zero_is_mistake,
            .tolerance = tolerance,
            .max_iterations = max_iterations};
  }
};

struct CyclicProjectionOptions {  // C-proj
  KernelOn on = KernelOn::graph;
  TreeKind tree = TreeKind::rst;
  int num_trees = 31;
  bool zero_is_mistake = true;
  int max_sweeps = 100;
  int max_columns = -1;
  double tolerance = 1e-8;
  int max_iterations = 10000;

  static Fields fields() {
    using Self = CyclicProjectionOptions;
    return {on_choice(&Self::on),
            tree_choice(&Self::tree, "kind of spanning tree, for on=tree"),
            ProjectionOptions::num_trees_field<Self>(),
            ProjectionOptions::zero_field<Self>(),
            ProjectionOptions::max_sweeps_field<Self>(),
            ProjectionOptions::max_columns_field<Self>(),
            ProjectionOptions::tolerance_field<Self>(),
            ProjectionOptions::max_iterations_field<Self>()};
  }
  operator ProjectionOptions() const {
    return {.strategy = ProjectionOptions::Strategy::all,
            .cyclic = true,
            .on = on,
            .tree = tree,
            .num_trees = num_trees,
            .zero_is_mistake = zero_is_mistake,
            .max_sweeps = max_sweeps,
            .max_columns = max_columns,
            .tolerance = tolerance,
            .max_iterations = max_iterations};
  }
};

struct MinNormInterpolationOptions {  // MNI-ag
  double tolerance = 1e-8;
  int max_iterations = 10000;

  static Fields fields() {
    using Self = MinNormInterpolationOptions;
    return {ProjectionOptions::tolerance_field<Self>(), ProjectionOptions::max_iterations_field<Self>()};
  }
  operator ProjectionOptions() const {
    return {.strategy = ProjectionOptions::Strategy::all,
            .aggressive = true,
            .tolerance = tolerance,
            .max_iterations = max_iterations};
  }
};

template <class PresetOptions>
class ProjectionPreset final : public Projection {
 public:
  using Options = PresetOptions;
  ProjectionPreset(const GraphView& graph, const Options& options, const Execution& execution)
      : Projection(graph, options, execution) {}

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution) {
    return Projection::fit(graph, labels, num_classes, options, execution);
  }
  static std::uint64_t bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                             std::size_t num_classes, const Options& options, int threads) {
    return Projection::bytes(num_nodes, num_arcs, weighted, num_classes, options, threads);
  }
  static std::uint64_t online_bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                                    const Options& options, int threads) {
    return Projection::online_bytes(num_nodes, num_arcs, weighted, options, threads);
  }
};
using OneProjection = ProjectionPreset<OneProjectionOptions>;
using CyclicProjection = ProjectionPreset<CyclicProjectionOptions>;
using MinNormInterpolation = ProjectionPreset<MinNormInterpolationOptions>;

}  // namespace copse
