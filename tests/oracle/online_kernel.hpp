// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "oracle/linear_algebra.hpp"

// The papers' online kernel methods with the kernel as a matrix and every value as a sum over all corrections
// made so far: the twin of graph_perceptron and projection. Long double where it sums.

namespace copse::oracle {

struct KernelGame {
  enum class Method { perceptron, one_projection, half_space, cyclic, interpolation };
  Method method = Method::perceptron;
  double b = 0, c = 0;
  bool per_square = false;  // b = 1/n^2 instead, n of the component
  bool aggressive = false;
  bool zero_is_mistake = true;
  int max_sweeps = 100;
};

/// L^+ of the graph with weights divided by their mean, + b in every component + c on the diagonal.
inline DenseMatrix online_kernel(const GraphView& graph, const KernelGame& game) {
  DenseMatrix full = laplacian(graph);
  double mean = 0;
  for (EdgeIndex arc = 0; arc < graph.neighbors.size(); ++arc) mean += graph.weight(arc);
  mean = graph.neighbors.empty() ? 1 : mean / static_cast<double>(graph.neighbors.size());
  const auto component = laplacian_components(full);
  std::map<std::size_t, double> size;
  for (const std::size_t of : component) size[of] += 1;
  DenseMatrix kernel = pseudoinverse(full);
  for (std::size_t i = 0; i < kernel.rows(); ++i) {
    for (std::size_t j = 0; j < kernel.rows(); ++j) {
      kernel(i, j) *= mean;
      if (component[i] == component[j])
        kernel(i, j) += game.per_square ? 1 / (size[component[i]] * size[component[i]]) : game.b;
      if (component[i] != component[j]) kernel(i, j) = 0;
      if (i == j) kernel(i, j) += game.c;
    }
  }
  return kernel;
}

class OnlineKernelTwin {
 public:
  OnlineKernelTwin(const GraphView& graph, const KernelGame& game)
      : game_(game),
        kernel_(online_kernel(graph, game)),
        component_(laplacian_components(laplacian(graph))) {}

  /// The method's own guess: class index, or -1 while nothing is known; the most frequent class in a
  /// component without a label.
  int guess(NodeId node) const {
    if (count_.empty()) return -1;
    bool is_reached = false;
    for (const auto& entry : label_) is_reached |= component_[entry.first] == component_[node];
    std::map<int, long double> f;
    for (const int c : classes_) f[c] = is_reached ? value(c, node) : 0;
    long double most = -1e300L;
    for (const auto& entry : f) most = std::max(most, entry.second);
    int best = -1;
    for (const auto& entry : f) {
      if (entry.second < most - 2 * zero()) continue;
      if (best < 0 || prefers(entry.first, best)) best = entry.first;
    }
    return best;
  }

  /// One trial; whether anything was corrected.
  bool reveal(NodeId node, int label) {
    const bool changed = learn(node, label);
    if (label_.contains(node) && --count_[label_[node]] == 0) count_.erase(label_[node]);
    if (!label_.contains(node)) order_.push_back(node);
    label_[node] = label;
    ++count_[label];
    return changed;
  }

  long double value(int c, NodeId node) const {
    if (game_.method == KernelGame::Method::interpolation) return interpolated(c, node);
    long double sum = 0;
    for (const auto& step : steps_)
      if (step.of_class == c) sum += step.amount * kernel_(node, step.node);
    return sum;
  }

 private:
  struct Step {
    int of_class;
    NodeId node;
    long double amount;
  };

  bool prefers(int a, int b) const { return count(a) != count(b) ? count(a) > count(b) : a < b; }
  int count(int c) const { return count_.contains(c) ? count_.at(c) : 0; }
  long double zero() const {
    return 1e-6L * (game_.method == KernelGame::Method::interpolation ? 1 : largest_);
  }

  void meet(int label) {
    if (!classes_.insert(label).second) return;
    if (classes_.size() != 2) return;
    for (std::size_t i = steps_.size(); i-- > 0;)
      steps_.push_back({label, steps_[i].node, -steps_[i].amount});
  }

  bool is_wrong(int c, int label, NodeId node) const {
    const long double y = c == label ? 1 : -1, f = value(c, node);
    if (std::fabs(f) > zero()) return y * f < 0;
    int total = 0;
    for (const auto& entry : count_) total += entry.second;
    if (game_.zero_is_mistake || total == 0) return true;
    const int own = count(c), rest = total - own;
    const bool yes = own != rest ? own > rest : c == *classes_.begin();
    return yes != (c == label);
  }

  bool learn(NodeId node, int label) {
    using Method = KernelGame::Method;
    if (game_.method == Method::interpolation) return interpolate(node, label);
    meet(label);
    std::vector<int> wrong;
    for (const int c : classes_) {
      const long double y = c == label ? 1 : -1, f = value(c, node);
      const bool is_met =
          game_.method == Method::one_projection ? std::fabs(y - f) <= zero() : y * f >= 1 - zero();
      if (is_wrong(c, label, node) || (game_.aggressive && !is_met)) wrong.push_back(c);
    }
    if (wrong.empty() || !(kernel_(node, node) > 1e-12)) return false;
    for (const int c : wrong) correct(c, node, c == label ? 1 : -1);
    if (game_.method == Method::cyclic) cycle(node, label);
    return true;
  }

  void correct(int c, NodeId node, long double y) {
    const long double diagonal = kernel_(node, node);
    const long double amount =
        game_.method == KernelGame::Method::perceptron ? y : (y - value(c, node)) / diagonal;
    steps_.push_back({c, node, amount});
    largest_ = std::max(largest_, std::fabs(amount) * diagonal);
  }

  void cycle(NodeId node, int label) {
    auto labels = label_;
    auto order = order_;
    if (!labels.contains(node)) order.push_back(node);
    labels[node] = label;
    for (int sweep = 0; sweep < game_.max_sweeps; ++sweep) {
      bool right = true;
      for (const NodeId seen : order) {
        if (!(kernel_(seen, seen) > 1e-12)) continue;
        for (const int c : born()) {
          const long double y = c == labels[seen] ? 1 : -1;
          if (!(y * value(c, seen) < -zero())) continue;
          correct(c, seen, y);
          right = false;
        }
      }
      if (right) return;
    }
  }
  /// Classes in the order in which their first labels came: that of the method's functions.
  std::vector<int> born() const {
    std::vector<int> order;
    for (const Step& step : steps_)
      if (std::find(order.begin(), order.end(), step.of_class) == order.end()) order.push_back(step.of_class);
    return order;
  }

  bool interpolate(NodeId node, int label) {
    // The first label of a second class speaks against the first; a third has a function of its own, still 0.
    bool wrong = game_.aggressive || classes_.empty() || (classes_.size() > 1 && !classes_.contains(label));
    if (!wrong)
      for (const int c : classes_) wrong |= is_wrong(c, label, node);
    std::map<NodeId, int> told = label_;
    told[node] = label;
    if (wrong || !classes_.contains(label)) {
      classes_.clear();
      for (const auto& entry : told) classes_.insert(entry.second);
    }
    if (wrong) met_ = told;
    return wrong;
  }

  /// K_iS K_SS^-1 y over the labelled nodes S of the component; the labels themselves at S.
  long double interpolated(int c, NodeId node) const {
    if (met_.contains(node)) return met_.at(node) == c ? 1 : -1;
    std::vector<NodeId> given;
    for (const auto& entry : met_)
      if (component_[entry.first] == component_[node]) given.push_back(entry.first);
    if (given.empty()) return 0;
    DenseMatrix gram(given.size(), given.size()), right(given.size(), 1);
    for (std::size_t i = 0; i < given.size(); ++i) {
      for (std::size_t j = 0; j < given.size(); ++j) gram(i, j) = kernel_(given[i], given[j]);
      right(i, 0) = met_.at(given[i]) == c ? 1 : -1;
    }
    eliminate(gram, right);
    long double sum = 0;
    for (std::size_t i = 0; i < given.size(); ++i) sum += kernel_(node, given[i]) * right(i, 0);
    return sum;
  }

  KernelGame game_;
  DenseMatrix kernel_;
  std::vector<std::size_t> component_;
  std::set<int> classes_;
  std::map<NodeId, int> label_, met_;
  std::vector<NodeId> order_;
  std::map<int, int> count_;
  std::vector<Step> steps_;
  long double largest_ = 0;
};

}  // namespace copse::oracle
