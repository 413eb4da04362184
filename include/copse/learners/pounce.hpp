// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "copse/learners/option_blocks.hpp"
#include "copse/learners/sequential_learner.hpp"

namespace copse {

struct PounceOptions {
  KernelOptions kernel;
  bool zero_is_mistake = true;
  int max_columns = -1;

  static Fields fields() {
    using Self = PounceOptions;
    return joined(
        {block(&Self::kernel, KernelOptions::fields()),
         {field("zero_is_mistake", &Self::zero_is_mistake, kZeroIsMistakeHelp),
          field("max_columns", &Self::max_columns,
                "stored examples whose kernel column is kept, 4 bytes per node each; with more of them an "
                "answer takes a solve; -1: what fits 1 GiB",
                at_least(-1))},
         block(&Self::kernel, KernelOptions::fields_of_epochs()),
         block(&Self::kernel, KernelOptions::fields_of_solver())});
  }
};

/// Pounce (Herbster 2008): the label of the nearest stored example in effective resistance, plus what a
/// function w that is corrected by mistakes says about the difference of the two nodes. Mistakes are stored.
/// docs/learners/pounce.md.
class Pounce final : public SequentialLearner {
 public:
  static constexpr SignUse kSigns = SignUse::itself;
  using Options = PounceOptions;
  Pounce(const GraphView& graph, const Options& options, const Execution& execution);

  static BatchResult fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution);
  static std::uint64_t bytes(const ProblemSize& size, const Options& options);
  static std::uint64_t online_bytes(const ProblemSize& size, const Options& options);
};

}  // namespace copse
