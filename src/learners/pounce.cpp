// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/pounce.hpp"

#include "learners/class_functions.hpp"
#include "learners/machines.hpp"
#include "learners/pounce_space.hpp"
#include "learners/signs.hpp"

namespace copse {
namespace {

/// Herbster 2008, the algorithm: guess y_s + w(i) - w(s) with s the stored example nearest to i; after a
/// mistake w takes the least change that makes it y_i, and the example is stored. One w a class; they share
/// the stored examples. In every component the first example is stored, as the paper's first is.
class PounceMachine final : public Machine {
 public:
  PounceMachine(std::unique_ptr<PounceSpace> space, bool zero_is_mistake)
      : space_(std::move(space)), zero_is_mistake_(zero_is_mistake) {}

  void reset() override {
    space_->clear();
    functions_ = {};
    examples_.clear();
    largest_ = 1;
  }

  bool learn(NodeId node, Label label, bool, const ClassPrior& prior) override {
    functions_.meet(label, *space_);
    if (space_->is_signed()) functions_.meet(turned(label, true), *space_);
    const std::uint32_t nearest = space_->nearest(node);
    if (nearest == PounceSpace::kNone) {
      store(node, label);
      return true;
    }
    if (!is_mistake(node, nearest, label, prior)) return false;
    Example& example = examples_[nearest];
    if (example.node == node) {  // the paper would divide by 0: the example is corrected instead
      example.label = label;
      if (space_->is_signed()) examples_[nearest + 1].label = turned(label, true);
      return true;
    }
    const double resistance = space_->prepare(node, nearest);
    std::vector<double> missing(functions_.num_columns());
    for (std::size_t column = 0; column < missing.size(); ++column)
      missing[column] = functions_.target(column, label) - function(column, node, example);
    for (std::size_t column = 0; column < missing.size(); ++column) {
      largest_ = std::max(largest_, std::fabs(missing[column]));
      space_->add(column, missing[column] / resistance);
    }
    store(node, label);
    return true;
  }

  Margins margins(NodeId node, std::size_t num_classes) const override {
    return margins_from(node, space_->nearest(node), num_classes);
  }

  std::vector<Reason> reasons(NodeId node, Label) const override {
    const std::uint32_t nearest = space_->nearest(node);
    if (nearest == PounceSpace::kNone) return {};
    return {{examples_[nearest].node, kNoLabel, 1, space_->resistance(node, nearest)}};
  }

  std::string note() const override { return space_->note(); }

 private:
  struct Example {
    NodeId node;
    Label label;
    double sign = 1;  // -1 for a mirror image
  };

  void store(NodeId node, Label label) {
    space_->store(node);
    examples_.push_back({node, label});
    if (space_->is_signed()) examples_.push_back({node, turned(label, true), -1});
  }

  double function(std::size_t column, NodeId node, const Example& nearest) const {
    return functions_.target(column, nearest.label) +
           (space_->value(column, node) - nearest.sign * space_->value(column, nearest.node));
  }

  Margins margins_from(NodeId node, std::uint32_t nearest, std::size_t num_classes) const {
    Margins margins;
    margins.of_class.assign(num_classes, -std::numeric_limits<double>::infinity());
    margins.zero = kZeroMargin * largest_;
    for (std::size_t c = 0; c < num_classes; ++c) {
      const auto label = static_cast<Label>(c);
      if (!functions_.knows(label)) continue;
      const ClassFunctions::Class& of = functions_[label];
      margins.of_class[c] =
          nearest == PounceSpace::kNone ? 0 : of.sign * function(of.column, node, examples_[nearest]);
    }
    return margins;
  }

  bool is_mistake(NodeId node, std::uint32_t nearest, Label label, const ClassPrior& prior) const {
    // Classes as the prior knows them, and that of this very label, which it does not count yet.
    ClassPrior known = prior;
    known.add(label);
    known.remove(label);
    Margins margins = margins_from(node, nearest, known.num_classes());
    const Decision decision = decide(margins, known);
    return decision.label != label || (zero_is_mistake_ && decision.lead == 0);
  }

  std::unique_ptr<PounceSpace> space_;
  bool zero_is_mistake_;
  ClassFunctions functions_;
  std::vector<Example> examples_;
  double largest_ = 1;  // correction so far
};

MakeTreeMachine on_trees(const GraphView& graph, const PounceOptions& options, int threads) {
  const ResistanceScale scale = ResistanceScale::of(graph, true, threads);
  return [scale, options](const SpanningForest& forest) {
    return std::make_unique<PounceMachine>(pounce_tree_space(forest, scale), options.zero_is_mistake);
  };
}

std::vector<std::unique_ptr<Machine>> machines(const GraphView& graph, const PounceOptions& options,
                                               const Execution& execution) {
  if (options.kernel.on == KernelOn::tree)
    return tree_machines(graph, options.kernel.tree, options.kernel.num_trees, execution,
                         on_trees(graph, options, execution.threads));
  std::vector<std::unique_ptr<Machine>> one;
  one.push_back(std::make_unique<PounceMachine>(pounce_graph_space(graph, options, execution),
                                                options.zero_is_mistake));
  return one;
}

}  // namespace

Pounce::Pounce(const GraphView& graph, const Options& options, const Execution& execution)
    : SequentialLearner(graph, execution, machines(graph, options, execution)) {}

BatchResult Pounce::fit(const GraphView& graph, std::span<const Label> labels, std::size_t num_classes,
                        const Options& options, const Execution& execution) {
  return fit_machines<Pounce>(graph, labels, num_classes, options, execution, "docs/learners/pounce.md",
                              [&] { return on_trees(graph, options, execution.threads); });
}

std::uint64_t Pounce::bytes(const ProblemSize& size, const Options& options) {
  const std::uint64_t common = size.num_nodes * kSequentialBytes;
  if (options.kernel.on == KernelOn::tree)
    return common + tree_machines_bytes(size, options.kernel, pounce_tree_bytes(size.num_classes));
  // Components, two columns at hand, functions, then stored columns or the sketch; the solver.
  const std::uint64_t stored = std::max<std::uint64_t>(columns_to_keep(options.max_columns, size.num_nodes),
                                                       static_cast<std::uint64_t>(options.num_projections));
  return common + size.num_nodes * (4 + 16 + 8 * size.num_classes + 4 * stored) +
         LaplacianSolver::bytes(size.num_nodes, size.num_arcs, options.num_projections > 0 ? 8 : 1, {});
}

std::uint64_t Pounce::online_bytes(const ProblemSize& size, const Options& options) {
  if (options.kernel.on == KernelOn::graph) return bytes(size, options);
  return size.num_nodes *
         (kSequentialBytes + static_cast<std::uint64_t>(options.kernel.num_trees) * pounce_tree_bytes(1));
}

}  // namespace copse
