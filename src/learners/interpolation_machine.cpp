// SPDX-License-Identifier: Apache-2.0
#include "learners/interpolation_machine.hpp"

#include "copse/graph/signs.hpp"
#include "copse/laplacian/interpolation.hpp"
#include "learners/cover_learner.hpp"
#include "learners/harmonic_reasons.hpp"

namespace copse {

InterpolationMachine::InterpolationMachine(const GraphView& graph, bool is_aggressive, bool zero_is_mistake,
                                           const SolveOptions& solve, const Execution& execution)
    : graph_(graph),
      cover_(graph.is_signed() ? double_cover(graph, execution.threads) : Graph()),
      is_aggressive_(is_aggressive),
      zero_is_mistake_(zero_is_mistake),
      solve_(solve),
      execution_(execution) {}

void InterpolationMachine::reset() {
  labels_.clear();
  met_.clear();
  fit_ = {};
  is_ready_ = true;
}

InterpolationMachine::Fit InterpolationMachine::solve() const {
  Fit fit;
  std::vector<NodeId> nodes;
  for (const auto& [node, label] : met_) {
    nodes.push_back(node);
    fit.classes.push_back(label);
  }
  std::ranges::sort(fit.classes);
  fit.classes.erase(std::unique(fit.classes.begin(), fit.classes.end()), fit.classes.end());
  if (graph_.is_signed()) fit.classes = {0, 1};
  fit.columns = fit.classes.size() == 2 ? 1 : fit.classes.size();
  std::vector<double> values;
  for (const auto& entry : met_)
    for (std::size_t c = 0; c < fit.columns; ++c) values.push_back(entry.second == fit.classes[c] ? 1 : -1);
  if (graph_.is_signed())
    for (std::size_t i = 0, count = values.size(); i < count; ++i) values.push_back(-values[i]);
  Interpolation solved = minimum_norm_interpolation(solved_graph(), on_both_sides(std::move(nodes)), values,
                                                    solve_, execution_, fit.columns);
  fit.values = std::move(solved.value);
  fit.report = solved.report;
  return fit;
}

std::vector<NodeId> InterpolationMachine::on_both_sides(std::vector<NodeId> nodes) const {
  if (graph_.is_signed())
    for (std::size_t i = 0, count = nodes.size(); i < count; ++i)
      nodes.push_back(graph_.num_nodes() + nodes[i]);
  return nodes;
}

const InterpolationMachine::Fit& InterpolationMachine::fitted() const {
  if (!is_ready_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    if (!is_ready_.load(std::memory_order_relaxed)) {
      fit_ = solve();
      is_ready_.store(true, std::memory_order_release);
    }
  }
  return fit_;
}

double InterpolationMachine::value(const Fit& fit, std::size_t index, NodeId node) const {
  const bool is_mirrored = index >= fit.columns;
  const double value = fit.values[node * fit.columns + (is_mirrored ? 0 : index)];
  return is_mirrored ? -value : value;
}

bool InterpolationMachine::is_wrong(NodeId node, Label label, const ClassPrior& prior) const {
  const Fit& fit = fitted();
  if (!std::ranges::binary_search(fit.classes, label)) return true;
  for (std::size_t c = 0; c < fit.classes.size(); ++c) {
    const double y = fit.classes[c] == label ? 1 : -1, f = value(fit, c, node);
    if (std::fabs(f) > kZeroMargin) {
      if (y * f < 0) return true;
      continue;
    }
    if (zero_is_mistake_) return true;
    const std::uint64_t own = prior.count(fit.classes[c]), rest = prior.total() - own;
    if ((own != rest ? own > rest : c == 0) != (y > 0)) return true;
  }
  return false;
}

bool InterpolationMachine::learn(NodeId node, Label label, bool is_aggressive, const ClassPrior& prior) {
  const bool is_change = is_aggressive_ || is_aggressive || is_wrong(node, label, prior);
  labels_[node] = label;
  if (!is_change) return false;
  met_ = labels_;
  is_ready_ = false;
  return true;
}

Margins InterpolationMachine::margins(NodeId node, std::size_t num_classes) const {
  const Fit& fit = fitted();
  Margins margins;
  margins.of_class.assign(num_classes, -std::numeric_limits<double>::infinity());
  for (std::size_t c = 0; c < fit.classes.size(); ++c)
    if (fit.classes[c] < num_classes) margins.of_class[fit.classes[c]] = value(fit, c, node);
  margins.zero = kZeroMargin;
  return margins;
}

std::vector<Reason> InterpolationMachine::reasons(NodeId node, Label) const {
  std::vector<NodeId> nodes;
  for (const auto& entry : met_)
    if (entry.first != node) nodes.push_back(entry.first);
  std::vector<Reason> reasons =
      harmonic_reasons(solved_graph(), on_both_sides(std::move(nodes)), node, solve_, execution_);
  return graph_.is_signed() ? fold_reasons(reasons, graph_.num_nodes()) : reasons;
}

std::string InterpolationMachine::note() const { return fitted().report.note(); }

}  // namespace copse
