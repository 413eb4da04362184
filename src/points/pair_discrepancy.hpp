// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "copse/points/neighbors.hpp"
#include "copse/support/buffer.hpp"

namespace copse {

/// The discrepancy of pairs of points as neighbors.hpp defines it: what exact answers are ranked by.
class PairDiscrepancy {
 public:
  /// Cosine needs the squared lengths of all rows; a row of zeros is an InputError.
  PairDiscrepancy(const PointsView& points, Metric metric, int threads);

  double of(NodeId a, NodeId b) const;
  /// of(a, others[i]) into out[i]. Several sums side by side, each still in the order of the columns.
  void of(NodeId a, std::span<const NodeId> others, double* out) const;

  const PointsView& points() const { return points_; }
  Metric metric() const { return metric_; }
  /// Sum of squares of a row, in order; cosine only.
  double squared_length(NodeId a) const { return squared_lengths_[a]; }

 private:
  double finish(double sum, NodeId a, NodeId b) const;

  PointsView points_;
  Metric metric_;
  Buffer<double> squared_lengths_;
};

}  // namespace copse
