// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "oracle/linear_algebra.hpp"

// k nearest labels from a table of all distances.

namespace copse::oracle {

inline DenseMatrix geodesic_table(const GraphView& graph) {
  const std::size_t n = graph.num_nodes();
  DenseMatrix d(n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) d(i, j) = i == j ? 0 : INFINITY;
  for (NodeId u = 0; u < n; ++u)
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      d(u, graph.neighbors[arc]) = 1 / static_cast<double>(graph.weight(arc));
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) d(i, j) = std::min(d(i, j), d(i, k) + d(k, j));
  return d;
}

inline DenseMatrix resistance_table(const GraphView& graph) {
  const DenseMatrix full = laplacian(graph), pinv = pseudoinverse(full);
  const auto component = laplacian_components(full);
  DenseMatrix d(pinv.rows(), pinv.rows());
  for (std::size_t i = 0; i < d.rows(); ++i)
    for (std::size_t j = 0; j < d.rows(); ++j)
      d(i, j) = component[i] != component[j] ? INFINITY : i == j ? 0 : effective_resistance(pinv, i, j);
  return d;
}

/// -1 where no label is at a finite distance. `tie`: distances within this are equal, and the lower node goes
/// first.
inline int nearest_neighbor(const DenseMatrix& d, const std::map<NodeId, int>& labels, NodeId node,
                            std::size_t k, double tie) {
  std::vector<NodeId> near;
  for (const auto& entry : labels)
    if (!std::isinf(d(node, entry.first))) near.push_back(entry.first);
  std::stable_sort(near.begin(), near.end(),
                   [&](NodeId a, NodeId b) { return d(node, a) < d(node, b) - tie; });
  if (near.size() > k) near.resize(k);
  std::map<int, int> votes;
  int most = 0;
  for (const NodeId u : near) most = std::max(most, ++votes[labels.at(u)]);
  for (const NodeId u : near)
    if (votes[labels.at(u)] == most) return labels.at(u);
  return -1;
}

}  // namespace copse::oracle
