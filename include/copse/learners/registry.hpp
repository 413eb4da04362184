// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "copse/learners/learner.hpp"
#include "copse/learners/options.hpp"

namespace copse {

/// One row a learner. `copse learners`, --help, the docs table and the contract test all read these.
struct LearnerRow {
  std::string name;  // as users type it
  std::string idea;  // one line
  std::string cost;  // time and memory
  std::string paper;
  bool depends_on_order = false;  // the state is not a function of the set of labels alone
  bool signed_graphs =
      false;  // takes graphs with negative edges, by its defaults (docs/signed.md); others refuse
  std::vector<OptionInfo> options;

  /// Online: starts with no label.
  std::unique_ptr<Learner> (*make)(const GraphView& graph, const OptionValues& options,
                                   const Execution& execution);
  /// Batch: `labels` has one entry a node, kNoLabel where unknown. A given label is never changed: it is
  /// its node's answer.
  BatchResult (*fit)(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                     const OptionValues& options, const Execution& execution);
  /// Bytes that fit() needs beyond the graph itself.
  std::uint64_t (*bytes)(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                         std::size_t num_classes, const OptionValues& options, int threads);
  /// The same for make() and the labels revealed to what it makes. A learner that does not say takes as much
  /// as fit().
  std::uint64_t (*online_bytes)(std::uint64_t num_nodes, std::uint64_t num_arcs, bool weighted,
                                const OptionValues& options, int threads);
};

const std::vector<LearnerRow>& learner_rows();

/// The row of that name; UsageError lists the known ones.
const LearnerRow& learner_row(const std::string& name);

}  // namespace copse
