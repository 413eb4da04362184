// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "copse/graph/graph.hpp"
#include "copse/laplacian/laplacian_solver.hpp"
#include "copse/support/buffer.hpp"

namespace copse {

/// The kernel of a small graph, column by column, for all games that are played on it: give it to each of
/// them in Execution::columns. Whichever needs a column first solves for it, and the others read it: the same
/// bits as without, since a solve depends on nothing but its column. 8 n^2 bytes when all are there.
/// Thread-safe. The graph must outlive it.
class SharedColumns {
 public:
  static constexpr NodeId kMaxNodes = 2048;  // 32 MiB

  explicit SharedColumns(const GraphView& graph);

  /// Whether these are the columns that a learner wants: of the same arrays, not too many, L^+ times `scale`,
  /// and solved for with the default options.
  bool serves(const GraphView& graph, double scale, const SolveOptions& options) const;

  /// L^+ e_node times the mean weight; `solve` is given a buffer to write it to and returns its report.
  template <class Solve>
  std::span<const double> column(NodeId node, SolveReport& report, Solve&& solve) {
    Column& column = columns_[node];
    std::call_once(column.once, [&] {
      Buffer<double> values(graph_.num_nodes());
      column.report = solve(values.span());
      column.values = std::move(values);
    });
    if (!column.report.converged) report = column.report;
    return column.values.span();
  }

 private:
  struct Column {
    std::once_flag once;
    Buffer<double> values;
    SolveReport report;
  };
  GraphView graph_;
  double scale_ = 1;
  std::unique_ptr<Column[]> columns_;
};

}  // namespace copse
