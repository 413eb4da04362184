// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/kernel_ridge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/support/parallel.hpp"
#include "graph/with_ground.hpp"
#include "learners/grounded_solve.hpp"
#include "learners/harmonic_reasons.hpp"
#include "learners/kernel_operator.hpp"
#include "learners/leave_one_out.hpp"
#include "learners/score_table.hpp"
#include "learners/signs.hpp"
#include "trees/parity.hpp"

// With S the labelled nodes and l = ridge + c, the scores off S are those of
//
//   minimize  sum over S of (f_j - y_j)^2 + l f' (L^+ + b 11')^-1 f,   (L^+ + b 11')^-1 = L + 11' / (b n^2),
//
// because c I adds to the ridge and to nothing else. So (M + 11' / (b n^2)) f = y_S / l with M = L + I_S / l:
// the Laplacian of the graph with one more node, grounded, joined to each labelled node by a weight 1 / l;
// and the rank-one term costs one more column (Sherman & Morrison). The dual of Rojas Galeano & Herbster
// needs a Gram matrix and l^3 steps; this takes classes + 1 columns whatever the number of labels, and O(n)
// each on a tree.

namespace copse {
namespace {

/// M x = b on a forest, exactly, in place: eliminate every node into its parent, then go back. What is left
/// of the branch below a node is its conductance to the ground, a chain of series and parallel
/// connections: nothing is subtracted.
void solve_on_forest(const SpanningForest& forest, std::span<const Label> labels, double ground_weight,
                     double unit, std::span<double> values, std::size_t columns) {
  const NodeId n = forest.num_nodes();
  Buffer<double> to_ground(n);
  const auto row = [&](NodeId rank) { return &values[std::size_t{forest.node[rank]} * columns]; };
  for (NodeId rank = n; rank-- > 0;) {
    if (labels[forest.node[rank]] != kNoLabel) to_ground[rank] += ground_weight;
    if (forest.is_root(rank)) continue;
    const NodeId parent = forest.parent[rank];
    const double weight = forest.edge_weight(rank) / unit, share = weight / (weight + to_ground[rank]);
    to_ground[parent] += share * to_ground[rank];
    for (std::size_t c = 0; c < columns; ++c) row(parent)[c] += share * row(rank)[c];
  }
  for (NodeId rank = 0; rank < n; ++rank) {
    const bool is_root = forest.is_root(rank);
    const double weight = is_root ? 0 : forest.edge_weight(rank) / unit, sum = weight + to_ground[rank];
    for (std::size_t c = 0; c < columns; ++c) {
      double& x = row(rank)[c];
      x = sum == 0 ? 0 : (x + (is_root ? 0 : weight * row(forest.parent[rank])[c])) / sum;
    }
  }
}

/// M of the graph, or of one tree after the other.
class RidgeSystem {
 public:
  RidgeSystem(const GraphView& graph, std::span<const Label> labels, const ScoreTable& table,
              const KernelRidgeOptions& options, const Execution& execution)
      : graph_(graph),
        labels_(labels),
        table_(table),
        options_(options),
        execution_(execution),
        mean_weight_(mean_weight(graph, execution.threads)),
        unit_(std::ldexp(1.0, std::ilogb(mean_weight_))) {
    mean_weight_ /= unit_;
    ground_weight_ = static_cast<Weight>(mean_weight_ / (options.ridge + options.diagonal));
  }

  double ground_weight() const { return ground_weight_; }
  /// All weights, that to the ground as well, are divided by this power of two: near the mean weight no
  /// quotient by the ridge leaves the range of float.
  double unit() const { return unit_; }
  /// Of every node, the weight of its edge to the ground, in the unit of the graph's own weights.
  Buffer<double> killing_rates() const {
    Buffer<double> rates(graph_.num_nodes());
    for (const NodeId node : table_.classes.labelled()) rates[node] = ground_weight_ * unit_;
    return rates;
  }

  /// The diagonal at `nodes` of the matrix that takes labels to scores, (M + 11' / (b n^2))^-1 / l.
  std::vector<double> leverages(std::span<const NodeId> nodes) {
    return table_.classes.labelled().size() > kMostLabelsSolved ? sample_leverages(nodes)
                                                                : solve_leverages(nodes);
  }

  /// (M + 11' / (b n^2)) x = b in place, averaged over the trees if there are any; the last column of
  /// `values` is scratch. Returns what there is to say. Without bias: M x = b.
  std::string solve(Buffer<double>& values, std::size_t columns, bool with_bias = true) {
    with_bias_ = with_bias;
    if (options_.kernel.on == KernelOn::graph) return solve_on_graph(values, columns);
    const TreeSampler sampler(graph_, options_.kernel.tree, execution_);
    const std::size_t num_trees = sampler.num_trees(options_.kernel.num_trees);
    // Trees in order: sums of doubles must not depend on who finished first.
    Buffer<double> sum(values.size());
    for (std::size_t tree = 0; tree < num_trees; ++tree) {
      execution_.throw_if_cancelled();
      Buffer<double> part(values.size());
      std::copy(values.begin(), values.end(), part.begin());
      set_ones(part, columns);
      const SpanningForest forest = sampler.tree(tree);
      const TreeParity parity(graph_, forest);
      turn(parity, part, columns);
      solve_on_forest(forest, labels_, ground_weight_, unit_, part.span(), columns);
      correct_for_bias(part, columns);
      turn(parity, part, columns);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i] / static_cast<double>(num_trees);
      execution_.report("trees", tree + 1, num_trees);
    }
    values = std::move(sum);
    return "";
  }

 private:
  std::vector<double> solve_leverages(std::span<const NodeId> nodes) {
    std::vector<double> leverages(nodes.size());
    for_each_panel(nodes, [&](std::span<const NodeId> panel, std::size_t begin) {
      const std::size_t columns = panel.size() + 1;
      Buffer<double> values(std::size_t{graph_.num_nodes()} * columns);
      for (std::size_t i = 0; i < panel.size(); ++i) values[panel[i] * columns + i] = ground_weight_;
      solve(values, columns);
      for (std::size_t i = 0; i < panel.size(); ++i) leverages[begin + i] = values[panel[i] * columns + i];
    });
    return leverages;
  }

  /// M^-1_jj / l is the probability that j is its own root in a forest with killing rates 1 / l at the
  /// labels: the walk is killed at once, or its first step leads to a node whose root is j. What the bias
  /// takes off is z_j^2 / (b n^2 + 1'z) / l with z = M^-1 1.
  std::vector<double> sample_leverages(std::span<const NodeId> nodes) {
    const RootedForests forests(graph_, {}, execution_, killing_rates().span());
    std::vector<double> leverages = root_shares(graph_, forests, nodes, execution_).weight;
    Buffer<double> z(graph_.num_nodes());
    solve(z, 1, false);
    std::vector<double> sums(table_.classes.num_reached());
    const auto index = [&](NodeId node) { return table_.classes.index(table_.components.of_node[node]); };
    for (NodeId node = 0; node < graph_.num_nodes(); ++node)
      if (table_.is_reached(node)) sums[index(node)] += z[node];
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const double killed = ground_weight_ * unit_,
                   size = table_.components.sizes[table_.components.of_node[nodes[i]]];
      leverages[i] = (killed + leverages[i]) / (killed + weighted_degree(graph_, nodes[i]));
      leverages[i] -= ground_weight_ * z[nodes[i]] * z[nodes[i]] /
                      (mean_weight_ * (options_.bias * size * size + sums[index(nodes[i])]));
    }
    return leverages;
  }

  std::string solve_on_graph(Buffer<double>& values, std::size_t columns) {
    set_ones(values, columns);
    Buffer<double> longer(values.size() + columns);
    std::copy(values.begin(), values.end(), longer.begin());
    values = {};
    const NodeId ground = graph_.num_nodes();
    Buffer<double> to_ground = killing_rates();
    const Graph grounded = with_ground(graph_, to_ground.span(), unit_, execution_);
    for (double& weight : to_ground) weight /= unit_;
    const SolveReport report =
        solve_from_constant(grounded, {&ground, 1}, longer.span(), columns, to_ground.span(), table_,
                            options_.kernel.solve, execution_);
    longer.shrink(longer.size() - columns);
    values = std::move(longer);
    correct_for_bias(values, columns);
    return report.note();
  }

  /// Of a signed graph: from what is told to what is seen from the root of a tree, and back. For the currents
  /// of explain(), one column, it does not matter which class they speak for.
  void turn(const TreeParity& parity, Buffer<double>& values, std::size_t columns) const {
    if (!parity.is_signed() || columns != kSignedClasses + 1) return;
    for (NodeId node = 0; node < graph_.num_nodes(); ++node)
      if (parity.is_other_side(node))
        std::swap(values[std::size_t{node} * columns], values[std::size_t{node} * columns + 1]);
  }

  void set_ones(Buffer<double>& values, std::size_t columns) const {
    for (NodeId node = 0; node < graph_.num_nodes(); ++node)
      values[std::size_t{node} * columns + columns - 1] = table_.is_reached(node) ? mean_weight_ : 0;
  }

  /// Sherman-Morrison: x - z (1'x) / (b n^2 + 1'z), in every component by itself, z = M^-1 1.
  void correct_for_bias(Buffer<double>& values, std::size_t columns) const {
    if (!with_bias_) return;
    std::vector<double> sums(table_.classes.num_reached() * columns);
    for (NodeId node = 0; node < graph_.num_nodes(); ++node) {
      if (!table_.is_reached(node)) continue;
      double* sum = &sums[table_.classes.index(table_.components.of_node[node]) * columns];
      for (std::size_t c = 0; c < columns; ++c) sum[c] += values[std::size_t{node} * columns + c];
    }
    for (NodeId node = 0; node < graph_.num_nodes(); ++node) {
      if (!table_.is_reached(node)) continue;
      const NodeId component = table_.components.of_node[node];
      const double* sum = &sums[table_.classes.index(component) * columns];
      const double size = table_.components.sizes[component],
                   z = values[(std::size_t{node} + 1) * columns - 1];
      for (std::size_t c = 0; c + 1 < columns; ++c)
        values[std::size_t{node} * columns + c] -=
            z * sum[c] / (options_.bias * size * size + sum[columns - 1]);
    }
  }

  const GraphView& graph_;
  std::span<const Label> labels_;
  const ScoreTable& table_;
  const KernelRidgeOptions& options_;
  const Execution& execution_;
  double mean_weight_, unit_;
  Weight ground_weight_ = 0;
  bool with_bias_ = true;
};

}  // namespace

KernelRidge::KernelRidge(const GraphView& graph, const Options& options, const Execution& execution)
    : SolvedLearner(graph, execution, options.kernel.solve.tolerance), options_(options) {
  if (options.kernel.on == KernelOn::graph) refuse_signs(graph, "kernel_ridge option on=graph", kUseRegistry);
}

ScoreTable KernelRidge::solve() const {
  ScoreTable table(graph(), labels(), execution().threads);
  const LabelledClasses& classes = table.classes;
  const std::size_t k = classes.count(), columns = k + 1;
  if (k == 0) return table;
  RidgeSystem system(graph(), labels(), table, options_, execution());
  Buffer<double> values(std::size_t{graph().num_nodes()} * columns);
  for (const NodeId node : classes.labelled())
    values[std::size_t{node} * columns + classes.column(labels()[node])] = system.ground_weight();
  if (const std::string note = system.solve(values, columns); !note.empty()) table.notes.push_back(note);
  for (NodeId node = 0; node < graph().num_nodes(); ++node)  // not behind what is still to be read
    std::copy_n(&values[std::size_t{node} * columns], k, &values[std::size_t{node} * k]);
  values.shrink(std::size_t{graph().num_nodes()} * k);
  table.values = std::move(values);
  table.shares_rest = true;  // which the ridge keeps back
  return table;
}

std::vector<Reason> KernelRidge::reasons(NodeId node) const {
  const ScoreTable& known = table();
  if (!known.is_reached(node)) return {};
  // The system is symmetric: one solve gives the weight of every label in this node's scores. The bias term
  // is left out: it pulls all labels alike, and would make some of the shares negative.
  RidgeSystem system(graph(), labels(), known, options_, execution());
  Buffer<double> values(std::size_t{graph().num_nodes()} * 2);
  values[std::size_t{node} * 2] = 1;
  system.solve(values, 2, false);
  return reasons_by_current(graph(), known.classes.labelled(), node,
                            values[std::size_t{node} * 2] / system.unit(),
                            [&](NodeId u) { return system.ground_weight() * values[std::size_t{u} * 2]; });
}

// What ridge regression answers without y_j is y_j - (y_j - f_j) / (1 - H_jj) with f = H y.
std::optional<LeaveOneOut> KernelRidge::leave_one_out(const Execution& execution) const {
  if (options_.kernel.on == KernelOn::tree) return std::nullopt;
  const ScoreTable& known = table();
  if (is_too_sparse(known)) return std::nullopt;
  const std::vector<NodeId> nodes = nodes_left_out(known);
  const std::vector<double> leverages =
      RidgeSystem(graph(), labels(), known, options_, execution).leverages(nodes);
  return leave_out_each(known, num_classes(), nodes, [&](std::size_t i, double* row) {
    const double divisor = std::max(1 - leverages[i], kLeastDivisor);
    row[known.classes.column(labels()[nodes[i]])] = 1;
    for (std::size_t c = 0; c < known.classes.count(); ++c)
      row[c] -= (row[c] - known.row(nodes[i])[c]) / divisor;
  });
}

std::uint64_t KernelRidge::bytes(const ProblemSize& size, const Options& options) {
  const std::uint64_t table = size.num_nodes * (sizeof(Label) + sizeof(NodeId)),
                      columns = size.num_classes + 1;
  if (options.kernel.on ==
      KernelOn::tree)  // right-hand sides, their copy, the mean; a tree and its conductances
    return table + size.num_nodes * (3 * 8 * columns + (size.weighted ? 20 : 16));
  return table + size.num_nodes * (16 + 16 * columns) + size.num_arcs * 8 +
         LaplacianSolver::bytes(size.num_nodes, size.num_arcs, columns, options.kernel.solve);
}

}  // namespace copse
