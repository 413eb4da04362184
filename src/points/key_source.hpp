// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "copse/support/buffer.hpp"
#include "points/pair_discrepancy.hpp"

namespace copse {

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
  // After norms_ are set. `num_terms` bounds the roundings in one product; lengths are needed for inner only.
  void set_errors(Metric metric, std::uint64_t num_terms, std::span<const double> squared_lengths);

  Buffer<float> norms_;
  Buffer<double> slack_;
  double scale_ = 1, stretch_ = 1;
};

/// Dense rows, moved to their mean and scaled to [-1, 1] (inner: only scaled), rounded up to a whole number
/// of vector registers.
class DenseKeys final : public KeySource {
 public:
  DenseKeys(const PairDiscrepancy& exact, int threads);
  void products(std::span<const NodeId> rows, NodeId begin, NodeId end, float* out) const override;
  std::size_t rows_at_once() const override { return 256; }
  std::size_t columns_at_once() const override { return 1024; }

  float* row(NodeId i) { return rows_.data() + std::size_t{i} * stride_; }
  const float* row(NodeId i) const { return rows_.data() + std::size_t{i} * stride_; }
  std::size_t stride() const { return stride_; }
  static std::size_t stride_of(std::uint64_t num_columns) { return (num_columns + 7) / 8 * 8; }

 private:
  std::size_t stride_;
  Buffer<float> rows_;
};

/// While one of these lives, row i of the keys is that of points[i], `points` being all of them in some
/// order; norms and reach are still by point. In place: there is no second copy of the rows.
class RowsInOrder {
 public:
  RowsInOrder(DenseKeys& keys, std::span<const NodeId> points);
  ~RowsInOrder();
  RowsInOrder(const RowsInOrder&) = delete;
  RowsInOrder& operator=(const RowsInOrder&) = delete;

 private:
  DenseKeys& keys_;
  std::span<const NodeId> points_;
  std::vector<char> is_moved_;
};

/// Sparse rows, through the list of rows of every column.
class SparseKeys final : public KeySource {
 public:
  explicit SparseKeys(const PairDiscrepancy& exact);
  void products(std::span<const NodeId> rows, NodeId begin, NodeId end, float* out) const override;
  std::size_t rows_at_once() const override { return 8; }
  std::size_t columns_at_once() const override { return num_points(); }

 private:
  void number_columns();

  PointsView points_;
  std::vector<double> factors_;         // cosine: 1 / length of each row; otherwise the scale alone
  std::vector<std::uint32_t> list_of_;  // of each value of points_
  std::vector<std::uint64_t> starts_;   // of the lists, in rows_ and values_
  std::vector<NodeId> rows_;
  std::vector<float> values_;
};

std::unique_ptr<KeySource> make_keys(const PairDiscrepancy& exact, int threads);

}  // namespace copse
