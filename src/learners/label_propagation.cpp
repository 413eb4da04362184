// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/label_propagation.hpp"

#include <cmath>
#include <cstdio>

#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/support/parallel.hpp"
#include "learners/grounded_solve.hpp"
#include "learners/harmonic_reasons.hpp"
#include "learners/leave_one_out.hpp"
#include "learners/score_table.hpp"
#include "learners/signs.hpp"

namespace copse {
namespace {

/// Below this share of the spread of hard labels a harmonic function counts as collapsed.
constexpr double kCollapsed = 0.1;

/// Weight by which each node is joined to labelled ones, 0 for those: what grounds the system.
Buffer<double> weights_to_labels(const GraphView& graph, const ScoreTable& table,
                                 std::span<const Label> labels) {
  Buffer<double> to_ground(graph.num_nodes());
  for (const NodeId node : table.classes.labelled())
    for (EdgeIndex arc = graph.offsets[node]; arc < graph.offsets[node + 1]; ++arc)
      if (labels[graph.neighbors[arc]] == kNoLabel) to_ground[graph.neighbors[arc]] += graph.weight(arc);
  return to_ground;
}

/// The harmonic function of every class but the last, which is what they leave to 1; K columns per row.
void solve_harmonic(const GraphView& graph, std::span<const Label> labels, const SolveOptions& options,
                    const Execution& execution, ScoreTable& table) {
  const LabelledClasses& classes = table.classes;
  const std::size_t k = classes.count(), columns = k - 1;
  table.values = Buffer<double>(std::size_t{graph.num_nodes()} * k);
  if (columns > 0) {
    const std::span<double> solved = table.values.span().first(std::size_t{graph.num_nodes()} * columns);
    for (const NodeId node : classes.labelled()) {
      const std::size_t column = classes.column(labels[node]);
      for (EdgeIndex arc = graph.offsets[node]; arc < graph.offsets[node + 1]; ++arc) {
        const NodeId neighbor = graph.neighbors[arc];
        if (labels[neighbor] == kNoLabel && column < columns)
          solved[std::size_t{neighbor} * columns + column] += graph.weight(arc);
      }
    }
    const Buffer<double> to_ground = weights_to_labels(graph, table, labels);
    const SolveReport report = solve_from_constant(graph, classes.labelled(), solved, columns,
                                                   to_ground.span(), table, options, execution);
    if (const std::string note = report.note(); !note.empty()) table.notes.push_back(note);
  }
  // Widened in place, from the end. Rounding may leave a value a hair outside [0, 1].
  for (NodeId node = graph.num_nodes(); node-- > 0;) {
    const double* narrow = &table.values[std::size_t{node} * columns];
    double* wide = table.row(node);
    double rest = 1;
    for (std::size_t c = columns; c-- > 0;) {
      wide[c] = std::clamp(narrow[c], 0.0, 1.0);
      rest -= wide[c];
    }
    wide[columns] = std::max(rest, 0.0);
  }
  for (const NodeId node : classes.labelled()) {
    std::fill_n(table.row(node), k, 0.0);
    table.row(node)[classes.column(labels[node])] = 1;
  }
}

/// Mean and spread of the harmonic function over the unlabelled nodes of one component.
struct Spread {
  NodeId component = 0;
  std::uint64_t num_nodes = 0;
  std::vector<double> mean;
  // Absolute deviation from the mean, summed over the classes: variance would be that of the few nodes next
  // to a label. And the same for hard labels in those proportions.
  double deviation = 0, of_labels = 0;
  double relative() const { return of_labels > 0 ? deviation / of_labels : 1; }
};

/// Of the components that are large enough.
std::vector<Spread> measure(const GraphView& graph, std::span<const Label> labels, const ScoreTable& table) {
  constexpr NodeId kNone = kNoNode;
  const std::size_t k = table.classes.count();
  std::vector<NodeId> index(table.components.count(), kNone);
  std::vector<Spread> spreads;
  for (NodeId c = 0; c < table.components.count(); ++c) {
    if (!table.classes.is_reached(c) || table.components.sizes[c] < kFewestToShift) continue;
    index[c] = static_cast<NodeId>(spreads.size());
    spreads.push_back({c, 0, std::vector<double>(k), 0, 0});
  }
  const auto for_each_unlabelled = [&](auto&& body) {
    for (NodeId node = 0; node < graph.num_nodes(); ++node) {
      const NodeId at = index[table.components.of_node[node]];
      if (at != kNone && labels[node] == kNoLabel) body(spreads[at], table.row(node));
    }
  };
  for_each_unlabelled([&](Spread& spread, const double* row) {
    ++spread.num_nodes;
    for (std::size_t c = 0; c < k; ++c) spread.mean[c] += row[c];
  });
  for (Spread& spread : spreads) {
    for (double& mean : spread.mean) {
      mean /= static_cast<double>(std::max<std::uint64_t>(spread.num_nodes, 1));
      spread.of_labels += 2 * mean * (1 - mean);
    }
  }
  for_each_unlabelled([&](Spread& spread, const double* row) {
    for (std::size_t c = 0; c < k; ++c) spread.deviation += std::fabs(row[c] - spread.mean[c]);
  });
  for (Spread& spread : spreads)
    spread.deviation /= static_cast<double>(std::max<std::uint64_t>(spread.num_nodes, 1));
  std::erase_if(spreads, [](const Spread& s) { return s.num_nodes < kFewestToShift || s.of_labels == 0; });
  return spreads;
}

std::string collapse_note(const Spread& spread, bool is_shifted) {
  char text[200];
  std::snprintf(text, sizeof text,
                "the harmonic function is nearly constant (it varies by %.1g %% of what labels would): ",
                100 * spread.relative());
  return text + std::string(is_shifted ? "shift=mean tells classes apart all the same"
                                       : "there are too few labels for it, take shift=mean or poisson");
}

}  // namespace

LabelPropagation::LabelPropagation(const GraphView& graph, const Options& options, const Execution& execution)
    : SolvedLearner(graph, execution, options.solve.tolerance), options_(options) {
  refuse_signs(graph, "label_propagation", kUseRegistry);
}

ScoreTable LabelPropagation::solve() const {
  ScoreTable table(graph(), labels(), execution().threads);
  if (table.classes.count() == 0) return table;
  solve_harmonic(graph(), labels(), options_.solve, execution(), table);
  const bool is_shifted = options_.shift == Options::Shift::mean;
  const std::size_t k = table.classes.count();

  std::vector<const Spread*> of_component(table.components.count());
  const std::vector<Spread> spreads = measure(graph(), labels(), table);
  std::vector<std::vector<double>> shares(spreads.size());
  const Spread* largest = nullptr;
  for (const Spread& spread : spreads) {
    of_component[spread.component] = &spread;
    shares[static_cast<std::size_t>(&spread - spreads.data())] =
        table.classes.expected_shares(spread.component, options_.prior);
    if (spread.relative() < kCollapsed && (largest == nullptr || spread.num_nodes > largest->num_nodes))
      largest = &spread;
  }
  if (largest != nullptr) table.notes.push_back(collapse_note(*largest, is_shifted));

  parallel_blocks(execution().threads, graph().num_nodes(), std::size_t{1} << 14,
                  [&](std::size_t begin, std::size_t end, std::size_t) {
                    for (std::size_t node = begin; node < end; ++node) {
                      const Spread* spread = of_component[table.components.of_node[node]];
                      if (spread == nullptr || options_.shift == Options::Shift::none) continue;
                      const auto& expected = shares[static_cast<std::size_t>(spread - spreads.data())];
                      double* row = table.row(static_cast<NodeId>(node));
                      const double stretch = spread->deviation > 0 ? 1 / spread->relative() : 0;
                      for (std::size_t c = 0; c < k; ++c) {
                        if (is_shifted)
                          row[c] = expected[c] + (row[c] - spread->mean[c]) * stretch;
                        else if (spread->mean[c] > 0)  // Zhu et al. 2003, section 4
                          row[c] *= expected[c] / spread->mean[c];
                      }
                    }
                  });
  return table;
}

std::vector<Reason> LabelPropagation::reasons(NodeId node) const {
  if (!table().is_reached(node)) return {};
  return harmonic_reasons(graph(), table().classes.labelled(), node, options_.solve, execution());
}

namespace {

/// As root_shares() for forests rooted at the labels, from the probability at each node that a walk meets
/// `nodes[i]` first.
RootShares solve_root_shares(const GraphView& graph, std::span<const Label> labels, const ScoreTable& table,
                             std::span<const NodeId> nodes, const SolveOptions& options,
                             const Execution& execution) {
  const Buffer<double> to_ground = weights_to_labels(graph, table, labels);
  RootShares shares{std::vector<double>(nodes.size()), std::vector<double>(nodes.size())};
  for_each_panel(nodes, [&](std::span<const NodeId> panel, std::size_t begin) {
    const std::size_t columns = panel.size();
    Buffer<double> values(std::size_t{graph.num_nodes()} * columns);
    const auto for_each_free_neighbor = [&](auto&& body) {  // body(column, weight, value there)
      for (std::size_t i = 0; i < columns; ++i)
        for (EdgeIndex arc = graph.offsets[panel[i]]; arc < graph.offsets[panel[i] + 1]; ++arc)
          if (const NodeId k = graph.neighbors[arc]; labels[k] == kNoLabel)
            body(i, graph.weight(arc), values[std::size_t{k} * columns + i]);
    };
    for_each_free_neighbor([](std::size_t, Weight weight, double& value) { value = weight; });
    solve_from_constant(graph, table.classes.labelled(), values.span(), columns, to_ground.span(), table,
                        options, execution);
    for_each_free_neighbor(
        [&](std::size_t i, Weight weight, double value) { shares.weight[begin + i] += weight * value; });
    for (NodeId node = 0; node < graph.num_nodes(); ++node)
      for (std::size_t i = 0; i < columns && labels[node] == kNoLabel; ++i)
        if (table.components.of_node[node] == table.components.of_node[panel[i]])
          shares.num_nodes[begin + i] += values[std::size_t{node} * columns + i];
  });
  return shares;
}

/// Nodes without a label, by component.
std::vector<double> num_unlabelled(const ScoreTable& table, std::span<const Label> labels) {
  std::vector<double> count(table.components.count());
  for (NodeId node = 0; node < labels.size(); ++node)
    if (labels[node] == kNoLabel) ++count[table.components.of_node[node]];
  return count;
}

}  // namespace

// With S = L_LL - L_LU L_UU^-1 L_UL, the response matrix on the labelled nodes, (S y)_j is the current that
// leaves j at the potentials f, and without the label j is at the potential at which none does: f_j = y_j -
// (S y)_j / S_jj. S_jj is the weight of steps from j that do not come back to j before another label. Shifts
// are affine, so that they may come before or after. But the mean that is shifted is another one without j:
// it falls by (y_j - f_j) times the share of the nodes that j is the root of. Where labels are few, and the
// harmonic function is nearly constant, that is what decides. The stretch is left as it is.
std::optional<LeaveOneOut> LabelPropagation::leave_one_out(const Execution& execution) const {
  const ScoreTable& known = table();
  if (is_too_sparse(known)) return std::nullopt;
  const std::size_t k = known.classes.count();
  const std::vector<NodeId> nodes = nodes_left_out(known), &labelled = known.classes.labelled();
  const RootShares roots =
      labelled.size() > kMostLabelsSolved
          ? root_shares(graph(), RootedForests(graph(), labelled, execution), nodes, execution)
          : solve_root_shares(graph(), labels(), known, nodes, options_.solve, execution);
  const std::vector<double> unlabelled = num_unlabelled(known, labels());
  return leave_out_each(known, num_classes(), nodes, [&](std::size_t i, double* row) {
    const double *own = known.row(nodes[i]), degree = weighted_degree(graph(), nodes[i]);
    const double response = std::max(degree - roots.weight[i], kLeastDivisor * degree);
    for (EdgeIndex arc = graph().offsets[nodes[i]]; arc < graph().offsets[nodes[i] + 1]; ++arc) {
      const double* other = known.row(graph().neighbors[arc]);
      for (std::size_t c = 0; c < k; ++c) row[c] += graph().weight(arc) * (own[c] - other[c]);
    }
    for (std::size_t c = 0; c < k; ++c) row[c] = own[c] - row[c] / response;
    const NodeId component = known.components.of_node[nodes[i]];
    if (options_.shift != Options::Shift::mean || unlabelled[component] < kFewestToShift) return;
    const std::vector<double> with = known.classes.expected_shares(component, options_.prior),
                              without = known.classes.expected_shares(
                                  component, options_.prior, known.classes.column(labels()[nodes[i]]));
    for (std::size_t c = 0; c < k; ++c)
      row[c] += without[c] - with[c] + roots.num_nodes[i] / unlabelled[component] * (own[c] - row[c]);
  });
}

std::uint64_t LabelPropagation::bytes(const ProblemSize& size, const Options& options) {
  // Labels, components, weights to the labels, the table of scores, its copy for a trial, the solver at work.
  return size.num_nodes * (sizeof(Label) + sizeof(NodeId) + 8 + 16 * size.num_classes) +
         LaplacianSolver::bytes(size.num_nodes, size.num_arcs, size.num_classes, options.solve);
}

}  // namespace copse
