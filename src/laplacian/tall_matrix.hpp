// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Dense>

#include "copse/graph/graph.hpp"
#include "copse/support/buffer.hpp"
#include "copse/support/execution.hpp"

namespace copse {

/// A row of floats for every node, a few hundred at most: several vectors at once, which one pass over the
/// graph then serves. All sums are over fixed blocks of rows, in order: the same bits on any number of
/// threads.
class TallMatrix {
 public:
  static constexpr std::size_t kPanel = 16;  // the number of columns is a multiple of it

  TallMatrix() = default;
  TallMatrix(std::size_t num_rows, std::size_t num_columns)
      : num_rows_(num_rows), num_columns_(num_columns), values_(num_rows * num_columns) {}

  std::size_t num_rows() const { return num_rows_; }
  std::size_t num_columns() const { return num_columns_; }
  float* row(std::size_t i) { return values_.data() + i * num_columns_; }
  const float* row(std::size_t i) const { return values_.data() + i * num_columns_; }

  /// This = this times `factor`; with `is_upper`, nothing below the diagonal of which is looked at.
  void multiply(const Eigen::MatrixXd& factor, bool is_upper, const Execution& execution);

  /// Keeps the first `count` numbers of every row, and the rows only.
  Buffer<float> take_columns(std::size_t count) &&;

 private:
  std::size_t num_rows_ = 0, num_columns_ = 0;
  Buffer<float> values_;
};

/// a' b of matrices of one shape, of which it is known that the product is symmetric. Floats within 32 rows,
/// beyond them doubles.
Eigen::MatrixXd symmetric_product(const TallMatrix& a, const TallMatrix& b, const Execution& execution);

/// to = S A S from, with the adjacency matrix A and the diagonal matrix S of `scale`.
void multiply_adjacency(const GraphView& graph, std::span<const double> scale, const TallMatrix& from,
                        TallMatrix& to, const Execution& execution);

}  // namespace copse
