// SPDX-License-Identifier: Apache-2.0
#include "learners/kernel_space.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "copse/graph/signs.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/laplacian/tree_sums.hpp"
#include "copse/support/parallel.hpp"
#include "learners/float_column.hpp"
#include "learners/mean_weight.hpp"

namespace copse {

KernelBias KernelBias::from_text(const std::string& where, const std::string& text) {
  if (text == "1/n2") return {Kind::per_square, 0};
  if (text == "resistance_diameter") return {Kind::resistance_diameter, 0};
  const char* remedy = "give a number above 0, 1/n2 or resistance_diameter";
  double value = 0;
  try {
    value = detail::parse_number(where, text);
  } catch (const UsageError&) {
    throw UsageError{where, quoted(text) + " is neither a number nor a choice", remedy};
  }
  if (!(value > 0)) throw UsageError{where, quoted(text) + " is out of range", remedy};
  return {Kind::number, value};
}

std::string KernelBias::text() const {
  if (kind == Kind::per_square) return "1/n2";
  return kind == Kind::resistance_diameter ? "resistance_diameter" : detail::number_text(number);
}

namespace {

constexpr std::size_t kColumnBlock = std::size_t{1} << 16;

/// b of a component; `diameter` is in units of the mean weight.
double bias_of(const KernelTerms& terms, double component_size, double diameter) {
  switch (terms.bias.kind) {
    case KernelBias::Kind::number:
      return terms.bias.number;
    case KernelBias::Kind::per_square:
      return 1 / (component_size * component_size);
    case KernelBias::Kind::resistance_diameter:
      return diameter > 0 ? diameter : 1;  // no edge: no matter
  }
  return 0;
}

/// Columns of L^+, those used last.
class ColumnCache {
 public:
  explicit ColumnCache(std::size_t capacity) : capacity_(capacity) {}

  const FloatColumn* find(NodeId node) {
    const auto found = columns_.find(node);
    if (found == columns_.end()) return nullptr;
    found->second.used = ++clock_;
    return &found->second.values;
  }
  void insert(NodeId node, std::span<const double> column) {
    if (capacity_ == 0) return;
    FloatColumn values(0);
    if (columns_.size() == capacity_) {
      const auto oldest = std::ranges::min_element(
          columns_, [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
      values = std::move(oldest->second.values);
      columns_.erase(oldest);
    } else {
      values = FloatColumn(column.size());
    }
    values.assign(column);
    columns_.emplace(node, Entry{std::move(values), ++clock_});
  }

  void clear() { columns_.clear(); }

 private:
  struct Entry {
    FloatColumn values;
    std::uint64_t used;
  };
  std::size_t capacity_;
  std::uint64_t clock_ = 0;
  std::unordered_map<NodeId, Entry> columns_;
};

class GraphSpace final : public KernelSpace {
 public:
  GraphSpace(const GraphView& graph, const KernelTerms& terms, const SolveOptions& solve,
             std::size_t max_cached, const Execution& execution)
      : KernelSpace(mean_weight(graph, execution.threads), terms.diagonal),
        graph_(graph),
        terms_(terms),
        solve_(solve),
        execution_(execution),
        cover_(graph.is_signed() ? double_cover(graph, execution.threads) : Graph()),
        components_(connected_components(graph, execution)),
        column_(graph.num_nodes()),
        cache_(max_cached) {
    if (terms.bias.kind == KernelBias::Kind::resistance_diameter)
      diameter_ = scale() * resistance_diameter(graph.magnitudes(), solve, execution).lower;
    if (!graph.is_signed()) return;
    balance_ = sign_balance(graph, components_);
    both_sides_ = Buffer<double>(2 * std::size_t{graph.num_nodes()});
  }

  double value(std::size_t column, NodeId node) const override {
    const Function& function = functions_[column];
    const double constant = function.constant[components_.of_node[node]];
    return function.value[node] + (is_signed() ? side(node) * constant : constant);
  }

  double prepare(NodeId node) override {
    prepared_ = node;
    const double b = bias(node);
    if (const FloatColumn* cached = cache_.find(node)) {
      for (std::size_t i = 0; i < column_.size(); ++i) column_[i] = (*cached)[i];
    } else {
      if (!solver_) solver_.emplace(solved_graph(), solve_, execution_);
      const SolveReport report = is_signed()
                                     ? solve_both_sides(*solver_, node, both_sides_.span(), column_.span())
                                     : solve_column(*solver_, node, column_.span());
      if (!report.converged) report_ = report;
      cache_.insert(node, column_.span());
    }
    return column_[node] + b + terms_.diagonal;
  }

  void add(std::size_t column, double amount) override {
    Function& function = functions_[column];
    parallel_blocks(execution_.threads, column_.size(), kColumnBlock,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      for (std::size_t i = begin; i < end; ++i) function.value[i] += amount * column_[i];
                    });
    function.value[prepared_] += amount * terms_.diagonal;
    function.constant[components_.of_node[prepared_]] +=
        is_signed() ? side(prepared_) * amount * bias(prepared_) : amount * bias(prepared_);
  }

  std::size_t add_column() override {
    functions_.push_back({Buffer<double>(graph_.num_nodes()), std::vector<double>(components_.count())});
    return functions_.size() - 1;
  }

  std::size_t add_negative_column() override {
    add_column();
    const Function& from = functions_.front();
    Function& to = functions_.back();
    for (std::size_t i = 0; i < from.value.size(); ++i) to.value[i] = -from.value[i];
    for (std::size_t i = 0; i < from.constant.size(); ++i) to.constant[i] = -from.constant[i];
    return functions_.size() - 1;
  }

  void clear() override {
    functions_.clear();
    cache_.clear();
    solver_.reset();  // its bits depend on what it was asked before
    report_ = {.converged = true};
  }

  std::vector<double> kernel(NodeId node, std::span<const NodeId> others) const override {
    std::vector<double> column(graph_.num_nodes()), values;
    LaplacianSolver solver(solved_graph(), solve_, execution_);
    if (is_signed()) {
      std::vector<double> both_sides(2 * column.size());
      solve_both_sides(solver, node, both_sides, column);
    } else {
      solve_column(solver, node, column);
    }
    for (const NodeId other : others) {
      const bool is_near = components_.of_node[other] == components_.of_node[node];
      const double b = is_signed() ? side(node) * side(other) * bias(node) : bias(node);
      values.push_back(is_near ? column[other] + b + (other == node ? terms_.diagonal : 0)
                               : std::numeric_limits<double>::quiet_NaN());
    }
    return values;
  }

  bool is_signed() const override { return graph_.is_signed(); }
  double toward(NodeId a, NodeId b, double k) const override {
    if (!is_signed()) return k;
    return is_balanced(a) ? side(a) * side(b) * k : std::fabs(k);
  }

  std::string note() const override { return report_.note(); }

 private:
  struct Function {
    Buffer<double> value;          // by node, without the constants
    std::vector<double> constant;  // by component: b times the sum of the coefficients
  };

  const GraphView& solved_graph() const { return is_signed() ? cover_.view() : graph_; }
  bool is_balanced(NodeId node) const { return balance_.is_balanced[components_.of_node[node]] != 0; }
  double side(NodeId node) const { return balance_.side[node] != 0 ? -1 : 1; }

  double bias(NodeId node) const {
    if (is_signed() && !is_balanced(node)) return 0;
    return bias_of(terms_, components_.sizes[components_.of_node[node]], diameter_);
  }

  SolveReport solve_column(LaplacianSolver& solver, NodeId node, std::span<double> column) const {
    std::fill(column.begin(), column.end(), 0.0);
    column[node] = scale();
    return solver.solve(column, column);
  }

  /// The column of the signed Laplacian's pseudoinverse: on the cover, that of the node less that of its
  /// mirror image.
  SolveReport solve_both_sides(LaplacianSolver& solver, NodeId node, std::span<double> both_sides,
                               std::span<double> column) const {
    std::fill(both_sides.begin(), both_sides.end(), 0.0);
    both_sides[node] = scale();
    both_sides[column.size() + node] = -scale();
    const SolveReport report = solver.solve(both_sides, both_sides);
    std::copy_n(both_sides.begin(), column.size(), column.begin());
    return report;
  }

  GraphView graph_;
  KernelTerms terms_;
  SolveOptions solve_;
  Execution execution_;
  Graph cover_;  // of a signed graph
  Components components_;
  SignBalance balance_;
  double diameter_ = 0;
  Buffer<double> column_;      // of L^+, the one that is prepared
  Buffer<double> both_sides_;  // the same on the cover
  NodeId prepared_ = kNoNode;
  ColumnCache cache_;
  std::vector<Function> functions_;
  std::optional<LaplacianSolver> solver_;
  SolveReport report_{.converged = true};  // the last that fell short
};

/// The longest way in a forest, in resistance: the two deepest branches that meet at a node.
double forest_diameter(const SpanningForest& forest) {
  Buffer<double> depth(forest.num_nodes());  // of the deepest leaf below, by rank
  double longest = 0;
  for (NodeId rank = forest.num_nodes(); rank-- > 0;) {
    if (forest.is_root(rank)) continue;
    const double branch = depth[rank] + 1.0 / static_cast<double>(forest.edge_weight(rank));
    double& other = depth[forest.parent[rank]];
    longest = std::max(longest, other + branch);
    other = std::max(other, branch);
  }
  return longest;
}

class TreeSpace final : public KernelSpace {
 public:
  TreeSpace(const SpanningForest& forest, std::shared_ptr<const TreeSpaceShared> shared)
      : KernelSpace(shared->mean_weight, shared->terms.diagonal), shared_(std::move(shared)), sums_(forest) {
    if (shared_->terms.bias.kind == KernelBias::Kind::resistance_diameter)
      diameter_ = scale() * forest_diameter(forest);
  }

  double value(std::size_t column, NodeId node) const override {
    double value =
        scale() * sums_.kernel_sum(node, column) + bias(node) * sums_.coefficient_sum(node, column);
    if (shared_->terms.diagonal > 0) {
      const auto own = coefficients_[column].find(node);
      if (own != coefficients_[column].end()) value += shared_->terms.diagonal * own->second;
    }
    return value;
  }

  double prepare(NodeId node) override {
    prepared_ = node;
    return scale() * sums_.diagonal(node) + bias(node) + shared_->terms.diagonal;
  }

  void add(std::size_t column, double amount) override {
    sums_.add(prepared_, amount, column);
    if (shared_->terms.diagonal > 0) coefficients_[column][prepared_] += amount;
  }

  std::size_t add_column() override {
    coefficients_.emplace_back();
    return coefficients_.size() == 1 ? 0 : sums_.add_column();  // the sums begin with one column
  }

  std::size_t add_negative_column() override {
    std::unordered_map<NodeId, double> negative = coefficients_.front();
    for (auto& entry : negative) entry.second = -entry.second;
    coefficients_.push_back(std::move(negative));
    return sums_.add_column(0, -1);
  }

  void clear() override {
    coefficients_.clear();
    sums_.clear();
  }

  std::vector<double> kernel(NodeId node, std::span<const NodeId> others) const override {
    std::vector<double> values;
    const std::vector<NodeId>& component = shared_->components.of_node;
    for (const NodeId other : others) {
      const bool is_near = component[other] == component[node];
      const double doubled =
          sums_.diagonal(node) + sums_.diagonal(other) - (is_near ? sums_.resistance(node, other) : 0);
      values.push_back(is_near ? scale() * doubled / 2 + bias(node) +
                                     (other == node ? shared_->terms.diagonal : 0)
                               : std::numeric_limits<double>::quiet_NaN());
    }
    return values;
  }

 private:
  double bias(NodeId node) const {
    return bias_of(shared_->terms, shared_->components.sizes[shared_->components.of_node[node]], diameter_);
  }

  std::shared_ptr<const TreeSpaceShared> shared_;
  TreeSums sums_;
  double diameter_ = 0;
  NodeId prepared_ = kNoNode;
  std::vector<std::unordered_map<NodeId, double>> coefficients_;  // by column; filled where c > 0
};

}  // namespace

std::unique_ptr<KernelSpace> graph_space(const GraphView& graph, const KernelTerms& terms,
                                         const SolveOptions& solve, std::size_t max_cached,
                                         const Execution& execution) {
  return std::make_unique<GraphSpace>(graph, terms, solve, max_cached, execution);
}

TreeSpaceShared::TreeSpaceShared(const GraphView& graph, const KernelTerms& kernel_terms, int threads)
    : components(connected_components(graph, threads)),
      mean_weight(copse::mean_weight(graph, threads)),
      terms(kernel_terms) {}

std::unique_ptr<KernelSpace> tree_space(const SpanningForest& forest,
                                        std::shared_ptr<const TreeSpaceShared> shared) {
  return std::make_unique<TreeSpace>(forest, std::move(shared));
}

std::uint64_t graph_space_bytes(std::uint64_t num_nodes, std::uint64_t num_arcs, std::size_t columns,
                                std::size_t max_cached, const SolveOptions& solve) {
  // Components and their constants, the column at hand, functions, cached columns, the solver.
  return num_nodes * (8 + 8 + 16 * columns + 4 * max_cached) +
         LaplacianSolver::bytes(num_nodes, num_arcs, 1, solve);
}

std::uint64_t tree_space_bytes(std::uint64_t num_nodes, std::size_t columns) {
  return TreeSums::bytes(num_nodes, columns);
}

}  // namespace copse
