// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "copse/graph/graph.hpp"

// Dense linear algebra as it stands in a textbook, O(n^3): the twin of everything clever.

namespace copse::oracle {

class DenseMatrix {
 public:
  DenseMatrix() = default;
  DenseMatrix(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns), values_(rows * columns) {}
  double& operator()(std::size_t i, std::size_t j) { return values_[i * columns_ + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values_[i * columns_ + j]; }
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }

 private:
  std::size_t rows_ = 0, columns_ = 0;
  std::vector<double> values_;
};

inline DenseMatrix laplacian(const GraphView& graph) {
  DenseMatrix result(graph.num_nodes(), graph.num_nodes());
  for (NodeId u = 0; u < graph.num_nodes(); ++u) {
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      result(u, graph.neighbors[arc]) -= graph.weight(arc);
      result(u, u) += graph.weight(arc);
    }
  }
  return result;
}

/// Gauss-Jordan elimination with row pivoting turns `matrix` into the identity and `right` into the solution.
/// Returns the determinant of `matrix`; where that is 0, `right` means nothing.
inline double eliminate(DenseMatrix matrix, DenseMatrix& right) {
  const std::size_t n = matrix.rows();
  double determinant = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::fabs(matrix(i, k)) > std::fabs(matrix(pivot, k))) pivot = i;
    if (matrix(pivot, k) == 0) return 0;
    if (pivot != k) {
      determinant = -determinant;
      for (std::size_t j = 0; j < n; ++j) std::swap(matrix(k, j), matrix(pivot, j));
      for (std::size_t j = 0; j < right.columns(); ++j) std::swap(right(k, j), right(pivot, j));
    }
    const double inverse = 1 / matrix(k, k);
    determinant *= matrix(k, k);
    for (std::size_t j = 0; j < n; ++j) matrix(k, j) *= inverse;
    for (std::size_t j = 0; j < right.columns(); ++j) right(k, j) *= inverse;
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = matrix(i, k);
      if (i == k || factor == 0) continue;
      for (std::size_t j = 0; j < n; ++j) matrix(i, j) -= factor * matrix(k, j);
      for (std::size_t j = 0; j < right.columns(); ++j) right(i, j) -= factor * right(k, j);
    }
  }
  return determinant;
}

inline double determinant(const DenseMatrix& matrix) {
  DenseMatrix nothing(matrix.rows(), 0);
  return eliminate(matrix, nothing);
}

inline DenseMatrix inverse(const DenseMatrix& matrix) {
  DenseMatrix result(matrix.rows(), matrix.rows());
  for (std::size_t i = 0; i < matrix.rows(); ++i) result(i, i) = 1;
  if (eliminate(matrix, result) == 0) throw std::runtime_error("oracle: the matrix is singular");
  return result;
}

/// Component of every index of a Laplacian, from its pattern, by repeated relabelling.
inline std::vector<std::size_t> laplacian_components(const DenseMatrix& matrix) {
  std::vector<std::size_t> label(matrix.rows());
  for (std::size_t i = 0; i < label.size(); ++i) label[i] = i;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < label.size(); ++i)
      for (std::size_t j = 0; j < label.size(); ++j)
        if (matrix(i, j) != 0 && label[j] < label[i]) label[i] = label[j], changed = true;
  }
  return label;
}

/// Of a Laplacian: its kernel is spanned by the indicators of the components, so with J the projection on
/// it (1/size within a component) the pseudoinverse is (L + J)^-1 - J.
inline DenseMatrix pseudoinverse(const DenseMatrix& laplacian) {
  const std::size_t n = laplacian.rows();
  const auto component = laplacian_components(laplacian);
  std::vector<double> size(n);
  for (const std::size_t c : component) size[c] += 1;
  DenseMatrix shifted = laplacian;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (component[i] == component[j]) shifted(i, j) += 1 / size[component[i]];
  DenseMatrix result = inverse(shifted);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (component[i] == component[j]) result(i, j) -= 1 / size[component[i]];
  return result;
}

/// Between nodes of one component, from the pseudoinverse of the Laplacian.
inline double effective_resistance(const DenseMatrix& pseudoinverse, std::size_t u, std::size_t v) {
  return pseudoinverse(u, u) + pseudoinverse(v, v) - 2 * pseudoinverse(u, v);
}

/// Sum over the spanning trees of a connected graph of the products of their weights: any cofactor of the
/// Laplacian (Kirchhoff's matrix-tree theorem).
inline double spanning_tree_weight(const GraphView& graph) {
  const DenseMatrix full = laplacian(graph);
  if (full.rows() == 0) return 1;
  DenseMatrix minor(full.rows() - 1, full.rows() - 1);
  for (std::size_t i = 0; i < minor.rows(); ++i)
    for (std::size_t j = 0; j < minor.rows(); ++j) minor(i, j) = full(i, j);
  return determinant(minor);
}

}  // namespace copse::oracle
