// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "copse/learners/learner.hpp"

namespace copse {

/// The labelled nodes of a component of a few nodes with the probability that a random walk from `node` meets
/// them first: the harmonic function of Zhu et al. 2003 by a dense matrix, `node` being taken as unlabelled.
/// Nothing where weights are too far apart for its digits, or no walk meets a label.
inline std::vector<Reason> first_labels_met(const GraphView& graph, std::span<const Label> labels,
                                            NodeId node) {
  std::vector<NodeId> inner{node};
  std::vector<Reason> met;
  const auto is_inner = [&](NodeId u) { return u == node || labels[u] == kNoLabel; };
  const auto place = [](const auto& list, NodeId u, auto projection) {
    return static_cast<std::size_t>(std::ranges::find(list, u, projection) - list.begin());
  };
  for (std::size_t i = 0; i < inner.size(); ++i)
    for (const NodeId v : graph.neighbors_of(inner[i])) {
      if (is_inner(v) && place(inner, v, std::identity{}) == inner.size()) inner.push_back(v);
      if (!is_inner(v) && place(met, v, &Reason::node) == met.size()) met.push_back({v, labels[v], 0, 0});
    }
  const auto size = static_cast<Eigen::Index>(inner.size());
  Eigen::MatrixXd steps = Eigen::MatrixXd::Identity(size, size);  // I - P between inner nodes, turned over
  for (Eigen::Index i = 0; i < size; ++i) {
    const NodeId u = inner[static_cast<std::size_t>(i)];
    const double degree = weighted_degree(graph, u);
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc)
      if (is_inner(graph.neighbors[arc]))
        steps(static_cast<Eigen::Index>(place(inner, graph.neighbors[arc], std::identity{})), i) -=
            static_cast<double>(graph.weight(arc)) / degree;
  }
  const Eigen::VectorXd visits = steps.fullPivLu().solve(Eigen::VectorXd::Unit(size, 0));
  double total = 0;
  for (Eigen::Index i = 0; i < size; ++i) {
    const NodeId u = inner[static_cast<std::size_t>(i)];
    const double degree = weighted_degree(graph, u);
    for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
      if (is_inner(graph.neighbors[arc])) continue;
      const double flow = visits[i] * static_cast<double>(graph.weight(arc)) / degree;
      met[place(met, graph.neighbors[arc], &Reason::node)].share += flow;
      total += flow;
    }
  }
  if (!(std::fabs(total - 1) < 1e-6)) return {};
  std::erase_if(met, [](const Reason& reason) { return !(reason.share > 0); });
  std::ranges::sort(met, {}, &Reason::node);
  return met;
}

}  // namespace copse
