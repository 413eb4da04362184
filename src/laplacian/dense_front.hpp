// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace copse {

/// The dense part of a sparse factorization: a front of `rows` rows, of which the first `pivots` columns are
/// eliminated. Matrices lie column by column; what is above a diagonal is scratch.
struct DenseFront {
  double* panel;  // rows x pivots: comes in as the matrix, goes out as columns of L
  std::size_t rows, pivots;
  double* rest;  // (rows - pivots) squared: the products of the new columns are subtracted from it
};

/// Cholesky factorization of the first columns of a front, A = L L^T. Every entry is the same sequence of
/// multiplications and subtractions on every machine: wider registers work on more entries at a time, not on
/// more terms of one. That is why this is not a BLAS, whose bits depend on the processor.
class FrontFactorizer {
 public:
  explicit FrontFactorizer(bool may_be_wide = true);

  /// False when a pivot is not positive and finite.
  bool factor(const DenseFront& front);

 private:
  bool factor_columns(const DenseFront& front, std::size_t from, std::size_t to) const;

  /// Subtracts the products of the columns [from, to) from the columns [begin, end), which lie all in the
  /// panel or are all of the rest.
  void subtract(const DenseFront& front, std::size_t from, std::size_t to, std::size_t begin,
                std::size_t end);

  bool is_wide_;
  std::vector<double> packed_;
};

}  // namespace copse
