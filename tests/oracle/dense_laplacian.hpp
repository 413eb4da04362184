// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "oracle/linear_algebra.hpp"

// The Laplacian system with grounded nodes, dense: the twin of LaplacianSolver.

namespace copse::oracle {

/// The matrix that takes b to the answer LaplacianSolver promises. Without grounded nodes that is L^+. With
/// some, it is the inverse of L_UU in the components that hold a grounded node (0 in grounded rows and
/// columns) and the pseudoinverse in the others.
inline DenseMatrix grounded_pseudoinverse(const GraphView& graph, std::span<const NodeId> grounded = {}) {
  const DenseMatrix full = laplacian(graph);
  const std::size_t n = full.rows();
  const auto component = laplacian_components(full);
  std::vector<bool> is_grounded(n), has_ground(n);
  for (const NodeId g : grounded) is_grounded[g] = true;
  for (const NodeId g : grounded) has_ground[component[g]] = true;
  std::vector<double> size(n);
  for (const std::size_t c : component) size[c] += 1;
  // Singular components are shifted by the projection on their constants, grounded rows become the
  // identity's; each is taken off the inverse again.
  const auto shift = [&](std::size_t i, std::size_t j) {
    if (is_grounded[i] || is_grounded[j]) return i == j ? 1.0 : 0.0;
    return component[i] == component[j] && !has_ground[component[i]] ? 1 / size[component[i]] : 0.0;
  };
  DenseMatrix shifted(n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      shifted(i, j) = (is_grounded[i] || is_grounded[j] ? 0 : full(i, j)) + shift(i, j);
  DenseMatrix result = inverse(shifted);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) result(i, j) -= shift(i, j);
  return result;
}

/// matrix * b for `columns` right-hand sides that lie side by side, b[node * columns + column].
inline std::vector<double> multiply(const DenseMatrix& matrix, std::span<const double> b,
                                    std::size_t columns = 1) {
  std::vector<double> x(matrix.rows() * columns);
  for (std::size_t i = 0; i < matrix.rows(); ++i)
    for (std::size_t j = 0; j < matrix.columns(); ++j)
      for (std::size_t c = 0; c < columns; ++c) x[i * columns + c] += matrix(i, j) * b[j * columns + c];
  return x;
}

/// ||a - b|| / ||b||, column by column, the largest; 0 where both are 0.
inline double relative_difference(std::span<const double> a, std::span<const double> b, std::size_t columns) {
  double worst = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    double difference = 0, norm = 0;
    for (std::size_t i = c; i < b.size(); i += columns) {
      difference += (a[i] - b[i]) * (a[i] - b[i]);
      norm += b[i] * b[i];
    }
    if (!(difference == 0)) worst = std::fmax(worst, std::sqrt(difference / norm));
    if (std::isnan(difference)) return difference;
  }
  return worst;
}

}  // namespace copse::oracle
