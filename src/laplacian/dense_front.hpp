// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace copse {

/// A frontal matrix of `rows` rows, of which the first `pivots` columns are to be eliminated. Matrices lie
/// column by column; what is above a diagonal is scratch.
struct DenseFront {
  double* panel;  // rows x pivots: comes in as the matrix, goes out as columns of L
  std::size_t rows, pivots;
  double* rest;  // (rows - pivots) squared: the products of the new columns are subtracted from it
};

/// Cholesky factorization of the first columns, A = L L^T; false when a pivot is not positive and finite.
/// Every entry is the same sequence of multiplications and subtractions on every machine. `packed` is
/// scratch.
bool eliminate(const DenseFront& front, std::vector<double>& packed);

}  // namespace copse
