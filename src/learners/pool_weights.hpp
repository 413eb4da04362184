// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "copse/learners/learner.hpp"
#include "copse/support/buffer.hpp"

namespace copse {

/// Whether a learner is worth its time and memory as a member of `auto` (auto.cpp).
bool fits_in_pool(std::string_view member, const ProblemSize& size, std::size_t num_labels);

/// P(c) = softmax over the classes of (sum over members m of weights[m] phi_m(c) + biases[c]).
struct PoolWeights {
  std::vector<double> weights;  // by member, >= 0
  std::vector<double> biases;   // by class, within kLargestBias of 0

  /// `features` is one row per member, a column per class; they become the probabilities.
  void probabilities(std::span<const double> features, std::span<double> result) const;
};

inline constexpr double kLargestBias = 3;

/// How strongly weights are held back: the fit minimises
/// -sum_j log P(y_j) + pull * rho * |weights - start|^2 + rho * |biases|^2.
struct PoolPrior {
  std::vector<double> start;  // by member
  double rho = 1, pull = 2;
  bool with_biases = true;
};

/// Logistic regression on what members say of nodes whose label they were not told. `features` has a row of
/// members x classes per node, `labels` its class. Strictly convex: one answer, found by projected gradients
/// with momentum in a fixed order, so that the bits depend on nothing else.
PoolWeights fit_pool(std::span<const double> features, std::span<const Label> labels, std::size_t num_classes,
                     const PoolPrior& prior);

/// `probabilities` has a row of classes for every node. With l = log(P + 1/1000), P(c | i) becomes the
/// softmax of 0.6 (l_i(c) + the mean of l_j(c) over the neighbours j), by weight: the factor leaves answers
/// about as sure as they were. Nodes without an edge stay as they are, and all do where P_i and the mean of
/// P_j over the neighbours do not go together (their covariance over the nodes): neighbours are not alike
/// then.
void mix_with_neighbors(const GraphView& graph, std::size_t num_classes, Buffer<double>& probabilities,
                        const Execution& execution);

}  // namespace copse
