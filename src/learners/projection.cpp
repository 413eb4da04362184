// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/projection.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "copse/graph/signs.hpp"
#include "laplacian/interpolation.hpp"
#include "learners/cover_learner.hpp"
#include "learners/harmonic_reasons.hpp"
#include "learners/hypothesis_committee.hpp"
#include "learners/kernel_hypothesis.hpp"

namespace copse {
namespace {

using Strategy = ProjectionOptions::Strategy;

bool interpolates(const ProjectionOptions& options) {
  return options.strategy == Strategy::all && !options.cyclic;
}
/// Only methods that come back to earlier labels use a column twice.
std::size_t num_kept(const ProjectionOptions& options, std::uint64_t num_nodes) {
  const bool comes_back = options.strategy == Strategy::all && options.cyclic;
  return comes_back ? columns_to_keep(options.max_columns, num_nodes) : 0;
}

/// The function of least norm from the columns of a small graph, for games in which it changes with every
/// label: K_SS = R R' grows by a row per label, and a value is l . R^-1 y with R l the kernel between the
/// node and S. O(labels^2) per question, no solve.
class DenseInterpolant {
 public:
  DenseInterpolant(const GraphView& graph, const SolveOptions& solve, const Execution& execution)
      : columns_(execution.columns), scale_(mean_weight(graph, 1)), laplacian_(graph, solve, execution) {}

  static bool serves(const GraphView& graph, const SolveOptions& solve, const Execution& execution) {
    return execution.columns != nullptr && !graph.is_signed() &&
           execution.columns->serves(graph, mean_weight(graph, 1), solve);
  }

  /// Meets these labels, which hold all that were met before; `targets(label)` are the values of a label.
  template <class Targets>
  void meet(const std::map<NodeId, Label>& met, const std::vector<Label>& classes, std::size_t num_columns,
            Targets&& targets) {
    std::size_t same = classes == classes_ ? coordinates_.size() : 0;  // rows whose values stay
    classes_ = classes;
    for (const auto& [node, label] : met)
      if (is_met_.insert(node).second) append(node);
    coordinates_.resize(nodes_.size());
    told_.resize(nodes_.size(), kNoLabel);
    for (std::size_t j = 0; j < nodes_.size(); ++j) {
      const Label label = met.at(nodes_[j]);
      if (label != told_[j]) same = std::min(same, j);
      told_[j] = label;
    }
    num_columns_ = num_columns;
    for (std::size_t j = same; j < nodes_.size(); ++j) {
      coordinates_[j] = targets(told_[j]);
      for (std::size_t c = 0; c < num_columns; ++c) {
        double sum = 0;
        for (std::size_t i = 0; i < j; ++i) sum += rows_[j][i] * coordinates_[i][c];
        coordinates_[j][c] = (coordinates_[j][c] - sum) / rows_[j][j];
      }
    }
  }

  std::vector<double> values(NodeId node) const {
    const std::vector<double> l = towards(node);
    const std::lock_guard lock(last_mutex_);
    last_node_ = node;
    last_ = l;
    std::vector<double> values(num_columns_);
    for (std::size_t j = 0; j < l.size(); ++j)
      for (std::size_t c = 0; c < num_columns_; ++c) values[c] += l[j] * coordinates_[j][c];
    return values;
  }

  std::string note() const { return laplacian_.note(); }

 private:
  /// Four sums side by side, which a processor adds up at once.
  static double dot(std::span<const double> a, std::span<const double> b, std::size_t size) {
    double sums[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= size; i += 4)
      for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    for (; i < size; ++i) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  std::vector<double> towards(NodeId node) const {
    std::vector<double> l(rows_.size());
    for (std::size_t j = 0; j < l.size(); ++j) l[j] = (kernel_[j][node] - dot(rows_[j], l, j)) / rows_[j][j];
    return l;
  }

  void append(NodeId node) {
    constexpr double kNothingLeft = 1e-9;  // the last node of a component: the others leave it no choice
    const std::span<const double> column = laplacian_.shared_column(*columns_, node, scale_);
    // Mostly the node that was asked about last.
    std::vector<double> row = last_node_ == node && last_.size() == rows_.size() ? last_ : towards(node);
    const double left = column[node] - dot(row, row, row.size());
    if (!(left > kNothingLeft * column[node])) return;
    row.push_back(std::sqrt(left));
    rows_.push_back(std::move(row));
    nodes_.push_back(node);
    kernel_.push_back(column);
  }

  SharedColumns* columns_;
  double scale_;
  GraphLaplacian laplacian_;
  mutable std::mutex last_mutex_;
  mutable NodeId last_node_ = kNoNode;
  mutable std::vector<double> last_;  // towards(last_node_)
  std::set<NodeId> is_met_;
  std::vector<NodeId> nodes_;  // those with a row
  std::vector<Label> told_, classes_;
  std::size_t num_columns_ = 0;
  std::vector<std::span<const double>> kernel_;   // their columns
  std::vector<std::vector<double>> rows_;         // of R
  std::vector<std::vector<double>> coordinates_;  // R^-1 y, by row, then by function
};

/// Projection on all labels at once: the function of least norm that takes +1 and -1 at them, one per class,
/// class against rest. From the projection on fewer labels to that on more is again a projection, so the
/// function is that of least norm among all that meet the labels (Herbster et al. 2005, lemma 3.1), and the
/// way there leaves no trace: it is computed from the labels when it is asked for, in one block of solves. Of
/// a signed graph on its double cover, where a label is told of the mirror image as well.
class InterpolationHypothesis final : public Hypothesis {
 public:
  InterpolationHypothesis(const GraphView& graph, const ProjectionOptions& options,
                          const Execution& execution)
      : graph_(graph),
        cover_(graph.is_signed() ? double_cover(graph, execution.threads) : Graph()),
        options_(options),
        execution_(execution),
        is_dense_(DenseInterpolant::serves(graph, options.kernel.solve, execution)) {}

  void reset() override {
    labels_.clear();
    met_.clear();
    waiting_.clear();
    fit_ = {};
    dense_.reset();
    is_ready_ = true;
  }

  bool learn(NodeId node, Label label, bool is_aggressive, const ClassPrior& prior) override {
    const bool is_change = options_.aggressive || is_aggressive || is_wrong(node, label, prior);
    labels_[node] = label;
    waiting_.push_back(node);
    if (is_change) {
      for (const NodeId one : waiting_) met_[one] = labels_[one];
      waiting_.clear();
    }
    // A class is known from its first label on, whether or not that was a mistake.
    if (is_change || !fit_.knows(label)) is_ready_ = false;
    return is_change;
  }

  Margins margins(NodeId node, std::size_t num_classes) const override {
    const Fit& fit = fitted();
    const Values values = values_at(fit, node);
    Margins margins(num_classes);
    for (std::size_t c = 0; c < fit.classes.size(); ++c)
      if (fit.classes[c] < num_classes) margins.of_class[fit.classes[c]] = values.of_class(c);
    margins.zero = kZeroMargin;
    return margins;
  }

  std::vector<Reason> reasons(NodeId node, Label) const override {
    std::vector<NodeId> nodes;
    for (const auto& entry : met_)
      if (entry.first != node) nodes.push_back(entry.first);
    add_mirror_images(nodes, [&](NodeId u) { return graph_.num_nodes() + u; });
    std::vector<Reason> reasons =
        harmonic_reasons(solved_graph(), nodes, node, options_.kernel.solve, execution_);
    return graph_.is_signed() ? fold_reasons(reasons, graph_.num_nodes()) : reasons;
  }

  std::string note() const override {
    const Fit& fit = fitted();
    return dense_ ? dense_->note() : fit.report.note();
  }

 private:
  struct Fit {
    std::vector<Label> classes;  // ascending; of two classes only the first has a column
    std::size_t columns = 0;
    std::vector<double> values;  // by node, then by column
    SolveReport report;

    bool knows(Label label) const { return std::ranges::binary_search(classes, label); }
    std::vector<double> targets(Label label) const {
      std::vector<double> targets;
      for (std::size_t c = 0; c < columns; ++c) targets.push_back(classes[c] == label ? 1 : -1);
      return targets;
    }
  };
  /// Of the functions at a node.
  struct Values {
    std::vector<double> of_column;
    double of_class(std::size_t index) const {
      return index < of_column.size() ? of_column[index] : -of_column[0];
    }
  };

  Values values_at(const Fit& fit, NodeId node) const {
    if (const auto met = met_.find(node); is_dense_ && met != met_.end()) return {fit.targets(met->second)};
    if (is_dense_) return {dense_ ? dense_->values(node) : std::vector<double>(fit.columns)};
    const auto begin = fit.values.begin() + static_cast<std::ptrdiff_t>(node * fit.columns);
    return {{begin, begin + static_cast<std::ptrdiff_t>(fit.columns)}};
  }

  const GraphView& solved_graph() const { return graph_.is_signed() ? cover_.view() : graph_; }

  template <class T, class Mirror>
  void add_mirror_images(std::vector<T>& of, Mirror&& mirror) const {
    if (graph_.is_signed())
      for (std::size_t i = 0, count = of.size(); i < count; ++i) of.push_back(mirror(of[i]));
  }

  const Fit& fitted() const {
    if (!is_ready_.load(std::memory_order_acquire)) {
      const std::lock_guard lock(mutex_);
      if (!is_ready_.load(std::memory_order_relaxed)) {
        fit_ = solve();
        is_ready_.store(true, std::memory_order_release);
      }
    }
    return fit_;
  }

  Fit solve() const {
    Fit fit;
    std::vector<NodeId> nodes;
    for (const auto& entry : met_) nodes.push_back(entry.first);
    std::set<Label> classes;
    for (const auto& entry : labels_) classes.insert(entry.second);
    fit.classes.assign(classes.begin(), classes.end());
    if (graph_.is_signed()) fit.classes = {0, 1};
    fit.columns = fit.classes.size() == 2 ? 1 : fit.classes.size();
    if (is_dense_) {
      if (!dense_) dense_.emplace(graph_, options_.kernel.solve, execution_);
      dense_->meet(met_, fit.classes, fit.columns, [&](Label label) { return fit.targets(label); });
      return fit;
    }
    std::vector<double> values;
    for (const auto& entry : met_)
      for (const double target : fit.targets(entry.second)) values.push_back(target);
    add_mirror_images(nodes, [&](NodeId u) { return graph_.num_nodes() + u; });
    add_mirror_images(values, [](double value) { return -value; });
    Interpolation solved = minimum_norm_interpolation(solved_graph(), nodes, values, options_.kernel.solve,
                                                      execution_, fit.columns);
    fit.values = std::move(solved.value);
    fit.report = solved.report;
    return fit;
  }

  /// Algorithm 2: a mistake is y g <= 0. The first label of a second class has the negative of the first
  /// one's function; a later class begins with 0, and so with a mistake.
  bool is_wrong(NodeId node, Label label, const ClassPrior& prior) const {
    const Fit& fit = fitted();
    if (fit.classes.size() != 1 && !fit.knows(label)) return true;
    const Values values = values_at(fit, node);
    for (std::size_t c = 0; c < fit.classes.size(); ++c) {
      const double y = fit.classes[c] == label ? 1 : -1, f = values.of_class(c);
      const bool is_zero = !(std::fabs(f) > kZeroMargin);
      if (is_zero && options_.zero_is_mistake) return true;
      if (is_zero ? says_yes_at_zero(fit.classes[c], c == 0, prior) != (y > 0) : y * f < 0) return true;
    }
    return false;
  }

  GraphView graph_;
  Graph cover_;
  ProjectionOptions options_;
  Execution execution_;
  std::map<NodeId, Label> labels_;  // all that were told
  std::map<NodeId, Label> met_;     // those the function meets: all but what was right since the last mistake
  std::vector<NodeId> waiting_;     // those told since
  mutable std::mutex mutex_;
  mutable std::atomic<bool> is_ready_ = true;
  mutable Fit fit_;
  bool is_dense_;
  mutable std::optional<DenseInterpolant> dense_;  // with the columns of many games
};

HypothesisMaker maker(const GraphView& graph, const ProjectionOptions& options, const Execution& execution) {
  const KernelRule rule{.step = KernelRule::Step::projection,
                        .zero_is_mistake = options.zero_is_mistake,
                        .cyclic = options.cyclic,
                        .aggressive = options.aggressive,
                        .all = options.strategy == Strategy::all,
                        .max_sweeps = options.max_sweeps};
  const auto on_graph = [=, &execution]() -> std::unique_ptr<Hypothesis> {
    if (interpolates(options)) return std::make_unique<InterpolationHypothesis>(graph, options, execution);
    return kernel_hypothesis(
        graph_kernel(graph, {}, options.kernel.solve, num_kept(options, graph.num_nodes()), execution), rule);
  };
  const auto on_trees = [=, &execution]() -> MakeTreeHypothesis {
    if (interpolates(options))
      throw UsageError{"projection option on", "strategy=all on trees needs cyclic=true",
                       "take cyclic=true, strategy=last or on=graph"};
    auto shared = std::make_shared<const TreeKernelShared>(graph, KernelTerms{}, execution.threads);
    return [=](const SpanningForest& forest) { return kernel_hypothesis(tree_kernel(forest, shared), rule); };
  };
  return {on_graph, on_trees};
}

}  // namespace

Projection::Projection(const GraphView& graph, const Options& options, const Execution& execution)
    : SequentialLearner(graph, execution,
                        make_hypotheses(graph, options.kernel, execution, maker(graph, options, execution)),
                        interpolates(options) ? 1 : options.kernel.epochs) {
}  // all labels are met after a pass

BatchResult Projection::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                            const Options& options, const Execution& execution) {
  return fit_hypotheses<Projection>(graph, labels, num_classes, options, execution,
                                    "docs/learners/projection.md", maker(graph, options, execution));
}

std::uint64_t Projection::bytes(const ProblemSize& size, const Options& options) {
  const std::uint64_t common = size.num_nodes * kSequentialBytes;
  if (options.kernel.on == KernelOn::tree)
    return common + tree_hypotheses_bytes(size, options.kernel, tree_kernel_bytes(1, size.num_classes));
  if (interpolates(options))  // functions, right-hand sides, components and what is given
    return common + size.num_nodes * (8 * (2 * size.num_classes + 1) + 6) +
           LaplacianSolver::bytes(size.num_nodes, size.num_arcs, size.num_classes + 1, options.kernel.solve);
  return common + graph_kernel_bytes(size.num_nodes, size.num_arcs, size.num_classes,
                                     num_kept(options, size.num_nodes), options.kernel.solve);
}

std::uint64_t Projection::online_bytes(const ProblemSize& size, const Options& options) {
  if (options.kernel.on == KernelOn::graph) return bytes(size, options);
  return size.num_nodes * kSequentialBytes +
         static_cast<std::uint64_t>(options.kernel.num_trees) * tree_kernel_bytes(size.num_nodes, 1);
}

}  // namespace copse
