// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "oracle/graphs.hpp"
#include "oracle/linear_algebra.hpp"

// Graphs with negative edges, and what learners say about them, by dense matrices and by trying everything.

namespace copse::oracle {

/// About `share` of the edges become negative.
inline std::vector<Edge> with_signs(std::vector<Edge> edges, std::uint64_t seed, double share = 0.4) {
  std::mt19937_64 random(seed + 77);
  for (Edge& edge : edges)
    if (static_cast<double>(random() % 1000) < 1000 * share) edge.weight = -edge.weight;
  return edges;
}

/// Flips the signs of all edges with one end in the set.
inline std::vector<Edge> switched(std::vector<Edge> edges, const std::vector<bool>& set) {
  for (Edge& edge : edges)
    if (set[edge.u] != set[edge.v]) edge.weight = -edge.weight;
  return edges;
}
inline std::vector<Label> switched(std::vector<Label> labels, const std::vector<bool>& set) {
  for (std::size_t u = 0; u < labels.size(); ++u)
    if (set[u] && labels[u] != kNoLabel) labels[u] = static_cast<Label>(1 - labels[u]);
  return labels;
}

/// sum over edges of |w| (f_u - sign f_v)^2, as a matrix (Herbster 2008).
inline DenseMatrix signed_laplacian(std::size_t n, const std::vector<Edge>& edges) {
  DenseMatrix l(n, n);
  for (const Edge& edge : edges) {
    l(edge.u, edge.u) += std::fabs(edge.weight);
    l(edge.v, edge.v) += std::fabs(edge.weight);
    l(edge.u, edge.v) -= edge.weight;
    l(edge.v, edge.u) -= edge.weight;
  }
  return l;
}

/// f = +1 for class 0 and -1 for class 1 where it is known, and L f = 0 elsewhere.
inline std::vector<double> signed_harmonic(std::size_t n, const std::vector<Edge>& edges,
                                           const std::vector<Label>& labels) {
  const DenseMatrix l = signed_laplacian(n, edges);
  std::vector<double> f(n);
  std::vector<std::size_t> unknown;
  for (std::size_t u = 0; u < n; ++u) {
    if (labels[u] == kNoLabel)
      unknown.push_back(u);
    else
      f[u] = labels[u] == 0 ? 1 : -1;
  }
  DenseMatrix matrix(unknown.size(), unknown.size()), right(unknown.size(), 1);
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    for (std::size_t j = 0; j < unknown.size(); ++j) matrix(i, j) = l(unknown[i], unknown[j]);
    for (std::size_t u = 0; u < n; ++u) right(i, 0) -= l(unknown[i], u) * f[u];
  }
  eliminate(matrix, right);
  for (std::size_t i = 0; i < unknown.size(); ++i) f[unknown[i]] = right(i, 0);
  return f;
}

/// The weight of the edges that a labelling contradicts: positive ones with ends that differ, negative ones
/// with ends that agree.
inline double signed_cut(const std::vector<Edge>& edges, const std::vector<Label>& labels) {
  double cut = 0;
  for (const Edge& edge : edges)
    if ((labels[edge.u] == labels[edge.v]) == (edge.weight < 0)) cut += std::fabs(edge.weight);
  return cut;
}

/// The least cut of a labelling that agrees with `labels` and gives `node` this label, by trying all.
inline double least_signed_cut(std::vector<Label> labels, const std::vector<Edge>& edges, NodeId node,
                               Label label) {
  labels[node] = label;
  std::vector<std::size_t> open;
  for (std::size_t u = 0; u < labels.size(); ++u)
    if (labels[u] == kNoLabel) open.push_back(u);
  double least = 1e300;
  for (std::uint64_t choice = 0; choice < std::uint64_t{1} << open.size(); ++choice) {
    for (std::size_t i = 0; i < open.size(); ++i) labels[open[i]] = static_cast<Label>(choice >> i & 1);
    least = std::min(least, signed_cut(edges, labels));
  }
  return least;
}

}  // namespace copse::oracle
