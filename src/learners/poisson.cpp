// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/poisson.hpp"

#include <algorithm>

#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/support/parallel.hpp"
#include "learners/balanced_offsets.hpp"
#include "learners/score_table.hpp"
#include "learners/signs.hpp"

namespace copse {
namespace {

/// Nodes that the borders of balanced classes are found on: more do not move them visibly.
constexpr std::size_t kBalanceSample = std::size_t{1} << 16;

/// L u = sum over labelled j of delta_j (y_j - mean y), with the mean over the component (Calder et al.
/// 2020, eq. 2.1).
void solve_poisson(const GraphView& graph, std::span<const Label> labels, const SolveOptions& options,
                   const Execution& execution, ScoreTable& table) {
  const LabelledClasses& classes = table.classes;
  const std::size_t k = classes.count();
  table.values = Buffer<double>(std::size_t{graph.num_nodes()} * k);
  for (const NodeId node : classes.labelled()) {
    const NodeId component = table.components.of_node[node];
    double* row = table.row(node);
    for (std::size_t c = 0; c < k; ++c)
      row[c] = -classes.num_labelled(component, c) / classes.num_labelled(component);
    row[classes.column(labels[node])] += 1;
  }
  if (k == 1) return;  // nothing flows
  LaplacianSolver solver(graph, options.expecting(k), execution);
  const SolveReport report = solver.solve(table.values.span(), table.values.span(), k);
  if (const std::string note = report.note(); !note.empty()) table.notes.push_back(note);
}

/// Turns potentials into scores, component by component: class weights first (the paper's s_j, equal to
/// prior over share of the labels), then the distance from the mean over the classes in units of the typical
/// margin, so that scores do not depend on the scale of the weights.
class PoissonScores {
 public:
  PoissonScores(ScoreTable& table, std::span<const Label> labels, const PoissonOptions& options)
      : table_(table),
        labels_(labels),
        prior_(options.prior),
        margin_(table.components.count()),
        num_unlabelled_(table.components.count()),
        offsets_of_(table.components.count(), kNone) {
    for (NodeId node = 0; node < labels.size(); ++node) weigh(node);
    measure();
    if (options.balance) balance();
  }

  void finish(NodeId node) {
    if (!table_.is_reached(node)) return;
    const NodeId component = component_of(node);
    const std::size_t k = table_.classes.count();
    const std::vector<double>* offsets =
        offsets_of_[component] == kNone ? nullptr : &offsets_[offsets_of_[component]];
    double* row = table_.row(node);
    double mean = 0;
    for (std::size_t c = 0; c < k; ++c) {
      if (!table_.classes.occurs(component, c)) continue;
      row[c] = normalized(component, row[c]) + (offsets == nullptr ? 0 : (*offsets)[c]);
      mean += row[c];
    }
    const auto num_occurring = static_cast<double>(table_.classes.num_occurring(component));
    const double even = 1 / num_occurring;
    mean *= even;
    // The typical margin takes a class half the way from an even score to 1.
    for (std::size_t c = 0; c < k; ++c)
      row[c] =
          table_.classes.occurs(component, c) ? std::max(0.0, even + (1 - even) / 2 * (row[c] - mean)) : 0;
  }

 private:
  static constexpr NodeId kNone = kNoNode;

  NodeId component_of(NodeId node) const { return table_.components.of_node[node]; }
  double normalized(NodeId component, double value) const {
    return margin_[component] > 0 ? value / margin_[component] : 0;
  }

  /// Multiplies by the class weights and centres.
  void weigh(NodeId node) {
    if (!table_.is_reached(node)) return;
    const LabelledClasses& classes = table_.classes;
    const NodeId component = component_of(node);
    double* row = table_.row(node);
    double sum = 0;
    for (std::size_t c = 0; c < classes.count(); ++c) {
      if (prior_ == PriorKind::uniform && classes.occurs(component, c))
        row[c] *= classes.num_labelled(component) / classes.num_labelled(component, c);
      sum += row[c];
    }
    const double mean = sum / static_cast<double>(classes.num_occurring(component));
    for (std::size_t c = 0; c < classes.count(); ++c) row[c] -= mean;
  }

  double largest(NodeId node) const {
    const NodeId component = component_of(node);
    const double* row = table_.row(node);
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < table_.classes.count(); ++c)
      if (table_.classes.occurs(component, c)) most = std::max(most, row[c]);
    return most;
  }

  void measure() {
    for (NodeId node = 0; node < labels_.size(); ++node) {
      if (labels_[node] != kNoLabel || !table_.is_reached(node)) continue;
      margin_[component_of(node)] += largest(node);
      ++num_unlabelled_[component_of(node)];
    }
    for (std::size_t c = 0; c < margin_.size(); ++c)
      if (num_unlabelled_[c] > 0) margin_[c] /= num_unlabelled_[c];
  }

  void balance() {
    const std::size_t k = table_.classes.count();
    std::vector<std::vector<double>> samples;
    std::vector<NodeId> components, seen;
    for (NodeId c = 0; c < margin_.size(); ++c) {
      if (!table_.classes.is_reached(c) || num_unlabelled_[c] < kFewestToShift) continue;
      offsets_of_[c] = static_cast<NodeId>(components.size());
      components.push_back(c);
    }
    samples.resize(components.size());
    seen.resize(components.size());
    for (NodeId node = 0; node < labels_.size(); ++node) {
      const NodeId component = component_of(node), index = offsets_of_[component];
      if (index == kNone || labels_[node] != kNoLabel) continue;
      if (seen[index]++ % (num_unlabelled_[component] / kBalanceSample + 1) != 0) continue;
      for (std::size_t c = 0; c < k; ++c)
        samples[index].push_back(normalized(component, table_.row(node)[c]));
    }
    for (std::size_t i = 0; i < components.size(); ++i) {
      offsets_.push_back(balanced_offsets(samples[i], table_.classes.expected_shares(components[i], prior_)));
      samples[i] = {};
    }
  }

  ScoreTable& table_;
  std::span<const Label> labels_;
  PriorKind prior_;
  std::vector<double> margin_;  // by component: mean of the largest over its unlabelled nodes
  std::vector<NodeId> num_unlabelled_;
  std::vector<NodeId> offsets_of_;
  std::vector<std::vector<double>> offsets_;
};

}  // namespace

Poisson::Poisson(const GraphView& graph, const Options& options, const Execution& execution)
    : SolvedLearner(graph, execution), options_(options) {
  refuse_signs(graph, "poisson", kUseRegistry);
}

ScoreTable Poisson::solve() const {
  ScoreTable table(graph(), labels(), execution().threads);
  if (table.classes.count() == 0) return table;
  solve_poisson(graph(), labels(), options_.solve, execution(), table);
  PoissonScores scores(table, labels(), options_);
  parallel_blocks(execution().threads, graph().num_nodes(), std::size_t{1} << 14,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t node = begin; node < end; ++node)
                      scores.finish(static_cast<NodeId>(node));
                  });
  return table;
}

std::vector<Reason> Poisson::reasons(NodeId node) const {
  const ScoreTable& known = table();
  if (!known.is_reached(node)) return {};
  // L^+ is symmetric: its column at `node` holds the influence of every label on it.
  const std::size_t n = graph().num_nodes();
  LaplacianSolver solver(graph(), options_.solve, execution());
  std::vector<double> column(n);
  column[node] = 1;
  solver.solve(column, column);
  std::vector<Reason> reasons;
  double mean = 0, total = 0;
  for (const NodeId u : known.classes.labelled()) {
    if (known.components.of_node[u] != known.components.of_node[node]) continue;
    reasons.push_back({u, labels()[u], column[u], 0});
    mean += column[u];
  }
  mean /= static_cast<double>(reasons.size());
  const bool is_only = reasons.size() == 1;
  for (Reason& reason : reasons) {
    reason.share = is_only ? 1 : std::max(0.0, reason.share - mean);
    total += reason.share;
  }
  if (total == 0) {  // all labels alike from here
    for (Reason& reason : reasons) reason.share = 1;
    total = static_cast<double>(reasons.size());
  }
  for (Reason& reason : reasons) reason.share /= total;
  std::erase_if(reasons, [](const Reason& reason) { return reason.share <= 0; });
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.share > b.share; });
  if (reasons.size() > kMostReasons) reasons.resize(kMostReasons);
  // r(i, j) = L^+_ii + L^+_jj - 2 L^+_ij needs the diagonal at those that are shown.
  const std::size_t columns = reasons.size();
  std::vector<double> potentials(n * columns);
  for (std::size_t i = 0; i < columns; ++i) potentials[reasons[i].node * columns + i] = 1;
  solver.solve(potentials, potentials, columns);
  for (std::size_t i = 0; i < columns; ++i) {
    const NodeId u = reasons[i].node;
    reasons[i].resistance = std::max(0.0, column[node] + potentials[u * columns + i] - 2 * column[u]);
  }
  return reasons;
}

BatchResult Poisson::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                         const Options& options, const Execution& execution) {
  return fit_by_solving<Poisson>(graph, labels, num_classes, options, execution);
}

std::uint64_t Poisson::bytes(const ProblemSize& size, const Options& options) {
  // Labels, components, the table of scores, and the solver at work.
  return size.num_nodes * (sizeof(Label) + sizeof(NodeId) + 8 * size.num_classes) +
         LaplacianSolver::bytes(size.num_nodes, size.num_arcs, size.num_classes, options.solve);
}

}  // namespace copse
