// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "laplacian/column_block.hpp"
#include "laplacian/laplacian_system.hpp"

namespace copse {

/// Columns [first, first + width) of the caller's arrays, b[node * columns + column], on their way into the
/// iterations and out again. `order[i]` is the caller's number of node i; empty for the same order.
class RightHandSides {
 public:
  RightHandSides(const LaplacianSystem& given, std::span<const double> b, std::span<double> x,
                 std::size_t columns, std::size_t first, int width);

  int width() const { return width_; }

  /// r = b: 0 where x is fixed, at most 2 in size, the means of singular components taken off.
  void load(const LaplacianSystem& system, std::span<const NodeId> order, double* r) const;

  /// r = b - L x, from scratch.
  void load_residual(const LaplacianSystem& system, std::span<const NodeId> order, const double* x,
                     double* r) const;

  /// x, in the caller's order and size.
  void store(const LaplacianSystem& system, std::span<const NodeId> order, const double* solved) const;

 private:
  std::span<const double> b_;
  std::span<double> x_;
  std::size_t columns_, first_;
  int width_;
  ColumnValues scale_{};  // powers of two: no digit changes, and no square overflows
};

}  // namespace copse
