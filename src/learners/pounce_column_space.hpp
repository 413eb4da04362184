// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "copse/support/buffer.hpp"
#include "copse/support/parallel.hpp"
#include "learners/float_column.hpp"
#include "learners/machine.hpp"
#include "learners/pounce_space.hpp"

namespace copse {

/// What the spaces of whole graphs share: v_i are the columns of a pseudoinverse G and cost a solve each.
/// |v_i - v_j|^2 = G_ii + G_jj - 2 G_ij, and the first term is the same for all j: with the column of every
/// stored example at hand, the nearest takes a look into each and no solve. When there are more than
/// `max_columns` of them they are given up.
class PounceColumnSpace : public PounceSpace {
 public:
  std::uint32_t nearest(NodeId node) const final {
    if (const auto own = example_at_.find(node); own != example_at_.end())
      return is_signed() ? 2 * own->second : own->second;
    const auto found = examples_in_.find(component_[node]);
    return found == examples_in_.end() ? kNone : nearest_of(node, found->second);
  }

  double value(std::size_t column, NodeId node) const final { return functions_[column][node]; }

  double prepare(NodeId t, std::uint32_t nearest) final {
    const std::uint32_t e = example_of(nearest);
    const NodeId s = examples_[e].node;
    const double sign = sign_of(nearest);
    solve_column(t);
    if (has_columns()) {
      const FloatColumn& other = columns_[e];
      for_each_node([&](std::size_t i) { difference_[i] = column_[i] - sign * other[i]; });
    } else {
      solve(t, s, sign, difference_.span());
    }
    const double sum = column_[t] + examples_[e].diagonal, resistance = sum - 2 * sign * column_[s];
    return resistance > kZeroMargin * sum ? resistance : prepare_near(t, s, sign);
  }

  void add(std::size_t column, double amount) final {
    for_each_node([&](std::size_t i) { functions_[column][i] += amount * difference_[i]; });
  }

  void store(NodeId node) final {
    if (solved_ != node) solve_column(node);
    const auto number = static_cast<std::uint32_t>(examples_.size());
    const bool had_columns = has_columns();
    examples_.push_back({node, column_[node]});
    example_at_[node] = number;
    examples_in_[component_[node]].push_back(number);
    largest_diagonal_ = std::max(largest_diagonal_, column_[node]);
    if (!has_columns()) {
      columns_.clear();
      if (had_columns) columns_given_up();
      return;
    }
    columns_.emplace_back(column_.size()).assign(column_.span());
  }

  std::size_t add_column() final {
    functions_.emplace_back(num_nodes());
    return functions_.size() - 1;
  }
  std::size_t add_negative_column() final {
    add_column();
    for_each_node([&](std::size_t i) { functions_.back()[i] = -functions_.front()[i]; });
    return functions_.size() - 1;
  }

  void clear() override {
    functions_.clear();
    examples_.clear();
    example_at_.clear();
    examples_in_.clear();
    columns_.clear();
    solver_.reset();
    solved_ = asked_node_ = kNoNode;
    largest_diagonal_ = 0;
    report_ = {.converged = true};
  }

  std::string note() const final { return report_.note(); }

 protected:
  struct Example {
    NodeId node;
    double diagonal;
  };

  PounceColumnSpace(std::vector<NodeId> component_of_node, const PounceOptions& options,
                    const Execution& execution)
      : solve_(options.kernel.solve),
        execution_(execution),
        component_(std::move(component_of_node)),
        max_columns_(columns_to_keep(options.max_columns, component_.size())),
        column_(component_.size()),
        difference_(component_.size()) {}

  /// x = G (e_t - sign e_s), or G e_t where s is kNoNode.
  virtual void solve(NodeId t, NodeId s, double sign, std::span<double> x) const = 0;
  /// Of the examples in its component, in the order stored; at least one.
  virtual std::uint32_t nearest_of(NodeId node, const std::vector<std::uint32_t>& examples) const = 0;
  virtual void columns_given_up() {}
  /// 1 / the node's degree.
  virtual double least_resistance(NodeId node) const = 0;

  std::size_t num_nodes() const { return component_.size(); }
  bool has_columns() const { return examples_.size() <= max_columns_; }
  double margin() const { return kZeroMargin * largest_diagonal_; }  // distances this close are equal
  /// Of what `nearest` says: which is stored, and on which side of the mirror.
  std::uint32_t example_of(std::uint32_t number) const { return is_signed() ? number / 2 : number; }
  double sign_of(std::uint32_t number) const { return is_signed() && number % 2 != 0 ? -1 : 1; }

  /// By a solver that is kept: `graph` is always the same one.
  void solve_on(const GraphView& graph, std::span<double> x) const {
    if (!solver_) solver_.emplace(graph, solve_, execution_);
    const SolveReport report = solver_->solve(x, x);
    if (!report.converged) report_ = report;
  }

  /// find(), but a question is often asked twice: by predict, and by reveal for itself.
  template <class Find>
  std::uint32_t remembered(NodeId node, Find&& find) const {
    const std::lock_guard lock(mutex_);
    if (asked_node_ == node && asked_count_ == examples_.size()) return asked_nearest_;
    asked_nearest_ = find();
    asked_node_ = node;
    asked_count_ = examples_.size();
    return asked_nearest_;
  }

  SolveOptions solve_;
  Execution execution_;
  std::vector<NodeId> component_;
  std::vector<Example> examples_;
  std::vector<FloatColumn> columns_;  // by example
  mutable std::mutex mutex_;          // of the solver while predicting, and of the last question

 private:
  template <class Body>
  void for_each_node(Body&& body) {
    constexpr std::size_t kBlock = std::size_t{1} << 16;
    parallel_blocks(execution_.threads, num_nodes(), kBlock,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      for (std::size_t i = begin; i < end; ++i) body(i);
                    });
  }

  /// Where two nodes are so near to each other that nothing is left of the difference of their columns: it is
  /// solved for. No current leaves a node but by its edges, so that the resistance is 1 / degree at least;
  /// and no potential lies outside those of the two ends, which ends what rounding would make larger and
  /// larger.
  double prepare_near(NodeId t, NodeId s, double sign) {
    solve(t, s, sign, difference_.span());
    const double most = std::max(std::fabs(difference_[t]), std::fabs(difference_[s]));
    for_each_node([&](std::size_t i) { difference_[i] = std::clamp(difference_[i], -most, most); });
    return std::max(difference_[t] - sign * difference_[s], least_resistance(t));
  }

  void solve_column(NodeId node) {
    solved_ = kNoNode;
    solve(node, kNoNode, 0, column_.span());
    solved_ = node;
  }

  std::size_t max_columns_;
  Buffer<double> column_, difference_;  // the last solved for, and v_t -+ v_s
  NodeId solved_ = kNoNode;             // whose column it is
  std::vector<Buffer<double>> functions_;
  std::unordered_map<NodeId, std::uint32_t> example_at_;
  std::unordered_map<NodeId, std::vector<std::uint32_t>> examples_in_;  // by component
  double largest_diagonal_ = 0;
  mutable std::optional<LaplacianSolver> solver_;
  mutable SolveReport report_{.converged = true};
  mutable NodeId asked_node_ = kNoNode;
  mutable std::size_t asked_count_ = 0;
  mutable std::uint32_t asked_nearest_ = kNone;
};

}  // namespace copse
