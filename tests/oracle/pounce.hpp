// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "oracle/linear_algebra.hpp"

// Pounce (Herbster 2008) with the pseudoinverse as a matrix, its resistances looked up pair by pair, and w as
// a sum over all corrections: the twin of the learner.

namespace copse::oracle {

class PounceTwin {
 public:
  /// `tie` is the share of the largest stored L^+_jj within which two resistances count as equal.
  PounceTwin(const GraphView& graph, bool zero_is_mistake, double tie)
      : pinv_(pseudoinverse(laplacian(graph))),
        component_(laplacian_components(laplacian(graph))),
        zero_is_mistake_(zero_is_mistake),
        tie_(tie) {}

  int guess(NodeId node) const {
    if (count_.empty()) return -1;
    const int nearest = nearest_example(node);
    std::map<int, long double> f;
    for (const int c : classes_) f[c] = nearest < 0 ? 0 : margin(c, node, examples_[nearest]);
    return winner(f).first;
  }

  bool reveal(NodeId node, int label) {
    const bool changed = learn(node, label);
    if (label_.contains(node) && --count_[label_[node]] == 0) count_.erase(label_[node]);
    label_[node] = label;
    ++count_[label];
    return changed;
  }

  std::size_t num_stored() const { return examples_.size(); }

 private:
  struct Example {
    NodeId node;
    int label;
  };
  struct Step {
    int of_class;
    NodeId t, s;
    long double amount;
  };

  long double r(NodeId a, NodeId b) const { return pinv_(a, a) + pinv_(b, b) - 2 * pinv_(a, b); }

  int nearest_example(NodeId node) const {
    long double least = 1e300L, largest = 0;
    for (const Example& example : examples_) {
      largest = std::max<long double>(largest, pinv_(example.node, example.node));
      if (component_[example.node] == component_[node]) least = std::min(least, r(node, example.node));
    }
    for (std::size_t i = 0; i < examples_.size(); ++i)
      if (examples_[i].node == node) return static_cast<int>(i);
    for (std::size_t i = 0; i < examples_.size(); ++i)
      if (component_[examples_[i].node] == component_[node] &&
          r(node, examples_[i].node) <= least + tie_ * largest)
        return static_cast<int>(i);
    return -1;
  }

  long double w(int c, NodeId node) const {
    long double sum = 0;
    for (const Step& step : steps_)
      if (step.of_class == c) sum += step.amount * (pinv_(node, step.t) - pinv_(node, step.s));
    return sum;
  }
  long double margin(int c, NodeId node, const Example& example) const {
    return (example.label == c ? 1 : -1) + w(c, node) - w(c, example.node);
  }

  /// The class that wins and whether others come as far.
  std::pair<int, bool> winner(const std::map<int, long double>& f) const {
    long double most = -1e300L;
    for (const auto& entry : f) most = std::max(most, entry.second);
    int best = -1, num_best = 0;
    const auto count = [&](int c) { return count_.contains(c) ? count_.at(c) : 0; };
    for (const auto& entry : f) {
      if (entry.second < most - 2e-6L * largest_) continue;
      ++num_best;
      if (best < 0 || count(entry.first) > count(best)) best = entry.first;
    }
    return {best, num_best > 1};
  }

  bool learn(NodeId node, int label) {
    if (classes_.insert(label).second && classes_.size() == 2)
      for (std::size_t i = steps_.size(); i-- > 0;)
        steps_.push_back({label, steps_[i].t, steps_[i].s, -steps_[i].amount});
    const int nearest = nearest_example(node);
    if (nearest < 0) {
      examples_.push_back({node, label});
      return true;
    }
    const Example example = examples_[nearest];
    std::map<int, long double> f;
    for (const int c : classes_) f[c] = margin(c, node, example);
    const auto [best, is_tie] = winner(f);
    if (best == label && !(zero_is_mistake_ && is_tie)) return false;
    if (example.node == node) {
      examples_[nearest].label = label;
      return true;
    }
    for (const auto& entry : f) {
      const long double missing = (entry.first == label ? 1 : -1) - entry.second;
      largest_ = std::max(largest_, std::fabs(missing));
      steps_.push_back({entry.first, node, example.node, missing / r(node, example.node)});
    }
    examples_.push_back({node, label});
    return true;
  }

  DenseMatrix pinv_;
  std::vector<std::size_t> component_;
  bool zero_is_mistake_;
  double tie_;
  std::set<int> classes_;
  std::map<NodeId, int> label_;
  std::map<int, int> count_;
  std::vector<Example> examples_;
  std::vector<Step> steps_;
  long double largest_ = 1;
};

}  // namespace copse::oracle
