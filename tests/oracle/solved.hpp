// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <vector>

#include "oracle/linear_algebra.hpp"

// The learners that solve linear systems, with dense matrices and by their definitions. Components are those
// of the Laplacian's pattern; a row that no label reaches means nothing.

namespace copse::oracle {

/// The answers of a method: scores(u, c) and whether some label reaches u.
struct DenseScores {
  DenseMatrix scores;
  std::vector<bool> reached;
  std::vector<std::size_t> component;
};

inline std::vector<bool> reached_nodes(const std::vector<std::size_t>& component,
                                       const std::vector<Label>& labels) {
  std::vector<bool> has(labels.size()), reached(labels.size());
  for (std::size_t u = 0; u < labels.size(); ++u)
    if (labels[u] != kNoLabel) has[component[u]] = true;
  for (std::size_t u = 0; u < labels.size(); ++u) reached[u] = has[component[u]];
  return reached;
}

/// L_UU f = -L_UL y, all classes.
inline DenseScores harmonic(const GraphView& graph, const std::vector<Label>& labels,
                            std::size_t num_classes) {
  const DenseMatrix l = laplacian(graph);
  DenseScores result{DenseMatrix(labels.size(), num_classes), {}, laplacian_components(l)};
  result.reached = reached_nodes(result.component, labels);
  std::vector<std::size_t> unknown;
  for (std::size_t u = 0; u < labels.size(); ++u)
    if (labels[u] == kNoLabel && result.reached[u]) unknown.push_back(u);
  DenseMatrix matrix(unknown.size(), unknown.size()), right(unknown.size(), num_classes);
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    for (std::size_t j = 0; j < unknown.size(); ++j) matrix(i, j) = l(unknown[i], unknown[j]);
    for (std::size_t u = 0; u < labels.size(); ++u)
      if (labels[u] != kNoLabel) right(i, labels[u]) -= l(unknown[i], u);
  }
  eliminate(matrix, right);
  for (std::size_t u = 0; u < labels.size(); ++u)
    if (labels[u] != kNoLabel) result.scores(u, labels[u]) = 1;
  for (std::size_t i = 0; i < unknown.size(); ++i)
    for (std::size_t c = 0; c < num_classes; ++c) result.scores(unknown[i], c) = right(i, c);
  return result;
}

/// u = L^+ sum over labelled j of e_j (y_j - mean of y in the component).
inline DenseScores poisson(const GraphView& graph, const std::vector<Label>& labels,
                           std::size_t num_classes) {
  const DenseMatrix l = laplacian(graph), inverse = pseudoinverse(l);
  DenseScores result{DenseMatrix(labels.size(), num_classes), {}, laplacian_components(l)};
  result.reached = reached_nodes(result.component, labels);
  for (std::size_t j = 0; j < labels.size(); ++j) {
    if (labels[j] == kNoLabel) continue;
    std::vector<double> mean(num_classes);
    double count = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == kNoLabel || result.component[i] != result.component[j]) continue;
      mean[labels[i]] += 1;
      count += 1;
    }
    for (std::size_t u = 0; u < labels.size(); ++u)
      for (std::size_t c = 0; c < num_classes; ++c)
        result.scores(u, c) += inverse(u, j) * ((labels[j] == c ? 1 : 0) - mean[c] / count);
  }
  return result;
}

/// f = K_US (K_SS + ridge I)^-1 y with K = L^+ + b 11' + c I in every component, weights scaled by `scale`.
inline DenseScores kernel_ridge(const GraphView& graph, const std::vector<Label>& labels,
                                std::size_t num_classes, double scale, double ridge, double b, double c) {
  DenseMatrix l = laplacian(graph);
  for (std::size_t i = 0; i < l.rows(); ++i)
    for (std::size_t j = 0; j < l.rows(); ++j) l(i, j) *= scale;
  DenseMatrix kernel = pseudoinverse(l);
  DenseScores result{DenseMatrix(labels.size(), num_classes), {}, laplacian_components(l)};
  result.reached = reached_nodes(result.component, labels);
  for (std::size_t i = 0; i < l.rows(); ++i) {
    for (std::size_t j = 0; j < l.rows(); ++j)
      if (result.component[i] == result.component[j]) kernel(i, j) += b;
    kernel(i, i) += c;
  }
  std::vector<std::size_t> known;
  for (std::size_t u = 0; u < labels.size(); ++u)
    if (labels[u] != kNoLabel) known.push_back(u);
  DenseMatrix matrix(known.size(), known.size()), right(known.size(), num_classes);
  for (std::size_t i = 0; i < known.size(); ++i) {
    for (std::size_t j = 0; j < known.size(); ++j) matrix(i, j) = kernel(known[i], known[j]);
    matrix(i, i) += ridge;
    right(i, labels[known[i]]) = 1;
  }
  eliminate(matrix, right);
  for (std::size_t u = 0; u < labels.size(); ++u)
    for (std::size_t i = 0; i < known.size(); ++i)
      for (std::size_t k = 0; k < num_classes; ++k) result.scores(u, k) += kernel(u, known[i]) * right(i, k);
  return result;
}

}  // namespace copse::oracle
