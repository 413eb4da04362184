// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "copse/graph/graph.hpp"

namespace copse {

/// Solves (I - alpha S + ridge 1[labelled]) f = y for each class, where S = D^-1/2 A D^-1/2 and y is 1 at the
/// labels of the class, and keeps it solved while labels arrive. With a ridge of 0 this is the sum of the
/// columns of the PageRank kernel (I - alpha S)^-1 at these labels, with another one kernel ridge regression
/// of 0 and 1. A label changes one row of the residual, which is pushed on to neighbours until little is left
/// anywhere (Andersen, Chung & Lang 2006): the cost is that of the part of the graph that notices.
class PushedKernel {
 public:
  /// `small`: a residual that stays where it is, at a node of mean degree.
  PushedKernel(const GraphView& graph, double alpha, double ridge, double small)
      : graph_(graph), ridge_(ridge), small_(small), scale_(graph.num_nodes()), waits_(graph.num_nodes()) {
    double mean = 0;
    for (NodeId u = 0; u < graph.num_nodes(); ++u) mean += weighted_degree(graph, u) / graph.num_nodes();
    // In units of the mean: the same whatever the scale of the weights. A node of 10^-30 of it counts as one
    // of more, whose scale a float can hold.
    for (NodeId u = 0; u < graph.num_nodes(); ++u)
      scale_[u] = graph.degree(u) == 0
                      ? 1
                      : static_cast<float>(std::min(std::sqrt(mean / weighted_degree(graph, u)), 1e15));
    per_weight_ = mean > 0 ? alpha / mean : 0;
    clear();
  }

  /// The node had no label.
  void add(NodeId node, Label label) {
    if (label >= columns_.size())
      columns_.resize(std::size_t{label} + 1,
                      {std::vector<float>(scale_.size()), std::vector<float>(scale_.size())});
    diagonal_[node] = static_cast<float>(1 + ridge_);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      float& residual = columns_[c].residual[node];
      residual += static_cast<float>((c == label ? 1 : 0) - ridge_ * double{columns_[c].value[node]});
      push(columns_[c], node);
    }
  }

  double value(NodeId node, Label label) const {
    return label < columns_.size() ? double{columns_[label].value[node]} : 0;
  }

  void clear() {
    columns_.clear();
    diagonal_.assign(scale_.size(), 1);
  }

 private:
  struct Column {
    std::vector<float> value, residual;
  };
  /// At nodes of hardly any degree the last millionth of a value is not worth its pushes.
  bool is_large(const Column& column, NodeId u) const {
    return std::fabs(column.residual[u]) * std::min(scale_[u], 1e3F) > small_;
  }

  void push(Column& column, NodeId from) {
    queue_.assign(1, from);
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      const NodeId u = queue_[next];
      waits_[u] = 0;
      if (!is_large(column, u)) continue;
      const double step = double{column.residual[u]} / double{diagonal_[u]};
      column.residual[u] = 0;
      column.value[u] += static_cast<float>(step);
      for (EdgeIndex arc = graph_.offsets[u]; arc < graph_.offsets[u + 1]; ++arc) {
        const NodeId v = graph_.neighbors[arc];
        column.residual[v] += static_cast<float>(step * per_weight_ * double{graph_.weight(arc)} *
                                                 double{scale_[u]} * double{scale_[v]});
        if (waits_[v] != 0 || !is_large(column, v)) continue;
        waits_[v] = 1;
        queue_.push_back(v);
      }
    }
  }

  GraphView graph_;
  double ridge_, small_, per_weight_ = 0;
  std::vector<float> scale_;  // D^-1/2
  std::vector<float> diagonal_;
  std::vector<Column> columns_;  // by class
  std::vector<char> waits_;      // is in the queue
  std::vector<NodeId> queue_;
};

}  // namespace copse
