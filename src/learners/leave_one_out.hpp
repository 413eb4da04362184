// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "copse/learners/learner.hpp"
#include "copse/trees/rooted_forest.hpp"
#include "learners/score_table.hpp"

// What learners that solve linear systems would answer a labelled node j without its own label. Their scores
// are linear in the labels, so that f_j without y_j follows from f_j and one number of j: a diagonal entry of
// an inverse. For few labels that is solved for, a column per label; for many it is a probability that the
// root of a node is j, in forests rooted at all labels at once (docs/leave_one_out.md).

namespace copse {

/// Labels up to which a column is solved for each.
inline constexpr std::size_t kMostLabelsSolved = 64;
/// Forests that are drawn where labels are more. With 30 some 97 to 100 % of the answers are those of exact
/// numbers; of few labels each counts more.
inline std::uint64_t num_forests(std::size_t num_labels) {
  return std::max<std::uint64_t>(30, (std::uint64_t{1} << 14) / num_labels);
}
/// Of labels that are fewer than this share of the nodes, though too many to solve for each, nothing can be
/// told: functions are then nearly constant, and what tells classes apart is less than the error of a
/// divisor.
inline constexpr double kLeastLabelled = 0.02;
inline bool is_too_sparse(const ScoreTable& table) {
  const auto num_labels = static_cast<double>(table.classes.labelled().size());
  return num_labels > kMostLabelsSolved &&
         num_labels < kLeastLabelled * static_cast<double>(table.components.of_node.size());
}
/// Divisors are taken to be at least this share of what they can be at most.
inline constexpr double kLeastDivisor = 1e-3;

/// Labelled nodes that another label reaches, ascending.
inline std::vector<NodeId> nodes_left_out(const ScoreTable& table) {
  std::vector<NodeId> nodes;
  for (const NodeId node : table.classes.labelled())
    if (table.classes.num_labelled(table.components.of_node[node]) > 1) nodes.push_back(node);
  return nodes;
}

/// fill(i, row) writes the raw scores of nodes[i] by the columns of the table into `row`, which is 0.
template <class Fill>
LeaveOneOut leave_out_each(const ScoreTable& table, std::size_t num_classes, std::vector<NodeId> nodes,
                           Fill&& fill) {
  LeaveOneOut result{std::move(nodes), {}, table.classes.labelled().size() > kMostLabelsSolved};
  result.raw_scores.resize(result.nodes.size() * num_classes);
  std::vector<double> row(table.classes.count());
  for (std::size_t i = 0; i < result.nodes.size(); ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    fill(i, row.data());
    for (std::size_t c = 0; c < row.size(); ++c)
      result.raw_scores[i * num_classes + table.classes.classes()[c]] = row[c];
  }
  return result;
}

/// What a labelled node j is the root of, on average over forests.
struct RootShares {
  std::vector<double>
      weight;  // of steps from j to such nodes: the sum over neighbours k of w_jk P(root(k) = j)
  std::vector<double> num_nodes;  // such nodes, j itself aside
};
RootShares root_shares(const GraphView& graph, const RootedForests& forests, std::span<const NodeId> nodes,
                       const Execution& execution);

/// body(nodes, begin) for some of the nodes at a time: as many as there should be columns of one solve.
template <class Body>
void for_each_panel(std::span<const NodeId> nodes, Body&& body) {
  constexpr std::size_t kColumns = 16;
  for (std::size_t begin = 0; begin < nodes.size(); begin += kColumns)
    body(nodes.subspan(begin, std::min(kColumns, nodes.size() - begin)), begin);
}

}  // namespace copse
