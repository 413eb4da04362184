// SPDX-License-Identifier: Apache-2.0
#include "copse/learners/graph_perceptron.hpp"

#include "learners/kernel_hypothesis.hpp"

namespace copse {
namespace {

HypothesisMaker maker(const GraphView& graph, const GraphPerceptronOptions& options,
                      const Execution& execution) {
  return kernel_hypotheses(graph, {.bias = options.bias, .diagonal = options.diagonal},
                           {.step = KernelRule::Step::perceptron, .zero_is_mistake = options.zero_is_mistake},
                           options.kernel.solve, 0, execution);
}

}  // namespace

GraphPerceptron::GraphPerceptron(const GraphView& graph, const Options& options, const Execution& execution)
    : SequentialLearner(graph, execution,
                        make_hypotheses(graph, options.kernel, execution, maker(graph, options, execution)),
                        options.kernel.epochs) {}

BatchResult GraphPerceptron::fit(const GraphView& graph, std::span<const Label> labels,
                                 std::size_t num_classes, const Options& options,
                                 const Execution& execution) {
  return fit_hypotheses<GraphPerceptron>(graph, labels, num_classes, options, execution,
                                         "docs/learners/graph_perceptron.md",
                                         maker(graph, options, execution));
}

std::uint64_t GraphPerceptron::bytes(const ProblemSize& size, const Options& options) {
  return sequential_bytes(size, options.kernel, graph_kernel_bytes(size, 0, options.kernel.solve),
                          tree_kernel_bytes);
}

std::uint64_t GraphPerceptron::online_bytes(const ProblemSize& size, const Options& options) {
  return sequential_online_bytes(size, options.kernel, graph_kernel_bytes(size, 0, options.kernel.solve),
                                 tree_kernel_bytes);
}

}  // namespace copse
