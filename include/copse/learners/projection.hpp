// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/option_blocks.hpp"
#include "copse/learners/sequential_learner.hpp"

namespace copse {

struct ProjectionOptions {
  enum class Strategy { last, all };
  Strategy strategy = Strategy::last;
  bool cyclic = false;
  bool aggressive = false;
  KernelOptions kernel;
  bool zero_is_mistake = true;
  int max_sweeps = 100;
  int max_columns = -1;

  static Fields fields() {
    using Self = ProjectionOptions;
    return joined(
        {{choice("strategy", &Self::strategy, "project on the last label, or on all so far",
                 {{"last", Strategy::last}, {"all", Strategy::all}}),
          field("cyclic", &Self::cyclic,
                "project on one half-space after the other; false: on all values at once"),
          field("aggressive", &Self::aggressive, "learn from every label, not from mistakes only")},
         block(&Self::kernel, KernelOptions::fields()),
         {field("zero_is_mistake", &Self::zero_is_mistake, kZeroIsMistakeHelp),
          field("max_sweeps", &Self::max_sweeps,
                "most sweeps over earlier labels after a new one, for strategy=all with cyclic", at_least(1)),
          field("max_columns", &Self::max_columns,
                "kernel columns kept for these sweeps, 4 bytes per node each; others are solved for again; "
                "-1: what fits 1 GiB",
                at_least(-1))},
         block(&Self::kernel, KernelOptions::fields_of_epochs()),
         block(&Self::kernel, KernelOptions::fields_of_solver())});
  }
};

/// Online projections (Herbster, Pontil & Wainer 2005, algorithm 2) in the space of the kernel L^+: after a
/// mistake the nearest function that meets the label, or all labels. docs/learners/projection.md.
class Projection : public SequentialLearner {
 public:
  static constexpr SignUse kSigns = SignUse::itself;
  using Options = ProjectionOptions;
  Projection(const GraphView& graph, const Options& options, const Execution& execution);

  /// Learns a label that was asked for: as `aggressive` would, whatever the option says (Act-st and Act-mu of
  /// the paper, section 6, footnote 2).
  void reveal_queried(NodeId node, Label label) override { reveal_aggressively(node, label); }

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(const ProblemSize& size, const Options& options);
  static std::uint64_t online_bytes(const ProblemSize& size, const Options& options);
};

// The paper's named instances (its table 1). As learners they are presets of `projection` (registry.cpp).
inline ProjectionOptions one_projection() { return {}; }  // 1-proj
inline ProjectionOptions cyclic_projection() {            // C-proj
  return {.strategy = ProjectionOptions::Strategy::all, .cyclic = true};
}
inline ProjectionOptions min_norm_interpolation() {  // MNI-ag
  return {.strategy = ProjectionOptions::Strategy::all, .aggressive = true};
}

}  // namespace copse
