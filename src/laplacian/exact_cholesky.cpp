// SPDX-License-Identifier: Apache-2.0
#include "laplacian/exact_cholesky.hpp"

#include <algorithm>
#include <vector>

#include "copse/support/buffer.hpp"
#include "laplacian/column_block.hpp"
#include "laplacian/dense_front.hpp"
#include "laplacian/solve_panel.hpp"

namespace copse {

namespace {

/// L, panel by panel; solving is one pass forward and one back.
class SupernodalFactor final : public Preconditioner {
 public:
  SupernodalFactor(Supernodes supernodes, std::size_t num_nodes, const Execution& execution)
      : parts_(std::move(supernodes)),
        num_nodes_(num_nodes),
        panels_(parts_.panel_begin.back()),
        inverse_diagonal_(parts_.node_of.size()),
        execution_(execution) {
    for (NodeId s = 0; s < parts_.count(); ++s)
      most_rows_ = std::max<std::size_t>(most_rows_, parts_.rows_of(s).size());
  }

  const Supernodes& supernodes() const { return parts_; }
  double* panel(NodeId s) { return panels_.data() + parts_.panel_begin[s]; }
  void finish(NodeId s) {
    const std::size_t width = parts_.width(s), rows = width + parts_.rows_of(s).size();
    for (std::size_t k = 0; k < width; ++k)
      inverse_diagonal_[parts_.first[s] + k] = 1 / panel(s)[k * rows + k];
  }

  ColumnValues apply(double* z, int width) const override {
    ColumnValues dot{};
    with_width(width, [&](auto w) { dot = solve<w()>(z); });
    return dot;
  }

  std::uint64_t entries() const override { return panels_.size(); }

 private:
  template <int width>
  ColumnValues solve(double* z) const {
    Buffer<double> values(parts_.node_of.size() * width);
    for (std::size_t i = 0; i < parts_.node_of.size(); ++i)
      std::copy_n(z + std::size_t{parts_.node_of[i]} * width, width, &values[i * width]);
    const ColumnValues dot =
        has_wide_registers() ? sweep_wide<width>(values.data()) : sweep_narrow<width>(values.data());
    std::fill_n(z, num_nodes_ * width, 0.0);
    for (std::size_t i = 0; i < parts_.node_of.size(); ++i)
      std::copy_n(&values[i * width], width, z + std::size_t{parts_.node_of[i]} * width);
    return dot;
  }

  template <int width>
  COPSE_WIDE_REGISTERS ColumnValues sweep_wide(double* values) const {
    return sweep<width, Lanes<width, true>>(values);
  }
  template <int width>
  ColumnValues sweep_narrow(double* values) const {
    return sweep<width, Lanes<width, false>>(values);
  }

  /// values = L^-T L^-1 values; returns |L^-1 values|^2, which is r . M^-1 r.
  template <int width, class Lane>
  [[gnu::always_inline]] ColumnValues sweep(double* values) const {
    constexpr std::size_t kParts = kLanes<width, Lane>;
    std::vector<double> below(most_rows_ * width);
    ColumnValues dot{};
    CancelCheck check(execution_);
    for (NodeId s = 0; s < parts_.count(); ++s) {
      check.step(parts_.width(s));
      forward_panel<width, Lane>(view(s), values + std::size_t{parts_.first[s]} * width, below.data(), dot);
      const std::span<const NodeId> rows = parts_.rows_of(s);
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t c = 0; c < kParts; ++c)
          lanes<Lane>(values + std::size_t{rows[i]} * width)[c].value -=
              lanes<Lane>(&below[i * width])[c].value;
    }
    for (NodeId s = parts_.count(); s-- > 0;) {
      check.step(parts_.width(s));
      const std::span<const NodeId> rows = parts_.rows_of(s);
      for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t c = 0; c < kParts; ++c)
          lanes<Lane>(&below[i * width])[c].value =
              lanes<Lane>(values + std::size_t{rows[i]} * width)[c].value;
      backward_panel<width, Lane>(view(s), values + std::size_t{parts_.first[s]} * width, below.data());
    }
    return dot;
  }

  SolvePanel view(NodeId s) const {
    return {panels_.data() + parts_.panel_begin[s], inverse_diagonal_.data() + parts_.first[s],
            parts_.width(s), parts_.rows_of(s).size()};
  }

  Supernodes parts_;
  std::size_t num_nodes_, most_rows_ = 0;
  Buffer<double> panels_;
  std::vector<double> inverse_diagonal_;
  Execution execution_;
};

/// From the leaves of the tree to its roots: a front gets the entries of its columns and what its children
/// have left, eliminates its columns and leaves the rest to its parent. In postorder, what is left waits on a
/// stack.
class Multifrontal {
 public:
  Multifrontal(const LaplacianSystem& system, SupernodalFactor& factor, const Execution& execution)
      : system_(system),
        factor_(factor),
        parts_(factor.supernodes()),
        execution_(execution),
        check_(execution),
        column_of_(system.num_nodes(), kNoNode),
        place_(parts_.node_of.size()),
        stack_(stack_size()) {
    for (std::size_t i = 0; i < parts_.node_of.size(); ++i)
      column_of_[parts_.node_of[i]] = static_cast<NodeId>(i);
  }

  bool run() {
    double* top = stack_.data();
    for (NodeId s = 0; s < parts_.count(); ++s) {
      report(s);
      check_.step(parts_.width(s) * (parts_.width(s) + parts_.rows_of(s).size()));
      const std::size_t rest = parts_.rows_of(s).size(), pivots = parts_.width(s);
      DenseFront front{factor_.panel(s), pivots + rest, pivots, top};
      std::fill_n(front.rest, rest * rest, 0.0);
      place_rows(s);
      add_columns(s, front);
      double* base = top;
      while (!waiting_.empty() && parts_.parent[waiting_.back()] == s) {
        const NodeId child = waiting_.back();
        waiting_.pop_back();
        base -= parts_.rows_of(child).size() * parts_.rows_of(child).size();
        add_child(s, child, base, front);
      }
      if (!dense_.factor(front)) return false;
      factor_.finish(s);
      if (base != top) std::copy(front.rest, front.rest + rest * rest, base);
      top = base + rest * rest;
      waiting_.push_back(s);
    }
    return true;
  }

 private:
  /// The most that run() has on the stack.
  std::size_t stack_size() const {
    std::size_t size = 0, most = 0;
    std::vector<NodeId> waiting;
    for (NodeId s = 0; s < parts_.count(); ++s) {
      const std::size_t rest = parts_.rows_of(s).size();
      most = std::max(most, size + rest * rest);
      while (!waiting.empty() && parts_.parent[waiting.back()] == s) {
        size -= parts_.rows_of(waiting.back()).size() * parts_.rows_of(waiting.back()).size();
        waiting.pop_back();
      }
      size += rest * rest;
      waiting.push_back(s);
    }
    return most;
  }

  void report(NodeId s) const {
    constexpr NodeId kBetweenReports = 1 << 10;
    if (s % kBetweenReports != 0 && parts_.width(s) < 256) return;
    execution_.throw_if_cancelled();
    execution_.report("factoring the Laplacian", s, parts_.count());
  }

  void place_rows(NodeId s) {
    NodeId at = 0;
    for (NodeId column = parts_.first[s]; column < parts_.first[s + 1]; ++column) place_[column] = at++;
    for (const NodeId row : parts_.rows_of(s)) place_[row] = at++;
  }

  void add_columns(NodeId s, const DenseFront& front) {
    const GraphView& graph = system_.graph;
    for (NodeId column = parts_.first[s]; column < parts_.first[s + 1]; ++column) {
      const NodeId u = parts_.node_of[column];
      double* target = front.panel + std::size_t{place_[column]} * front.rows;
      target[place_[column]] = 1 / system_.inverse_degree[u];
      for (EdgeIndex arc = graph.offsets[u]; arc < graph.offsets[u + 1]; ++arc) {
        const NodeId other = column_of_[graph.neighbors[arc]];
        if (other != kNoNode && other > column)
          target[place_[other]] = -static_cast<double>(graph.weight(arc));
      }
    }
  }

  void add_child(NodeId s, NodeId child, const double* left, const DenseFront& front) {
    const std::span<const NodeId> rows = parts_.rows_of(child);
    const std::size_t count = rows.size();
    child_place_.resize(count);
    for (std::size_t i = 0; i < count; ++i) child_place_[i] = place_[rows[i]];
    const std::size_t rest = front.rows - front.pivots;
    (void)s;
    for (std::size_t j = 0; j < count; ++j, left += count) {
      const std::size_t at = child_place_[j];
      double* target = at < front.pivots ? front.panel + at * front.rows
                                         : front.rest + (at - front.pivots) * rest - front.pivots;
      for (std::size_t i = j; i < count; ++i) target[child_place_[i]] += left[i];
    }
  }

  const LaplacianSystem& system_;
  SupernodalFactor& factor_;
  const Supernodes& parts_;
  const Execution& execution_;
  CancelCheck check_;
  std::vector<NodeId> column_of_, place_, child_place_, waiting_;
  Buffer<double> stack_;
  FrontFactorizer dense_;
};

}  // namespace

std::unique_ptr<Preconditioner> exact_cholesky(const LaplacianSystem& system,
                                               const SymbolicCholesky& symbolic, const Execution& execution) {
  auto factor = std::make_unique<SupernodalFactor>(symbolic.supernodes(), system.num_nodes(), execution);
  if (!Multifrontal(system, *factor, execution).run()) return nullptr;
  return factor;
}

}  // namespace copse
