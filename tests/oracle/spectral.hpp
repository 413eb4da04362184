// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "copse/graph/graph.hpp"

// The spectral embedding and ridge regression on it with dense matrices, by their definitions.

namespace copse::oracle {

/// Eigenvalues and eigenvectors of (D + tau I)^-1/2 A (D + tau I)^-1/2, largest in size first.
struct Spectrum {
  std::vector<double> values;
  Eigen::MatrixXd vectors;
  double size(std::size_t i) const { return std::fabs(values[i]); }
};

inline Eigen::MatrixXd adjacency(const GraphView& graph) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(graph.num_nodes(), graph.num_nodes());
  for (NodeId u = 0; u < graph.num_nodes(); ++u)
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      a(u, graph.neighbors[arc]) = static_cast<double>(graph.weight(arc));
  return a;
}

inline Spectrum spectrum(const GraphView& graph, double tau_in_mean_degrees) {
  const Eigen::MatrixXd a = adjacency(graph);
  const Eigen::Index n = a.rows();
  Eigen::VectorXd degrees = a.rowwise().sum();
  degrees.array() += tau_in_mean_degrees * degrees.mean();
  const Eigen::VectorXd roots = degrees.unaryExpr([](double d) { return d > 0 ? 1 / std::sqrt(d) : 0; });
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(roots.asDiagonal() * a * roots.asDiagonal());
  std::vector<Eigen::Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::sort(order.begin(), order.end(), [&](Eigen::Index i, Eigen::Index j) {
    return std::fabs(solver.eigenvalues()[i]) > std::fabs(solver.eigenvalues()[j]);
  });
  Spectrum result{{}, Eigen::MatrixXd(n, n)};
  for (const Eigen::Index i : order) {
    result.vectors.col(static_cast<Eigen::Index>(result.values.size())) = solver.eigenvectors().col(i);
    result.values.push_back(solver.eigenvalues()[i]);
  }
  return result;
}

/// Rows of length 1, or 0 where they are 0.
inline Eigen::MatrixXd unit_rows(Eigen::MatrixXd rows) {
  for (Eigen::Index u = 0; u < rows.rows(); ++u) {
    const double length = rows.row(u).norm();
    rows.row(u) *= length < 1e-12 ? 0 : 1 / length;
  }
  return rows;
}

/// Rows of U diag(w), of length 1.
inline Eigen::MatrixXd spectral_rows(const GraphView& graph, double tau, std::size_t dimension) {
  const Spectrum found = spectrum(graph, tau);
  Eigen::MatrixXd rows = found.vectors.leftCols(static_cast<Eigen::Index>(dimension));
  for (std::size_t c = 0; c < dimension; ++c) rows.col(static_cast<Eigen::Index>(c)) *= found.values[c];
  return unit_rows(std::move(rows));
}

/// Values at all rows of x of the ridge regression of the targets y of some of them, with an intercept that
/// costs nothing: the normal equations.
inline Eigen::MatrixXd ridge(const Eigen::MatrixXd& x, const std::vector<Eigen::Index>& known,
                             const Eigen::MatrixXd& y, double lambda) {
  const Eigen::Index l = y.rows(), d = x.cols();
  Eigen::MatrixXd with_one(l, d + 1), all(x.rows(), d + 1);
  for (Eigen::Index i = 0; i < l; ++i) with_one.row(i) << x.row(known[static_cast<std::size_t>(i)]), 1;
  for (Eigen::Index i = 0; i < x.rows(); ++i) all.row(i) << x.row(i), 1;
  Eigen::MatrixXd normal = with_one.transpose() * with_one;
  normal.diagonal().head(d).array() += lambda;
  return all * normal.fullPivLu().solve(with_one.transpose() * y);
}

}  // namespace copse::oracle
