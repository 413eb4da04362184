// SPDX-License-Identifier: Apache-2.0
#include "papers/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <set>

#include "copse/graph/components.hpp"
#include "copse/graph/signs.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/learners/registry.hpp"
#include "copse/support/parallel.hpp"
#include "copse/trees/line.hpp"
#include "copse/trees/sample.hpp"
#include "laplacian/algebraic_connectivity.hpp"
#include "laplacian/interpolation.hpp"
#include "learners/kernel_operator.hpp"
#include "papers/report.hpp"
#include "papers/tree_cut.hpp"

namespace copse {
namespace {

constexpr double kNothing = std::numeric_limits<double>::infinity();

template <class... Args>
std::string text(const char* format, Args... args) {
  char buffer[600];
  std::snprintf(buffer, sizeof buffer, format, args...);
  return buffer;
}

void check_labels(std::size_t num_labelled) {
  if (num_labelled < 2)
    throw UsageError{"bounds", "there is no game with fewer than two labels", "label some nodes first"};
}

void check_connected(const Components& components) {
  if (components.count() > 1)
    throw UsageError{"bounds", "the graph is not connected", "take its largest component"};
}

/// Labels +1 and -1 of all nodes.
struct Signs {
  std::vector<double> y;
  double cut_weight = 0, balance = 0;
};

/// u' L u: the sum over the edges of weight times squared difference.
double squared_norm(const GraphView& graph, std::span<const double> u) {
  double sum = 0;
  for_each_edge(graph, [&](NodeId a, NodeId b, EdgeIndex arc) {
    sum += graph.weight(arc) * (u[a] - u[b]) * (u[a] - u[b]);
  });
  return sum;
}

Signs measured(const GraphView& graph, std::vector<double> y) {
  double sum = 0;
  for (const double sign : y) sum += sign;
  const double mean_sign = sum / static_cast<double>(y.size()), cut_weight = squared_norm(graph, y) / 4;
  return {std::move(y), cut_weight, mean_sign * mean_sign};
}

/// A labelling near `signs` that cuts less: nodes whose neighbours outvote them change sides, in turn, a few
/// times over. Eq. 15 pays 4/c for each instead of the weight that they cut.
Signs smoother(const GraphView& graph, std::vector<double> y) {
  bool has_changed = true;
  for (int sweep = 0; sweep < 5 && has_changed; ++sweep) {
    has_changed = false;
    for (NodeId u = 0; u < graph.num_nodes(); ++u) {
      double pull = 0;
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
        pull += graph.weight(arc) * y[graph.neighbors[arc]];
      if (pull * y[u] >= 0) continue;
      y[u] = -y[u];
      has_changed = true;
    }
  }
  return measured(graph, std::move(y));
}

/// Unknown labels as the harmonic function has them.
std::vector<Label> completed_labels(const GraphView& graph, std::span<const Label> labels,
                                    std::size_t num_classes, const Execution& execution) {
  std::vector<Label> completed(labels.begin(), labels.end());
  if (std::ranges::find(labels, kNoLabel) == labels.end()) return completed;
  const BatchResult found = learner_row("label_propagation").fit(graph, labels, num_classes, {}, execution);
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    if (completed[u] == kNoLabel) completed[u] = found.predictor->predict(u).label;
  return completed;
}

/// Edges whose ends are not as their sign says. Returns the weight of all edges.
double count_cut(const GraphView& graph, std::span<const Label> labels, LabellingFacts& facts) {
  double total = 0;
  for_each_edge(graph, [&](NodeId u, NodeId v, EdgeIndex arc) {
    const double w = graph.weight(arc);
    total += w;
    if ((labels[u] != labels[v]) == graph.is_negative(arc)) return;
    ++facts.cut_size;
    facts.cut_weight += w;
    facts.largest_cut_weight = std::max(facts.largest_cut_weight, w);
  });
  return total;
}

/// One yes/no question: a class against the rest.
struct Question {
  Signs signs;  // completed
  double num_yes = 0, energy = 0, interpolant_norm = 0;
  double minority(double n) const { return std::min(num_yes, n - num_yes); }
};

/// The gathering of the figures; mistake_bounds() puts them into the formulas.
class Gatherer {
 public:
  Gatherer(const GraphView& whole, std::span<const Label> labels, const BoundOptions& options,
           const Execution& execution)
      : graph(whole), labels_(labels), options_(options), execution_(execution), n_(whole.num_nodes()) {
    check();
    count_classes();
    draw_trees();
    ask_questions();
    measure_resistances();
  }

  GraphView graph;
  BoundReport report;
  LabellingFacts& facts = report.facts;
  std::vector<Question> questions;  // one for two classes
  std::vector<double>& diagonal = report.diagonal;
  double mean_weight = 1;
  double mean_tree_bound = 0, mean_line_bound = 0, mean_robust_bound = 0;
  double smoothed_tree_cut = 0;   // mean of Phi~ over random trees
  double smoothed_graph_cut = 0;  // Phi~ of the graph: the least found of E[Phi_T(y')] + flips
  std::vector<Label> completed;

 private:
  void check() {
    if (labels_.size() != n_)
      throw UsageError{"bounds", with_commas(labels_.size()) + " labels for " + with_commas(n_) + " nodes",
                       "give one label per node, kNoLabel where it is unknown"};
    for (NodeId u = 0; u < n_; ++u) {
      if (labels_[u] == kNoLabel) continue;
      labelled_.push_back(u);
      facts.num_classes = std::max<std::uint64_t>(facts.num_classes, std::uint64_t{labels_[u]} + 1);
    }
    check_labels(labelled_.size());
    check_connected(connected_components(graph, execution_));
    facts.num_nodes = n_;
    facts.num_edges = graph.num_edges();
    facts.num_labelled = labelled_.size();
  }

  void count_classes() {
    completed = completed_labels(graph, labels_, facts.num_classes, execution_);
    if (labelled_.size() < n_)
      report.notes.push_back(
          with_commas(n_ - labelled_.size()) +
          " nodes without a label are completed by label_propagation where a theorem speaks of all nodes");
    const double total = count_cut(graph, completed, facts);
    mean_weight = facts.num_edges > 0 ? total / static_cast<double>(facts.num_edges) : 1;
    std::vector<double> count(facts.num_classes);
    for (const Label label : completed) count[label] += 1;
    double same = 0;
    for (const double c : count) same += c * (c - 1);
    facts.shuffled_cut = n_ > 1 ? (n_ - 1.0) * (1 - same / (static_cast<double>(n_) * (n_ - 1.0))) : 0;
  }

  CutEdges cut_of_tree(const SpanningForest& forest) const {
    CutEdges edges;
    for (NodeId rank = 1; rank < forest.num_nodes(); ++rank)
      edges.add(forest.edge_weight(rank),
                completed[forest.node[rank]] != completed[forest.node[forest.parent[rank]]]);
    return edges;
  }
  CutEdges cut_of_line(const Line& line) const {
    CutEdges edges;
    for (NodeId i = 1; i < line.num_nodes(); ++i)
      edges.add(line.weight.empty() ? 1.0 : double{line.weight[i]},
                completed[line.node[i]] != completed[line.node[i - 1]]);
    return edges;
  }

  void draw_trees() {
    const TreeSampler sampler(graph, TreeKind::rst, execution_);
    const auto count = static_cast<std::size_t>(std::max(options_.num_trees, 2));
    std::vector<double> cut(count), resistance(count), tree(count), line(count), robust(count),
        smoothed(count);
    parallel_for(execution_, count, [&](std::size_t t) {
      SpanningForest forest = sampler.tree(t);
      const CutEdges edges = cut_of_tree(forest);
      cut[t] = edges.cut_size;
      for (const double r : edges.uncut_resistances) resistance[t] += r;
      tree[t] = tree_bound(edges);
      const auto [smoothed_cut, smoothed_weight] = smoothed_tree(forest, edges);
      smoothed[t] = smoothed_cut;
      robust[t] = robust_tree_bound(edges, smoothed_cut, smoothed_weight);
      line[t] = line_bound(cut_of_line(random_line(std::move(forest), execution_.seed, t)));
    });
    facts.expected_cut = mean(cut);
    facts.expected_cut_error = standard_error(cut);
    facts.expected_resistance = mean(resistance);
    mean_tree_bound = mean(tree);
    mean_line_bound = mean(line);
    mean_robust_bound = mean(robust);
    smoothed_tree_cut = mean(smoothed);
    const std::optional<TreeEdges> exact = TreeEdges::exact(graph, execution_);
    facts.is_exact = exact.has_value();
    smoothed_graph_cut = facts.expected_cut;
    if (!exact) return;
    facts.expected_cut = facts.expected_resistance = facts.expected_cut_error = 0;
    exact->for_each([&](NodeId u, NodeId v, EdgeIndex arc, double probability) {
      if (completed[u] != completed[v])
        facts.expected_cut += probability;
      else
        facts.expected_resistance += probability / graph.weight(arc);
    });
    smoothed_graph_cut = facts.expected_cut;
    if (facts.num_classes != 2) return;
    std::vector<double> y(n_);
    for (NodeId u = 0; u < n_; ++u) y[u] = completed[u] == 0 ? 1 : -1;
    const Signs other = smoother(graph, y);
    double cut_of_other = 0;
    for (NodeId u = 0; u < n_; ++u) cut_of_other += other.y[u] != y[u] ? 1 : 0;
    exact->for_each([&](NodeId u, NodeId v, EdgeIndex, double probability) {
      cut_of_other += other.y[u] != other.y[v] ? probability : 0;
    });
    smoothed_graph_cut = std::min(facts.expected_cut, cut_of_other);
  }

  /// min over y' of Phi_T(y') + flips, from the leaves up, and for that y' its weight and that of the
  /// heaviest edges, one a flip: Phi~ and Phi~^W, the latter not more than Phi^W itself.
  std::pair<double, double> smoothed_tree(const SpanningForest& forest, const CutEdges& edges) const {
    const auto classes = static_cast<std::size_t>(facts.num_classes);
    std::vector<double> cost(std::size_t{n_} * classes);  // by rank and class, of the subtree
    const auto best_of = [&](NodeId rank) {
      const auto row = cost.begin() + static_cast<std::ptrdiff_t>(rank * classes);
      return static_cast<std::size_t>(std::min_element(row, row + static_cast<std::ptrdiff_t>(classes)) -
                                      row);
    };
    for (NodeId rank = n_; rank-- > 0;) {
      for (std::size_t c = 0; c < classes; ++c)
        cost[rank * classes + c] += completed[forest.node[rank]] == c ? 0 : 1;
      if (rank == 0) break;
      const double least = cost[rank * classes + best_of(rank)];
      for (std::size_t c = 0; c < classes; ++c)
        cost[forest.parent[rank] * classes + c] += std::min(cost[rank * classes + c], least + 1);
    }
    std::vector<std::size_t> chosen(n_);
    std::vector<double> weights;
    double flips = 0, weight = 0;
    for (NodeId rank = 0; rank < n_; ++rank) {
      chosen[rank] = best_of(rank);
      if (rank > 0) {
        const std::size_t above = chosen[forest.parent[rank]];
        const double* row = &cost[rank * classes];
        if (row[above] <= row[chosen[rank]] + 1) chosen[rank] = above;
        weights.push_back(forest.edge_weight(rank));
        weight += chosen[rank] != above ? weights.back() : 0;
      }
      flips += chosen[rank] != completed[forest.node[rank]] ? 1 : 0;
    }
    std::sort(weights.rbegin(), weights.rend());
    for (std::size_t i = 0; i < static_cast<std::size_t>(flips) && i < weights.size(); ++i)
      weight += weights[i];
    return {cost[best_of(0)], std::min(weight, edges.cut_weight)};
  }

  /// The voltages when the labelled nodes are held at +1 and -1.
  double harmonic_energy(const std::vector<double>& y) const {
    if (labelled_.size() == n_) return squared_norm(graph, y);
    std::vector<double> x(n_);
    for (const NodeId u : labelled_)
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
        x[graph.neighbors[arc]] += graph.weight(arc) * y[u];
    LaplacianSolver(graph, SolveOptions{}, execution_, labelled_).solve(x, x);
    for (const NodeId u : labelled_) x[u] = y[u];
    return squared_norm(graph, x);
  }

  double interpolant_norm(const Question& question) const {
    if (labelled_.size() == n_)
      return 2 * question.num_yes == n_ ? question.energy : kNothing;  // nothing is left to make the sum 0
    std::vector<double> values;
    for (const NodeId u : labelled_) values.push_back(question.signs.y[u]);
    const Interpolation found =
        minimum_norm_interpolation(graph, labelled_, values, SolveOptions{}, execution_);
    return squared_norm(graph, found.value);
  }

  void ask_questions() {
    const auto num_questions = static_cast<Label>(facts.num_classes == 2 ? 1 : facts.num_classes);
    for (Label c = 0; c < num_questions; ++c) {
      execution_.throw_if_cancelled();
      Question question;
      std::vector<double> y(n_);
      for (NodeId u = 0; u < n_; ++u) {
        y[u] = completed[u] == c ? 1 : -1;
        question.num_yes += completed[u] == c ? 1 : 0;
      }
      // A class that only other components have. Where there is but one question it is asked even so: all say
      // no.
      if (question.num_yes == 0 && num_questions > 1) continue;
      question.signs = measured(graph, std::move(y));
      question.energy = harmonic_energy(question.signs.y);
      question.interpolant_norm = interpolant_norm(question);
      facts.balance = std::max(facts.balance, question.signs.balance);
      facts.squared_norm += 4 * question.signs.cut_weight;
      facts.energy += question.energy;
      facts.interpolant_norm += question.interpolant_norm;
      questions.push_back(std::move(question));
    }
  }

  void measure_resistances() {
    ResistanceDiameter found = resistance_diameter(graph, SolveOptions{}, execution_);
    facts.resistance_diameter = {found.lower, found.upper};
    facts.geodesic_diameter = geodesic_diameter(graph, execution_);
    if (n_ <= TreeEdges::kDenseNodes) {
      const std::vector<double> k = dense_pseudoinverse(graph, TreeEdges::kDenseNodes);
      for (const NodeId u : labelled_) diagonal.push_back(k[std::size_t{u} * n_ + u]);
      cover(
          [&](NodeId center, std::vector<double>& r) {
            for (std::size_t i = 0; i < labelled_.size(); ++i)
              r[i] = k[std::size_t{center} * n_ + center] + diagonal[i] -
                     2 * k[std::size_t{center} * n_ + labelled_[i]];
          },
          options_.max_cover);
      separate(labelled_, [&](NodeId u) { return std::span(k).subspan(std::size_t{u} * n_, n_); });
    } else {
      TreeEstimateOptions wanted;
      wanted.max_trees = 200;
      const RootResistances estimate = tree_diagonal(graph, wanted, execution_);
      for (const NodeId u : labelled_) diagonal.push_back(estimate.value[u] + estimate.error[u]);
      report.notes.push_back("figures of K_ii hold together with confidence 0.95");
      LaplacianSolver solver(graph, SolveOptions{}.expecting(kManySolves), execution_);
      std::vector<double> column(n_);
      const auto solve_for = [&](NodeId node) {
        execution_.throw_if_cancelled();
        std::fill(column.begin(), column.end(), 0.0);
        column[node] = 1;
        solver.solve(column, column);
        return std::span<const double>(column);
      };
      cover(
          [&](NodeId center, std::vector<double>& r) {
            solve_for(center);
            for (std::size_t i = 0; i < labelled_.size(); ++i)
              r[i] = labelled_[i] == center ? 0 : column[center] + diagonal[i] - 2 * column[labelled_[i]];
          },
          std::min(kManySolves, options_.max_cover));
      separate(nodes_to_separate(), solve_for);
    }
    facts.algebraic_connectivity = algebraic_connectivity(graph, SolveOptions{}, execution_);
    double largest_degree = 0;  // no effective resistance is below its inverse
    for (NodeId u = 0; u < n_; ++u) largest_degree = std::max(largest_degree, weighted_degree(graph, u));
    facts.connectivity_ratio = facts.resistance_diameter.upper * largest_degree;
    for (double& k : diagonal) k = std::min(k, facts.geodesic_diameter.upper);  // theorem 4.2
    facts.largest_diagonal = *std::max_element(diagonal.begin(), diagonal.end());
  }

  /// All labelled nodes, or as many as may be solved for: half of them ends of edges between labels, which
  /// tell how near labels differ.
  std::vector<NodeId> nodes_to_separate() const {
    constexpr double kMostArcs = 3e7;  // that all solves together go over, per iteration
    const auto most =
        static_cast<std::size_t>(std::clamp(kMostArcs / static_cast<double>(graph.num_arcs()),
                                            double{kManySolves}, double{TreeEdges::kDenseNodes}));
    if (labelled_.size() <= most) return labelled_;
    std::vector<NodeId> nodes;
    for (const NodeId u : labelled_)
      for (const NodeId v : graph.neighbors_of(u))
        if (nodes.size() < most / 2 && labels_[v] != kNoLabel && labels_[v] != labels_[u])
          nodes.insert(nodes.end(), {u, v});
    for (std::size_t i = 0; i < most / 2; ++i) nodes.push_back(labelled_[i * labelled_.size() / (most / 2)]);
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  template <class Column>  // column(u): L^+ e_u, until the next is asked for
  void separate(const std::vector<NodeId>& nodes, Column&& column) {
    const std::size_t count = nodes.size();
    std::vector<double> k, r(count * count);
    std::vector<Label> labels;
    for (const NodeId u : nodes) {
      labels.push_back(labels_[u]);
      const std::span<const double> of_u = column(u);
      for (const NodeId v : nodes) k.push_back(of_u[v]);
    }
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j)
        r[i * count + j] = k[i * count + i] + k[j * count + j] - 2 * k[i * count + j];
    facts.separating = separating_cover(r, labels);
    if (count == labelled_.size()) return;
    // Sets that cover all nodes cover these, and what separates all labels separates these: N° is not below
    // theirs. Every set has one label, and one node each are sets enough.
    std::set<Label> classes;
    for (const NodeId u : labelled_) classes.insert(labels_[u]);
    facts.separating.least_components = classes.size();
    facts.separating.most_components = facts.separating.most_sets = labelled_.size();
    report.notes.push_back(text("separating covers: from below by %s of the labelled nodes, a solve each",
                                with_commas(count).c_str()));
  }

  /// Farthest-first: around m places, every node within s of one of them, and resistance is a metric, so that
  /// m sets have diameter 2 s at most. One set has R_G.
  template <class ResistancesFrom>
  void cover(ResistancesFrom&& resistances_from, std::size_t most) {
    std::vector<double> nearest(labelled_.size(), kNothing), r(labelled_.size());
    NodeId center = labelled_[0];
    for (std::size_t m = 1; m <= std::min(most, labelled_.size()); ++m) {
      execution_.throw_if_cancelled();
      resistances_from(center, r);
      std::size_t farthest = 0;
      for (std::size_t i = 0; i < r.size(); ++i) {
        nearest[i] = std::min(nearest[i], std::max(0.0, r[i]));
        if (nearest[i] > nearest[farthest]) farthest = i;
      }
      facts.cover_diameters.push_back(std::min(2 * nearest[farthest], facts.resistance_diameter.upper));
      center = labelled_[farthest];
    }
  }

  std::span<const Label> labels_;
  BoundOptions options_;
  Execution execution_;
  NodeId n_;
  std::vector<NodeId> labelled_;
};

void add(BoundReport& report, std::string name, std::string source, std::string learner, double value,
         std::string made_of, bool in_expectation = false) {
  report.bounds.push_back({.name = std::move(name),
                           .source = std::move(source),
                           .learner = std::move(learner),
                           .value = value,
                           .in_expectation = in_expectation,
                           .made_of = std::move(made_of)});
}

/// The papers' players know from the start that labels are +1 and -1. Ours cannot name a class before its
/// first label: one mistake more for each but the first.
double unnamed_classes(const Gatherer& g) {
  double count = 0;
  std::vector<bool> occurs(g.facts.num_classes);
  for (const Label label : g.completed) {
    count += occurs[label] ? 0 : 1;
    occurs[label] = true;
  }
  return count - 1;
}

void add_perceptron(Gatherer& g) {
  const double unnamed = unnamed_classes(g);
  // The learner scales weights to mean 1.
  const double s = g.mean_weight, r = g.facts.resistance_diameter.upper * s;
  const double k = g.facts.largest_diagonal * s;
  double by_diameter = 0, by_diagonal = 0, by_voltages = 0;
  const Interval& diameter = g.facts.resistance_diameter;
  for (const Question& q : g.questions) {
    by_voltages += (q.energy + 1 / diameter.lower) * (diameter.upper + diameter.lower);  // b = R_G
    const double norm = 4 * q.signs.cut_weight / s + q.signs.balance;
    by_diameter += perceptron_bound(norm * (r + 1));
    by_diagonal += perceptron_bound(norm * (k + 1));
  }
  const std::string hp = "Herbster & Pontil 2006, ";
  add(g.report, "perceptron, diameter", hp + "eq. 16", "graph_perceptron:bias=1", by_diameter + unnamed,
      text("(4 Phi^W + beta)(R_G + 1), Phi^W = %.4g, beta = %.3g, R_G = %.4g", g.facts.squared_norm / 4 / s,
           g.facts.balance, r));
  add(g.report, "perceptron, norms", hp + "eq. 5", "graph_perceptron:bias=1", by_diagonal + unnamed,
      text("(4 Phi^W + beta) max (K_ii + 1), K_ii <= %.4g", k));
  add(g.report, "perceptron, voltages", "Herbster 2008", "graph_perceptron:bias=resistance_diameter",
      by_voltages + unnamed,
      text("2 ||u*||^2 R_G + 2, ||u*||^2 = %.4g, R_G = %.4g", g.facts.energy, diameter.upper));
  if (g.questions.size() > 1) return;
  const Signs& signs = g.questions[0].signs;
  BestKernel best = best_kernel(signs.cut_weight / s, signs.balance, 0, r);
  const Signs other = smoother(g.graph, signs.y);
  double flips = 0;
  for (std::size_t u = 0; u < signs.y.size(); ++u) flips += other.y[u] != signs.y[u] ? 1 : 0;
  const BestKernel with_flips = best_kernel(other.cut_weight / s, other.balance, flips, r);
  if (with_flips.z < best.z && std::isfinite(with_flips.b))
    best = with_flips;
  else
    flips = 0;
  if (!std::isfinite(best.b) || best.b <= 0) return;
  add(g.report, "perceptron, best kernel", hp + "eq. 15",
      text("graph_perceptron:bias=%.6g:diagonal=%.6g", best.b, best.c), best.z + unnamed,
      text("Z at b = %.3g, c = %.3g; %g labels counted as noise", best.b, best.c, flips));
}

void add_projection(Gatherer& g) {
  const double unnamed = unnamed_classes(g);
  const auto n = static_cast<double>(g.facts.num_nodes);
  // Theorem 4.2 speaks of all nodes. lambda_2 is known from above: no K_ii that is known may exceed its
  // inverse.
  const double inverse_connectivity = std::max(1 / g.facts.algebraic_connectivity, g.facts.largest_diagonal);
  const double every_diagonal = std::min(g.facts.geodesic_diameter.upper, inverse_connectivity);
  double affine = 0, cyclic = 0, diameter = 0;
  for (const Question& q : g.questions) {
    const double few = q.minority(n);
    const double partition = few > 0 ? q.signs.cut_weight * (n / few) * (n / few) : kNothing;  // theorem 4.1
    const double best = std::min(q.interpolant_norm, partition);
    affine += std::isinf(q.interpolant_norm)
                  ? kNothing
                  : static_cast<double>(projection_bound(q.interpolant_norm, g.diagonal));
    cyclic += std::isinf(best) ? kNothing : static_cast<double>(projection_bound(best, g.diagonal));
    diameter += partition * every_diagonal;
  }
  const std::string hpw = "Herbster, Pontil & Wainer 2005, ";
  add(g.report, "projection", hpw + "theorem 3.2", "one_projection", affine + unnamed,
      text("sum of 1/K_ii over the mistakes <= ||u||^2 = %.4g%s", g.facts.interpolant_norm,
           std::isinf(affine) ? ": all nodes are labelled and do not balance, so no u sums to 0" : ""));
  add(g.report, "cyclic projection", hpw + "theorems 3.2 and 4.1", "cyclic_projection", cyclic + unnamed,
      "the same, for any u that separates the classes by 1");
  add(g.report, "projection, diameter", hpw + "theorems 4.1 and 4.2", "cyclic_projection", diameter + unnamed,
      text("Phi^W (n / smaller class)^2 min(D_G, 1/lambda_2), D_G = %.4g, 1/lambda_2 = %.4g",
           g.facts.geodesic_diameter.upper, inverse_connectivity));
}

void add_trees(Gatherer& g) {
  const std::string paper = "Cesa-Bianchi et al. 2013, ", learner = "wta:num_trees=1";
  add(g.report, "line", paper + "line", learner, g.mean_line_bound,
      "mean over lines of random spanning trees", true);
  add(g.report, "tree", paper + "tree", learner, g.mean_tree_bound, "mean over random spanning trees", true);
  add(g.report, "graph", paper + "graph", learner,
      random_tree_bound(g.facts.expected_cut, g.facts.expected_resistance, g.facts.largest_cut_weight),
      text("E[Phi_T] = %.4g, E[R_T] = %.4g, w = %.3g", g.facts.expected_cut, g.facts.expected_resistance,
           g.facts.largest_cut_weight),
      true);
  add(g.report, "tree, robust", paper + "robust tree", learner, g.mean_robust_bound,
      text("Phi~ = min (Phi_T(y') + flips) = %.4g in the mean, where Phi_T = %.4g", g.smoothed_tree_cut,
           g.facts.expected_cut),
      true);
  add(g.report, "graph, robust", paper + "robust graph", learner,
      robust_random_tree_bound(g.facts.expected_cut, g.smoothed_graph_cut, g.facts.expected_resistance,
                               g.facts.largest_cut_weight),
      text("Phi~ = %.4g, E[Phi_T] = %.4g", g.smoothed_graph_cut, g.facts.expected_cut), true);
  // w <= the largest degree, and E[R_T] <= R_G for each edge.
  const auto m = static_cast<double>(g.facts.num_edges), n = static_cast<double>(g.facts.num_nodes);
  add(g.report, "graph, connected", paper + "corollary", learner,
      robust_random_tree_bound(g.facts.expected_cut, g.smoothed_graph_cut, m * g.facts.connectivity_ratio, 1),
      text("effective resistances within a factor n^%.3g of each other: O(Phi~ log n)",
           std::log(std::max(g.facts.connectivity_ratio, 1.0)) / std::log(std::max(n, 2.0))),
      true);
}

void add_pounce(Gatherer& g) {
  double value = 0;
  for (const Question& q : g.questions) value += pounce_bound(q.energy, g.facts.cover_diameters);
  add(g.report, "pounce", "Herbster 2008", "pounce", value + unnamed_classes(g),
      text("sets + ||u||^2 * diameter + 1, ||u||^2 = %.4g", g.facts.energy));
}

void add_halving(Gatherer& g) {
  if (g.facts.num_edges + 1 != g.facts.num_nodes || g.facts.num_classes != 2) return;
  const std::uint64_t k = std::max<std::uint64_t>(g.facts.cut_size, 1);
  add(g.report, "halving", "Herbster & Pontil 2006, section 5.2", "halving:max_cut=" + std::to_string(k),
      2 + std::floor(halving_bound(g.facts.num_nodes, k) + 1e-9),
      text("log2 of the labellings that cut at most %llu edges, and 2 for classes unseen",
           static_cast<unsigned long long>(k)));
}

void add_lower(Gatherer& g) {
  add(g.report, "no method", "Cesa-Bianchi et al. 2013, theorem 1", "", std::ceil(g.facts.expected_cut) / 2,
      "some labelling with this E[Phi_T] forces so many on whatever method", true);
  g.report.bounds.back().is_lower = true;
}

void add_verdict(BoundReport& report) {
  const LabellingFacts& facts = report.facts;
  const double edges = std::max(1.0, static_cast<double>(facts.num_nodes) - 1);
  report.verdict.push_back(
      text("A random spanning tree is cut at %.4g of its %.0f edges (%.3g %%); labels dealt at random would "
           "cut %.4g (%.3g %%).",
           facts.expected_cut, edges, 100 * facts.expected_cut / edges, facts.shuffled_cut,
           100 * facts.shuffled_cut / edges));
  const double share = facts.shuffled_cut > 0 ? facts.expected_cut / facts.shuffled_cut : 0;
  report.verdict.push_back(
      facts.cut_size == 0 ? "All labels are the same: nothing can go wrong but the first answer."
      : share < 0.05
          ? "The graph tells nearly everything about these labels: they are very predictable from it."
      : share < 0.25 ? "The graph tells much about these labels: they are predictable, but for the borders."
      : share < 0.6  ? "The graph tells something about these labels: expect a good share of wrong answers."
                     : "The graph tells little about these labels: expect little more than guessing.");
  const Bound* best = nullptr;
  for (const Bound& bound : report.bounds)
    if (!bound.is_lower && (best == nullptr || bound.value < best->value)) best = &bound;
  const auto trials = static_cast<double>(facts.num_labelled);
  if (best != nullptr && best->value < trials)
    report.verdict.push_back(
        text("The best promise is %.4g wrong answers of %.0f (%s, %s)%s, in whatever order the nodes come.",
             best->value, trials, best->name.c_str(), best->source.c_str(),
             best->in_expectation ? ", on average over the trees" : ""));
  else
    report.verdict.push_back(
        text("No theorem promises fewer wrong answers than there are labels (%.0f): bounds are for the worst "
             "order of the worst case, and learners usually do far better.",
             trials));
}

/// A graph whose signs fall into two sides is one without signs, seen from them: so are its labels.
std::vector<Label> seen_from_one_side(std::span<const Label> labels, const SignBalance& balance) {
  std::vector<Label> seen(labels.begin(), labels.end());
  for (std::size_t u = 0; u < seen.size(); ++u)
    if (seen[u] != kNoLabel && balance.side[u] != 0) seen[u] = static_cast<Label>(1 - seen[u]);
  return seen;
}

/// Of a connected signed graph that does not: its signed Laplacian G is positive definite, so that every
/// labelling lies in its space, and theorems on kernels hold with u' G u and G^-1. Those on trees and on
/// resistance diameters are not said of it.
BoundReport signed_bounds(const GraphView& graph, std::span<const Label> labels, const Execution& execution) {
  BoundReport report;
  LabellingFacts& facts = report.facts;
  facts.num_nodes = graph.num_nodes();
  facts.num_edges = graph.num_edges();
  facts.num_classes = 2;
  facts.num_labelled = labels.size() - static_cast<std::size_t>(std::ranges::count(labels, kNoLabel));
  check_labels(facts.num_labelled);
  count_cut(graph, completed_labels(graph, labels, 2, execution), facts);
  facts.squared_norm = facts.energy = facts.interpolant_norm = 4 * facts.cut_weight;
  GraphLaplacian laplacian(graph, {}, execution);
  std::vector<double> column(graph.num_nodes());
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    if (labels[u] == kNoLabel) continue;
    execution.throw_if_cancelled();
    std::fill(column.begin(), column.end(), 0.0);
    column[u] = 1;
    laplacian.solve(column);
    report.diagonal.push_back(column[u]);
    facts.largest_diagonal = std::max(facts.largest_diagonal, column[u]);
  }
  const double by_norm = facts.squared_norm * facts.largest_diagonal;
  const auto by_projection = static_cast<double>(projection_bound(facts.squared_norm, report.diagonal));
  const std::string made_of =
      text("u' G u = %.4g, G^-1_ii <= %.4g", facts.squared_norm, facts.largest_diagonal);
  add(report, "perceptron, norms", "Herbster & Pontil 2006, eq. 5", "graph_perceptron:bias=1", by_norm + 1,
      made_of);
  add(report, "projection", "Herbster, Pontil & Wainer 2005, theorem 3.2", "one_projection",
      by_projection + 1, made_of);
  add(report, "cyclic projection", "Herbster, Pontil & Wainer 2005, theorem 3.2", "cyclic_projection",
      by_projection + 1, made_of);
  report.notes.push_back(
      "negative edges that do not fall into two sides: bounds of kernels with the signed Laplacian, none of "
      "trees and diameters; an edge counts as cut where its ends are not as its sign says");

  report.verdict.push_back(text("%llu of %llu edges contradict the labels.",
                                static_cast<unsigned long long>(facts.cut_size),
                                static_cast<unsigned long long>(facts.num_edges)));
  return report;
}

}  // namespace

BoundReport mistake_bounds(const GraphView& graph, std::span<const Label> labels, const BoundOptions& options,
                           const Execution& execution) {
  if (graph.is_signed()) {
    const Components components = connected_components(graph, execution);
    check_connected(components);
    const SignBalance balance = sign_balance(graph, components);
    if (!balance.is_all_balanced()) return signed_bounds(graph, labels, execution);
    return mistake_bounds(graph.magnitudes(), seen_from_one_side(labels, balance), options, execution);
  }
  Gatherer gathered(graph, labels, options, execution);
  add_lower(gathered);
  add_trees(gathered);
  add_perceptron(gathered);
  add_projection(gathered);
  add_pounce(gathered);
  add_halving(gathered);
  add_verdict(gathered.report);
  return std::move(gathered.report);
}

}  // namespace copse
