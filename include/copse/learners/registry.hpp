// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "copse/learners/learner.hpp"
#include "copse/support/options.hpp"

namespace copse {

/// One row per learner. `copse learners`, --help, the docs table and the contract test all read these.
struct LearnerRow : Described {
  bool depends_on_order = false;  // the state is not a function of the set of labels alone
  bool signed_graphs =
      false;  // takes graphs with negative edges, by its defaults (docs/signed.md); others refuse

  /// Online: starts with no label.
  std::function<std::unique_ptr<Learner>(const GraphView& graph, const OptionValues& options,
                                         const Execution& execution)>
      make;
  /// Batch: `labels` has one entry per node, kNoLabel where unknown. A given label is never changed: it is
  /// its node's answer.
  std::function<BatchResult(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                            const OptionValues& options, const Execution& execution)>
      fit;
  /// Bytes that fit() needs beyond the graph itself.
  std::function<std::uint64_t(const ProblemSize& size, const OptionValues& options)> bytes;
  /// The same for make() and the labels revealed to what it makes. A learner that does not say takes as much
  /// as fit() with two classes.
  std::function<std::uint64_t(const ProblemSize& size, const OptionValues& options)> online_bytes;
};

const std::vector<LearnerRow>& learner_rows();

/// The row of that name; UsageError lists the known ones.
const LearnerRow& learner_row(const std::string& name);

}  // namespace copse
