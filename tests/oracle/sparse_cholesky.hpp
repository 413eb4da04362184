// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/SparseCholesky>
#include <set>
#include <vector>

#include "copse/graph/graph.hpp"

// What a sparse factorization does, in the slow and plain way, and Eigen's for the numbers.

namespace copse::oracle {

/// Nodes that stay when grounded and isolated ones go, and the first of every component without a grounded
/// one. By flooding.
inline std::vector<NodeId> unknowns(const GraphView& graph, const std::vector<NodeId>& grounded) {
  const std::set<NodeId> ground(grounded.begin(), grounded.end());
  std::vector<char> seen(graph.num_nodes());
  std::set<NodeId> result;
  for (NodeId start = 0; start < graph.num_nodes(); ++start) {
    if (seen[start]) continue;
    std::vector<NodeId> component{start};
    seen[start] = 1;
    bool has_ground = false;
    for (std::size_t i = 0; i < component.size(); ++i) {
      has_ground = has_ground || ground.count(component[i]) > 0;
      for (const NodeId v : graph.neighbors_of(component[i])) {
        if (!seen[v]) seen[v] = 1, component.push_back(v);
      }
    }
    if (component.size() == 1) continue;
    for (const NodeId u : component) {
      if (ground.count(u) == 0 && (has_ground || u != start)) result.insert(u);
    }
  }
  return {result.begin(), result.end()};
}

/// Rows of every column of the factor, as positions in `order`, its own included: whoever is joined to an
/// eliminated node is joined to all of its later neighbours.
inline std::vector<std::set<NodeId>> filled_columns(const GraphView& graph,
                                                    const std::vector<NodeId>& order) {
  std::vector<NodeId> position(graph.num_nodes(), kNoNode);
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<NodeId>(i);
  std::vector<std::set<NodeId>> columns(order.size());
  for (NodeId i = 0; i < order.size(); ++i) {
    columns[i].insert(i);
    for (const NodeId v : graph.neighbors_of(order[i]))
      if (position[v] != kNoNode && position[v] > i) columns[i].insert(position[v]);
  }
  for (NodeId i = 0; i < order.size(); ++i) {
    if (columns[i].size() < 2) continue;
    const NodeId next = *std::next(columns[i].begin());
    columns[next].insert(std::next(columns[i].begin()), columns[i].end());
  }
  return columns;
}

/// x with L_UU x_U = b_U over the unknowns U, 0 elsewhere.
inline std::vector<double> solve_by_eigen(const GraphView& graph, const std::vector<NodeId>& grounded,
                                          const std::vector<double>& b) {
  const std::vector<NodeId> nodes = unknowns(graph, grounded);
  std::vector<int> number(graph.num_nodes(), -1);
  for (std::size_t i = 0; i < nodes.size(); ++i) number[nodes[i]] = static_cast<int>(i);
  std::vector<Eigen::Triplet<double>> entries;
  Eigen::VectorXd right(static_cast<Eigen::Index>(nodes.size()));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int own = static_cast<int>(i);
    right[own] = b[nodes[i]];
    for (EdgeIndex arc = graph.offsets[nodes[i]]; arc < graph.offsets[nodes[i] + 1]; ++arc) {
      entries.emplace_back(own, own, graph.weight(arc));
      const int other = number[graph.neighbors[arc]];
      if (other >= 0) entries.emplace_back(own, other, -double{graph.weight(arc)});
    }
  }
  std::vector<double> x(graph.num_nodes());
  if (nodes.empty()) return x;
  Eigen::SparseMatrix<double> matrix(right.size(), right.size());
  matrix.setFromTriplets(entries.begin(), entries.end());
  const Eigen::VectorXd solved = Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>>(matrix).solve(right);
  for (std::size_t i = 0; i < nodes.size(); ++i) x[nodes[i]] = solved[static_cast<Eigen::Index>(i)];
  return x;
}

}  // namespace copse::oracle
