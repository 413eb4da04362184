// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "oracle/linear_algebra.hpp"

// Algorithm 2 and the active methods of Herbster, Pontil & Wainer 2005 with a dense kernel and two classes,
// as they stand in the paper: labels are +1 and -1, w_1 = 0, K = L^+.

namespace copse::oracle {

struct DenseProjection {
  explicit DenseProjection(const GraphView& graph)
      : kernel(pseudoinverse(laplacian(graph))), g(kernel.rows()) {}

  int predict(std::size_t i) const { return g[i] > 0 ? 1 : g[i] < 0 ? -1 : 0; }

  /// U_t = {t}, noncyclic: onto the affine set. Returns ||w_t - w_t+1||^2.
  double project(std::size_t i, double y) {
    const double step = (y - g[i]) / kernel(i, i);
    for (std::size_t j = 0; j < g.size(); ++j) g[j] += step * kernel(i, j);
    return step * step * kernel(i, i);
  }
  /// Onto the half-space y g_i >= 1.
  double project_half(std::size_t i, double y) {
    const double step = y * std::max(0.0, 1 - y * g[i]) / kernel(i, i);
    for (std::size_t j = 0; j < g.size(); ++j) g[j] += step * kernel(i, j);
    return step * step * kernel(i, i);
  }
  /// Criterion 15.
  double certain_progress(std::size_t i) const {
    const double short_of = std::min(std::fabs(g[i]), 1.0) - 1;
    return kernel(i, i) > 1e-12 ? short_of * short_of / kernel(i, i) : 0;
  }

  DenseMatrix kernel;
  std::vector<double> g;
};

/// The minimum-norm interpolant by the representer theorem: g = K_.S c with K_SS c = y.
inline std::vector<double> dense_interpolant(const DenseMatrix& kernel, std::span<const std::size_t> at,
                                             std::span<const double> y) {
  DenseMatrix gram(at.size(), at.size());
  for (std::size_t i = 0; i < at.size(); ++i)
    for (std::size_t j = 0; j < at.size(); ++j) gram(i, j) = kernel(at[i], at[j]);
  const DenseMatrix solve = inverse(gram);
  std::vector<double> g(kernel.rows());
  for (std::size_t j = 0; j < at.size(); ++j) {
    double c = 0;
    for (std::size_t i = 0; i < at.size(); ++i) c += solve(j, i) * y[i];
    for (std::size_t u = 0; u < g.size(); ++u) g[u] += c * kernel(u, at[j]);
  }
  return g;
}

}  // namespace copse::oracle
