// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/projection.hpp"

#include <atomic>
#include <map>
#include <mutex>

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
        execution_(execution) {}

  void reset() override {
    labels_.clear();
    met_.clear();
    fit_ = {};
    is_ready_ = true;
  }

  bool learn(NodeId node, Label label, bool is_aggressive, const ClassPrior& prior) override {
    const bool is_change = options_.aggressive || is_aggressive || is_wrong(node, label, prior);
    labels_[node] = label;
    if (!is_change) return false;
    met_ = labels_;
    is_ready_ = false;
    return true;
  }

  Margins margins(NodeId node, std::size_t num_classes) const override {
    const Fit& fit = fitted();
    Margins margins(num_classes);
    for (std::size_t c = 0; c < fit.classes.size(); ++c)
      if (fit.classes[c] < num_classes) margins.of_class[fit.classes[c]] = fit.value(c, node);
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

  std::string note() const override { return fitted().report.note(); }

 private:
  struct Fit {
    std::vector<Label> classes;  // ascending; of two classes only the first has a column
    std::size_t columns = 0;
    std::vector<double> values;  // by node, then by column
    SolveReport report;

    double value(std::size_t index, NodeId node) const {
      return index < columns ? values[node * columns + index] : -values[node * columns];
    }
  };

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
    add_mirror_images(nodes, [&](NodeId u) { return graph_.num_nodes() + u; });
    add_mirror_images(values, [](double value) { return -value; });
    Interpolation solved = minimum_norm_interpolation(solved_graph(), nodes, values, options_.kernel.solve,
                                                      execution_, fit.columns);
    fit.values = std::move(solved.value);
    fit.report = solved.report;
    return fit;
  }

  bool is_wrong(NodeId node, Label label, const ClassPrior& prior) const {
    const Fit& fit = fitted();
    if (!std::ranges::binary_search(fit.classes, label)) return true;
    for (std::size_t c = 0; c < fit.classes.size(); ++c) {
      const double y = fit.classes[c] == label ? 1 : -1, f = fit.value(c, node);
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
  mutable std::mutex mutex_;
  mutable std::atomic<bool> is_ready_ = true;
  mutable Fit fit_;
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
                        make_hypotheses(graph, options.kernel, execution, maker(graph, options, execution))) {
}

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
