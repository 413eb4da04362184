// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "copse/graph/types.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// The hypothesis of the projection algorithm (Herbster, Pontil & Wainer 2005, algorithm 2 with U_t = {t},
/// noncyclic, aggressive), one function a class: +1 is wanted at its own labels, -1 at all others. With two
/// classes one function is the other's negative, and this is the paper's g. A further function stands for a
/// class that nobody has named yet and takes -1 everywhere; a class starts as its copy.
class ClassFunctions {
 public:
  explicit ClassFunctions(NodeId num_nodes) : unseen_(num_nodes) {}

  std::size_t num_classes() const { return of_class_.size(); }

  /// Replaces the functions: values[c] is that of class c, the last one that of a class unseen.
  void assign(std::vector<std::vector<double>> values);

  /// Projects every function onto what `label` at `node` asks of it: g += (y - g_node) / K_nodenode K_node.
  /// `column` is K_node, the column of L^+. Returns the progress, ||g - g'||^2 summed over the functions and
  /// halved, which for two classes is that of the paper's g. Nothing moves where K_nodenode is 0: the node is
  /// a component of its own, and H(G) holds nothing but 0 there.
  double project(NodeId node, Label label, std::span<const double> column, int threads);

  /// Criterion 15 but for its division by K_ii: the smallest of ||distance to the half-spaces||^2 over the
  /// labels the node may turn out to have. (min(|g|, 1) - 1)^2 for two classes.
  double least_progress(NodeId node) const;
  /// Half of what the best function is above the second: |g| for two classes.
  double margin(NodeId node) const;
  /// The class of the best function, the first of equal ones. It may be num_classes(), the one unseen, while
  /// fewer than two have a name.
  Label best(NodeId node) const;

 private:
  /// How many functions compete, and the value of each: two at least.
  std::size_t num_rivals() const { return num_classes() < 2 ? 2 : num_classes(); }
  double value(std::size_t rival, NodeId node) const {
    return rival < num_classes() ? of_class_[rival][node] : unseen_[node];
  }

  std::vector<std::vector<double>> of_class_;
  std::vector<double> unseen_;
};

}  // namespace copse
