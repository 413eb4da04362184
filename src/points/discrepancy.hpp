// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "copse/points/neighbors.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/execution.hpp"

// How far points are apart: exactly (discrepancy.cpp), and in single precision, many pairs at a time
// (keys.cpp).

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

/// Single-precision stand-ins for discrepancies, many at a time, with a bound on their error.
///
/// key~(i, j) = products + (norm(i) + norm(j)) stands for key(i, j) = scale * discrepancy(i, j), and
///     key(i, j) <= T  implies  key~(i, j) <= reach(i, T),
/// so that pairs with key~ above reach(i, T) are out without being looked at in double precision.
class KeySource {
 public:
  virtual ~KeySource() = default;

  /// products[r * (end - begin) + (j - begin)] for every r of `rows` and j in [begin, end).
  virtual void products(std::span<const NodeId> rows, NodeId begin, NodeId end, float* out) const = 0;
  virtual std::size_t rows_at_once() const = 0;
  virtual std::size_t columns_at_once() const = 0;

  NodeId num_points() const { return static_cast<NodeId>(norms_.size()); }
  std::span<const float> norms() const { return norms_.span(); }
  double scale() const { return scale_; }
  float reach(NodeId row, double key) const {
    const double bound = key * stretch_ + slack_[row];
    if (!(bound < std::numeric_limits<float>::max())) return std::numeric_limits<float>::infinity();
    const auto rounded = static_cast<float>(bound);
    return rounded >= bound ? rounded : std::nextafter(rounded, std::numeric_limits<float>::infinity());
  }

 protected:
  // After norms_ are set; inner: and squared lengths in slack_. `num_terms` bounds the roundings in one
  // product.
  void set_errors(Metric metric, std::uint64_t num_terms);

  Buffer<float> norms_;
  Buffer<double> slack_;
  double scale_ = 1, stretch_ = 1;
};

/// Dense rows, moved to their mean and scaled to [-1, 1] (inner: only scaled), filled up with zeros to whole
/// registers.
class DenseKeys final : public KeySource {
 public:
  DenseKeys(const PairDiscrepancy& exact, int threads);
  void products(std::span<const NodeId> rows, NodeId begin, NodeId end, float* out) const override;
  std::size_t rows_at_once() const override { return 256; }
  std::size_t columns_at_once() const override { return 1024; }

  const float* row(std::size_t i) const { return rows_.data() + i * stride_; }
  std::size_t stride() const { return stride_; }
  static std::size_t stride_of(std::uint64_t num_columns) { return (num_columns + 7) / 8 * 8; }

 private:
  double factor(NodeId point) const;
  std::vector<double> column_means(int threads) const;
  double largest_value(int threads) const;

  const PairDiscrepancy& exact_;
  std::size_t stride_;
  std::vector<double> means_;
  double power_ = 1;
  Buffer<float> rows_;
};

/// Sparse rows, through the list of rows of every column.
class SparseKeys final : public KeySource {
 public:
  explicit SparseKeys(const PairDiscrepancy& exact);
  void products(std::span<const NodeId> rows, NodeId begin, NodeId end, float* out) const override;
  std::size_t rows_at_once() const override { return 8; }
  std::size_t columns_at_once() const override { return num_points(); }

 private:
  PointsView points_;
  std::vector<double> factors_;  // cosine: 1 / length of each row; otherwise the scale alone
  // All values by column, then by row: those of a column are found by bisection, as hashed features name
  // columns up to 2^32 and use few of them.
  std::vector<std::uint32_t> columns_;
  std::vector<NodeId> rows_;
  std::vector<float> values_;
};

/// `exact` has to outlive the keys.
std::unique_ptr<KeySource> make_keys(const PairDiscrepancy& exact, int threads);

/// The rows from begin to end.
std::vector<NodeId> run_of_rows(NodeId begin, NodeId end);

enum class ScanColumns { all, above_the_row };
using VisitKey = std::function<void(std::size_t slot, NodeId point, float key)>;

/// visit(slot, point, key) for every pair of rows[slot] and a point whose key is below thresholds[slot],
/// points in ascending order; with `above_the_row` at least those with a higher number than the row. A slot
/// is always visited by one thread, which may lower its threshold meanwhile; keys may then still be those of
/// the old one.
void scan_rows(const KeySource& keys, std::span<const NodeId> rows, const Execution& execution,
               const float* thresholds, ScanColumns columns, const VisitKey& visit);

/// The threshold for "at most `bound`": scanning compares by "below".
inline float just_above(float bound) { return std::nextafter(bound, std::numeric_limits<float>::infinity()); }

}  // namespace copse
