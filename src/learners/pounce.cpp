// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/pounce.hpp"

#include "copse/laplacian/laplacian_solver.hpp"
#include "learners/hypothesis_committee.hpp"
#include "learners/pounce_examples.hpp"

namespace copse {
namespace {

/// Herbster 2008, the algorithm: guess y_s + w(i) - w(s) with s the stored example nearest to i; after a
/// mistake w takes the least change that makes it y_i, and the example is stored. One w per class; they share
/// the stored examples. In every component the first example is stored, as the paper's first is.
class PounceHypothesis final : public Hypothesis {
 public:
  PounceHypothesis(std::unique_ptr<PounceExamples> examples, bool zero_is_mistake)
      : stored_(std::move(examples)), zero_is_mistake_(zero_is_mistake) {}

  void reset() override {
    stored_->clear();
    functions_ = {};
    labels_.clear();
    largest_ = 1;
  }

  bool learn(NodeId node, Label label, bool, const ClassPrior& prior) override {
    functions_.meet(label, *stored_);
    const Nearest nearest = stored_->nearest(node);
    if (!nearest) {
      store(node, label);
      return true;
    }
    if (!is_mistake(node, nearest, label, prior)) return false;
    if (nearest->node == node) {  // the paper would divide by 0: the example is corrected instead
      labels_[nearest->number] = label;
      return true;
    }
    const double resistance = stored_->prepare(node, *nearest);
    std::vector<double> missing(functions_.num_columns());
    for (std::size_t column = 0; column < missing.size(); ++column)
      missing[column] = functions_.target(column, label) - function(column, node, *nearest);
    for (std::size_t column = 0; column < missing.size(); ++column) {
      largest_ = std::max(largest_, std::fabs(missing[column]));
      stored_->add(column, missing[column] / resistance);
    }
    store(node, label);
    return true;
  }

  Margins margins(NodeId node, std::size_t num_classes) const override {
    return margins_from(node, stored_->nearest(node), num_classes);
  }

  std::vector<Reason> reasons(NodeId node, Label) const override {
    const Nearest nearest = stored_->nearest(node);
    if (!nearest) return {};
    return {{nearest->node, kNoLabel, 1, stored_->resistance(node, *nearest)}};
  }

  std::string note() const override { return stored_->note(); }

 private:
  using Nearest = std::optional<PounceExamples::Stored>;

  void store(NodeId node, Label label) {
    stored_->store(node);
    labels_.push_back(label);
  }

  double function(std::size_t column, NodeId node, const PounceExamples::Stored& nearest) const {
    return functions_.target(column, turned(labels_[nearest.number], nearest.sign < 0)) +
           (stored_->value(column, node) - nearest.sign * stored_->value(column, nearest.node));
  }

  Margins margins_from(NodeId node, const Nearest& nearest, std::size_t num_classes) const {
    Margins margins = functions_.margins(
        num_classes, [&](std::size_t column) { return nearest ? function(column, node, *nearest) : 0; });
    margins.zero = kZeroMargin * largest_;
    return margins;
  }

  bool is_mistake(NodeId node, const Nearest& nearest, Label label, const ClassPrior& prior) const {
    // Classes as the prior knows them, and that of this very label, which it does not count yet.
    ClassPrior known = prior;
    known.expect(std::size_t{label} + 1);
    Margins margins = margins_from(node, nearest, known.num_classes());
    const Decision decision = decide(margins, known);
    return decision.label != label || (zero_is_mistake_ && decision.lead == 0);
  }

  std::unique_ptr<PounceExamples> stored_;
  bool zero_is_mistake_;
  ClassFunctions functions_;
  std::vector<Label> labels_;  // of the examples
  double largest_ = 1;         // correction so far
};

HypothesisMaker maker(const GraphView& graph, const PounceOptions& options, const Execution& execution) {
  const auto on_graph = [&] {
    return std::make_unique<PounceHypothesis>(examples_on_graph(graph, options, execution),
                                              options.zero_is_mistake);
  };
  const auto on_trees = [&] {
    const ResistanceScale scale = ResistanceScale::of(graph, true, execution.threads);
    return [scale, zero_is_mistake = options.zero_is_mistake](const SpanningForest& forest) {
      return std::make_unique<PounceHypothesis>(examples_on_tree(forest, scale), zero_is_mistake);
    };
  };
  return {on_graph, on_trees};
}

}  // namespace

Pounce::Pounce(const GraphView& graph, const Options& options, const Execution& execution)
    : SequentialLearner(graph, execution,
                        make_hypotheses(graph, options.kernel, execution, maker(graph, options, execution)),
                        options.kernel.epochs) {}

BatchResult Pounce::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                        const Options& options, const Execution& execution) {
  return fit_hypotheses<Pounce>(graph, labels, num_classes, options, execution, "docs/learners/pounce.md",
                                maker(graph, options, execution));
}

namespace {

std::uint64_t bytes_on_graph(const ProblemSize& size, const PounceOptions& options) {
  // Components, two columns at hand, functions, stored columns; the solver.
  const std::uint64_t stored = columns_to_keep(options.max_columns, size.num_nodes);
  return size.num_nodes * (4 + 16 + 8 * size.num_classes + 4 * stored) +
         LaplacianSolver::bytes(size.num_nodes, size.num_arcs, 1, options.kernel.solve);
}

}  // namespace

std::uint64_t Pounce::bytes(const ProblemSize& size, const Options& options) {
  return sequential_bytes(size, options.kernel, bytes_on_graph(size, options), tree_examples_bytes);
}

std::uint64_t Pounce::online_bytes(const ProblemSize& size, const Options& options) {
  return sequential_online_bytes(size, options.kernel, bytes_on_graph(size, options), tree_examples_bytes);
}

}  // namespace copse
