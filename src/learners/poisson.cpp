// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/poisson.hpp"

#include <algorithm>

#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/laplacian/pseudoinverse.hpp"
#include "learners/balanced_offsets.hpp"
#include "learners/leave_one_out.hpp"
#include "learners/score_table.hpp"
#include "learners/signs.hpp"

namespace copse {
namespace {

/// Nodes that the borders of balanced classes are found on: more do not move them visibly.
constexpr std::size_t kBalanceSample = std::size_t{1} << 16;

/// The current that a label sends into its node: the label less the mean of those of the component.
void set_current(const LabelledClasses& classes, NodeId component, Label label, double* row) {
  for (std::size_t c = 0; c < classes.count(); ++c)
    row[c] = -classes.num_labelled(component, c) / classes.num_labelled(component);
  row[classes.column(label)] += 1;
}

/// L u = sum over labelled j of delta_j (y_j - mean y), with the mean over the component (Calder et al.
/// 2020, eq. 2.1).
void solve_poisson(const GraphView& graph, std::span<const Label> labels, const SolveOptions& options,
                   const Execution& execution, ScoreTable& table) {
  const LabelledClasses& classes = table.classes;
  const std::size_t k = classes.count();
  table.values = Buffer<double>(std::size_t{graph.num_nodes()} * k);
  for (const NodeId node : classes.labelled())
    set_current(classes, table.components.of_node[node], labels[node], table.row(node));
  if (k == 1) return;  // nothing flows
  LaplacianSolver solver(graph, options.expecting(k), execution);
  const SolveReport report = solver.solve(table.values.span(), table.values.span(), k);
  if (const std::string note = report.note(); !note.empty()) table.notes.push_back(note);
}

/// Multiplies potentials by the class weights (the paper's s_j, equal to prior over share of the labels) and
/// takes off their mean over the classes.
void weigh_classes(const LabelledClasses& classes, NodeId component, PriorKind prior, double* row) {
  double sum = 0;
  for (std::size_t c = 0; c < classes.count(); ++c) {
    if (prior == PriorKind::uniform && classes.occurs(component, c))
      row[c] *= classes.num_labelled(component) / classes.num_labelled(component, c);
    sum += row[c];
  }
  const double mean = sum / static_cast<double>(classes.num_occurring(component));
  for (std::size_t c = 0; c < classes.count(); ++c) row[c] -= mean;
}

/// Turns potentials into raw scores, component by component: class weights, and the offsets of balanced
/// classes. Scores have the typical margin as their unit: they do not depend on the scale of the weights.
class PoissonScores {
 public:
  PoissonScores(ScoreTable& table, std::span<const Label> labels, PriorKind prior)
      : table_(table),
        labels_(labels),
        prior_(prior),
        margin_(table.components.count()),
        num_unlabelled_(table.components.count()) {
    for (NodeId node = 0; node < labels.size(); ++node)
      if (table.is_reached(node)) weigh_classes(table.classes, component_of(node), prior_, table.row(node));
    for_each_unlabelled([&](NodeId node, NodeId component) {
      margin_[component] += largest(node);
      ++num_unlabelled_[component];
    });
    for (std::size_t c = 0; c < margin_.size(); ++c)
      if (num_unlabelled_[c] > 0) margin_[c] /= num_unlabelled_[c];
    set_units();
  }

  /// Adds to each class what makes it as large as the prior expects, found on some of the nodes.
  void balance() {
    const std::size_t k = table_.classes.count();
    std::vector<std::vector<double>> samples, offsets;
    std::vector<NodeId> large, index(margin_.size(), kNoNode);
    for (NodeId c = 0; c < margin_.size(); ++c) {
      if (!table_.classes.is_reached(c) || num_unlabelled_[c] < kFewestToShift) continue;
      index[c] = static_cast<NodeId>(large.size());
      large.push_back(c);
    }
    samples.resize(large.size());
    std::vector<NodeId> seen(large.size());
    for_each_unlabelled([&](NodeId node, NodeId component) {
      const NodeId i = index[component];
      if (i == kNoNode || seen[i]++ % (num_unlabelled_[component] / kBalanceSample + 1) != 0) return;
      for (std::size_t c = 0; c < k; ++c) samples[i].push_back(normalized(component, table_.row(node)[c]));
    });
    for (std::size_t i = 0; i < large.size(); ++i) {
      offsets.push_back(balanced_offsets(samples[i], table_.classes.expected_shares(large[i], prior_)));
      samples[i] = {};
      double mean = 0;
      for (std::size_t c = 0; c < k; ++c)
        if (table_.classes.occurs(large[i], c))
          mean += offsets[i][c] / static_cast<double>(table_.classes.num_occurring(large[i]));
      for (std::size_t c = 0; c < k; ++c)
        offsets[i][c] = table_.classes.occurs(large[i], c) ? margin_[large[i]] * (offsets[i][c] - mean) : 0;
    }
    for (NodeId node = 0; node < labels_.size(); ++node)
      if (const NodeId i = index[component_of(node)]; i != kNoNode)
        for (std::size_t c = 0; c < k; ++c) table_.row(node)[c] += offsets[i][c];
  }

 private:
  NodeId component_of(NodeId node) const { return table_.components.of_node[node]; }
  double normalized(NodeId component, double value) const {
    return margin_[component] > 0 ? value / margin_[component] : 0;
  }

  /// body(node, component) where a label reaches the component.
  template <class Body>
  void for_each_unlabelled(Body&& body) const {
    for (NodeId node = 0; node < labels_.size(); ++node)
      if (labels_[node] == kNoLabel && table_.is_reached(node)) body(node, component_of(node));
  }

  double largest(NodeId node) const {
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < table_.classes.count(); ++c)
      if (table_.classes.occurs(component_of(node), c)) most = std::max(most, table_.row(node)[c]);
    return most;
  }

  /// The typical margin takes a class half the way from an even score to 1.
  void set_units() {
    table_.shares_rest = true;
    table_.units.resize(table_.classes.num_reached());
    for (NodeId c = 0; c < margin_.size(); ++c) {
      if (!table_.classes.is_reached(c)) continue;
      const double even = 1 / static_cast<double>(table_.classes.num_occurring(c));
      table_.units[table_.classes.index(c)] = normalized(c, (1 - even) / 2);
    }
  }

  ScoreTable& table_;
  std::span<const Label> labels_;
  PriorKind prior_;
  std::vector<double> margin_;  // by component: mean of the largest over its unlabelled nodes
  std::vector<NodeId> num_unlabelled_;
};

}  // namespace

Poisson::Poisson(const GraphView& graph, const Options& options, const Execution& execution)
    : SolvedLearner(graph, execution, options.solve.tolerance), options_(options) {
  refuse_signs(graph, "poisson", kUseRegistry);
}

ScoreTable Poisson::solve() const {
  ScoreTable table(graph(), labels(), execution().threads);
  if (table.classes.count() == 0) return table;
  solve_poisson(graph(), labels(), options_.solve, execution(), table);
  PoissonScores scores(table, labels(), options_.prior);
  if (options_.balance) scores.balance();
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
    reasons.push_back({u, kNoLabel, column[u], 0});
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
  std::ranges::stable_sort(reasons, std::greater{}, &Reason::share);
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

// With G = L^+ and l labels of mean label m in its component: without its label, node j loses what its own
// current y_j - m gave it, G_jj of it, and the other labels share that current, 1 / (l - 1) of it each.
std::optional<LeaveOneOut> Poisson::leave_one_out(const Execution& execution) const {
  const ScoreTable& known = table();
  const LabelledClasses& classes = known.classes;
  if (classes.labelled().size() > kMostLabelsSolved) return std::nullopt;
  const std::vector<NodeId> nodes = nodes_left_out(known);
  std::vector<double> lost(nodes.size());
  LaplacianSolver solver(graph(), options_.solve, execution);
  for_each_panel(nodes, [&](std::span<const NodeId> panel, std::size_t begin) {
    Buffer<double> columns(std::size_t{graph().num_nodes()} * panel.size());
    pseudoinverse_columns(solver, panel, columns.span());
    for (std::size_t i = 0; i < panel.size(); ++i) {
      const NodeId component = known.components.of_node[panel[i]];
      lost[begin + i] = columns[panel[i] * panel.size() + i];
      for (const NodeId u : classes.labelled())
        if (u != panel[i] && known.components.of_node[u] == component)
          lost[begin + i] -= columns[u * panel.size() + i] / (classes.num_labelled(component) - 1);
    }
  });
  return leave_out_each(known, num_classes(), nodes, [&](std::size_t i, double* row) {
    const NodeId component = known.components.of_node[nodes[i]];
    set_current(classes, component, labels()[nodes[i]], row);
    weigh_classes(classes, component, options_.prior, row);
    for (std::size_t c = 0; c < classes.count(); ++c) row[c] = known.row(nodes[i])[c] - lost[i] * row[c];
  });
}

std::uint64_t Poisson::bytes(const ProblemSize& size, const Options& options) {
  // Labels, components, the table of scores, and the solver at work.
  return size.num_nodes * (sizeof(Label) + sizeof(NodeId) + 8 * size.num_classes) +
         LaplacianSolver::bytes(size.num_nodes, size.num_arcs, size.num_classes, options.solve);
}

}  // namespace copse
