// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "copse/laplacian/laplacian_solver.hpp"
#include "learners/machine.hpp"

namespace copse {

/// Projection on all labels at once: the function of least norm that takes +1 and -1 at them, one a class,
/// class against rest. From the projection on fewer labels to that on more is again a projection, so the
/// function is that of least norm among all that meet the labels (Herbster et al. 2005, lemma 3.1), and the
/// way there leaves no trace: it is computed from the labels when it is asked for, in one block of solves. Of
/// a signed graph on its double cover.
class InterpolationMachine final : public Machine {
 public:
  InterpolationMachine(const GraphView& graph, bool is_aggressive, bool zero_is_mistake,
                       const SolveOptions& solve, const Execution& execution);

  void reset() override;
  bool learn(NodeId node, Label label, bool is_aggressive, const ClassPrior& prior) override;
  Margins margins(NodeId node, std::size_t num_classes) const override;
  std::vector<Reason> reasons(NodeId node, Label label) const override;
  std::string note() const override;

 private:
  struct Fit {
    std::vector<Label> classes;  // ascending; of two classes only the first has a column
    std::size_t columns = 0;
    std::vector<double> values;  // by node, then by column
    SolveReport report;
  };
  const Fit& fitted() const;
  Fit solve() const;
  double value(const Fit& fit, std::size_t index, NodeId node) const;
  bool is_wrong(NodeId node, Label label, const ClassPrior& prior) const;

  const GraphView& solved_graph() const { return graph_.is_signed() ? cover_.view() : graph_; }
  /// With their mirror images where there are any.
  std::vector<NodeId> on_both_sides(std::vector<NodeId> nodes) const;

  GraphView graph_;
  Graph cover_;
  bool is_aggressive_, zero_is_mistake_;
  SolveOptions solve_;
  Execution execution_;
  std::map<NodeId, Label> labels_;  // all that were told
  std::map<NodeId, Label> met_;     // those the function meets: all but what was right since the last mistake
  mutable std::mutex mutex_;
  mutable std::atomic<bool> is_ready_ = true;
  mutable Fit fit_;
};

}  // namespace copse
