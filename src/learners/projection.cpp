// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/projection.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <utility>

#include "copse/graph/signs.hpp"
#include "laplacian/dense_front.hpp"
#include "laplacian/interpolation.hpp"
#include "learners/cover_learner.hpp"
#include "learners/harmonic_reasons.hpp"
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
/// label. To meet y at node i is f += c (y - f_i) / c_i, where c is the kernel's column of i given what was
/// met before. Of that, C is the kernel given all but the last few labels, and the columns of these are taken
/// off when one is needed; every kBlock labels they are taken off C itself, which loses their rows. O(n) for
/// each of them per label, and O(n^2) per label for the others, at the pace of a Cholesky factorization.
class DenseInterpolant {
 public:
  DenseInterpolant(const GraphView& graph, const SolveOptions& solve, const Execution& execution,
                   std::size_t num_functions)
      : columns_(*execution.columns),
        scale_(mean_weight(graph, 1)),
        laplacian_(graph, solve, execution),
        nodes_(graph.num_nodes()),
        functions_(num_functions, std::vector<double>(graph.num_nodes())) {
    std::iota(nodes_.begin(), nodes_.end(), NodeId{0});
    row_of_ = nodes_;
  }

  static bool serves(const GraphView& graph, const SolveOptions& solve, const Execution& execution) {
    return execution.columns != nullptr && !graph.is_signed() &&
           execution.columns->serves(graph, mean_weight(graph, 1), solve);
  }

  /// Meets one more node; `targets` has a value for every function.
  void meet(NodeId node, std::span<const double> targets) {
    constexpr double kNothingLeft = 1e-9;  // the last node of a component: the others leave it no choice
    const NodeId row = std::exchange(row_of_[node], kNoNode);
    const double diagonal = kernel(node)[node];
    std::vector<double> column = column_of(row);
    for (const std::vector<double>& other : recent_) add_multiple(column, -other[row], other);
    if (!(column[row] > kNothingLeft * diagonal)) return;
    const double root = std::sqrt(column[row]);
    for (double& value : column) value /= root;
    for (std::size_t f = 0; f < functions_.size(); ++f)
      add_multiple(functions_[f], (targets[f] - functions_[f][row]) / root, column);
    recent_.push_back(std::move(column));
    recent_rows_.push_back(row);
    if (recent_.size() == kBlock) take_off_recent();
  }

  /// At a node that is not met.
  std::vector<double> values(NodeId node) const {
    std::vector<double> values;
    for (const std::vector<double>& function : functions_) values.push_back(function[row_of_[node]]);
    return values;
  }

  std::string note() const { return laplacian_.note(); }

 private:
  static constexpr std::size_t kBlock = 64;

  static void add_multiple(std::vector<double>& to, double factor, const std::vector<double>& of) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * of[i];
  }

  std::span<const double> kernel(NodeId node) { return laplacian_.shared_column(columns_, node, scale_); }

  /// Of C.
  std::vector<double> column_of(std::size_t row) {
    const std::size_t size = nodes_.size();
    if (given_.empty()) {
      const std::span<const double> column = kernel(nodes_[row]);
      return {column.begin(), column.end()};
    }
    std::vector<double> column(size);
    for (std::size_t i = 0; i < row; ++i) column[i] = given_[i * size + row];
    std::copy_n(&given_[row * size + row], size - row, &column[row]);
    return column;
  }

  void take_off_recent() {
    std::vector<std::size_t> rows(recent_rows_.begin(), recent_rows_.end());
    for (std::size_t row = 0; row < nodes_.size(); ++row)
      if (row_of_[nodes_[row]] != kNoNode) rows.push_back(row);
    const std::size_t left = rows.size() - kBlock;
    std::vector<double> panel, rest(left * left);
    for (std::size_t j = 0; j < kBlock; ++j) {
      const std::vector<double> column = column_of(rows[j]);
      for (const std::size_t row : rows) panel.push_back(column[row]);
    }
    for (std::size_t j = 0; j < left; ++j) {  // from the diagonal on
      const std::size_t row = rows[kBlock + j];
      const double* column = given_.empty() ? kernel(nodes_[row]).data() : &given_[row * nodes_.size()];
      for (std::size_t i = j; i < left; ++i) rest[j * left + i] = column[rows[kBlock + i]];
    }
    eliminate({panel.data(), rows.size(), kBlock, rest.data()}, scratch_);
    given_ = std::move(rest);
    keep_rows({rows.begin() + kBlock, rows.end()});
    recent_.clear();
    recent_rows_.clear();
  }

  void keep_rows(const std::vector<std::size_t>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::vector<double>& function : functions_) function[i] = function[rows[i]];
      nodes_[i] = nodes_[rows[i]];
      row_of_[nodes_[i]] = static_cast<NodeId>(i);
    }
    for (std::vector<double>& function : functions_) function.resize(rows.size());
    nodes_.resize(rows.size());
  }

  SharedColumns& columns_;
  double scale_;
  GraphLaplacian laplacian_;
  std::vector<NodeId> nodes_, row_of_;       // of the rows of C; kNoNode: met
  std::vector<double> given_, scratch_;      // C, column by column from the diagonal on; at first the kernel
  std::vector<std::vector<double>> recent_;  // columns of the Cholesky factor that C does not know of yet
  std::vector<NodeId> recent_rows_;          // and their nodes' rows
  std::vector<std::vector<double>> functions_;  // by row
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
    classes_.clear();
    met_.clear();
    waiting_.clear();
    added_.clear();
    fit_ = {};
    dense_.reset();
    is_ready_ = true;
  }

  bool learn(NodeId node, Label label, bool is_aggressive, const ClassPrior& prior) override {
    const bool is_change = options_.aggressive || is_aggressive || is_wrong(node, label, prior);
    if (const auto [told, is_first] = labels_.try_emplace(node, label); told->second != label) {
      told->second = label;
      classes_.clear();
      for (const auto& entry : labels_) classes_.insert(entry.second);
      dense_.reset();
    }
    classes_.insert(label);
    waiting_.push_back(node);
    if (is_change) {
      for (const NodeId one : waiting_)
        if (met_.insert_or_assign(one, labels_[one]).second) added_.push_back(one);
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
    fit.classes.assign(classes_.begin(), classes_.end());
    if (graph_.is_signed()) fit.classes = {0, 1};
    fit.columns = fit.classes.size() == 2 ? 1 : fit.classes.size();
    if (is_dense_) {
      meet_densely(fit);
      return fit;
    }
    std::vector<NodeId> nodes;
    std::vector<double> values;
    for (const auto& [node, label] : met_) {
      nodes.push_back(node);
      for (const double target : fit.targets(label)) values.push_back(target);
    }
    add_mirror_images(nodes, [&](NodeId u) { return graph_.num_nodes() + u; });
    add_mirror_images(values, [](double value) { return -value; });
    Interpolation solved = minimum_norm_interpolation(solved_graph(), nodes, values, options_.kernel.solve,
                                                      execution_, fit.columns);
    fit.values = std::move(solved.value);
    fit.report = solved.report;
    return fit;
  }

  /// What is new, or all where a function or a label is another one now.
  void meet_densely(const Fit& fit) const {
    std::unique_ptr<DenseInterpolant> dense = std::move(dense_);  // null after an exception
    if (!dense || fit.classes != fit_.classes) {
      dense = std::make_unique<DenseInterpolant>(graph_, options_.kernel.solve, execution_, fit.columns);
      added_.clear();
      for (const auto& entry : met_) added_.push_back(entry.first);
    }
    for (const NodeId node : added_) dense->meet(node, fit.targets(met_.at(node)));
    added_.clear();
    dense_ = std::move(dense);
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
  std::set<Label> classes_;         // of these
  std::map<NodeId, Label> met_;     // those the function meets: all but what was right since the last mistake
  std::vector<NodeId> waiting_;     // those told since
  mutable std::mutex mutex_;
  mutable std::atomic<bool> is_ready_ = true;
  mutable Fit fit_;
  bool is_dense_;
  mutable std::unique_ptr<DenseInterpolant> dense_;  // with the columns of many games
  mutable std::vector<NodeId> added_;                // met since that was last asked
};

HypothesisMaker maker(const GraphView& graph, const ProjectionOptions& options, const Execution& execution) {
  const KernelRule rule{.step = KernelRule::Step::projection,
                        .zero_is_mistake = options.zero_is_mistake,
                        .cyclic = options.cyclic,
                        .aggressive = options.aggressive,
                        .all = options.strategy == Strategy::all,
                        .max_sweeps = options.max_sweeps};
  if (!interpolates(options))
    return kernel_hypotheses(graph, {}, rule, options.kernel.solve, num_kept(options, graph.num_nodes()),
                             execution);
  const auto on_graph = [=, &execution] {
    return std::make_unique<InterpolationHypothesis>(graph, options, execution);
  };
  const auto on_trees = []() -> MakeTreeHypothesis {
    throw UsageError{"projection option on", "strategy=all on trees needs cyclic=true",
                     "take cyclic=true, strategy=last or on=graph"};
  };
  return {on_graph, on_trees};
}

std::uint64_t bytes_on_graph(const ProblemSize& size, const ProjectionOptions& options) {
  if (!interpolates(options))
    return graph_kernel_bytes(size, num_kept(options, size.num_nodes), options.kernel.solve);
  // Functions, right-hand sides, components and what is given.
  return size.num_nodes * (8 * (2 * size.num_classes + 1) + 6) +
         LaplacianSolver::bytes(size.num_nodes, size.num_arcs, size.num_classes + 1, options.kernel.solve);
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
  return sequential_bytes(size, options.kernel, bytes_on_graph(size, options), tree_kernel_bytes);
}

std::uint64_t Projection::online_bytes(const ProblemSize& size, const Options& options) {
  return sequential_online_bytes(size, options.kernel, bytes_on_graph(size, options), tree_kernel_bytes);
}

}  // namespace copse
