// SPDX-License-Identifier: Apache-2.0
#include "learners/kernel_operator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "copse/graph/signs.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/support/parallel.hpp"
#include "laplacian/tree_sums.hpp"

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

double mean_weight(const GraphView& graph, int threads) {
  if (!graph.is_weighted() || graph.weights.empty()) return 1;
  const double sum = deterministic_reduce(
      threads, graph.weights.size(), 0.0,
      [&](std::size_t begin, std::size_t end) {
        double part = 0;
        for (std::size_t arc = begin; arc < end; ++arc) part += graph.weights[arc];
        return part;
      },
      [](double a, double b) { return a + b; });
  return sum / static_cast<double>(graph.weights.size());
}

SharedColumns::SharedColumns(const GraphView& graph)
    : graph_(graph),
      scale_(mean_weight(graph, 1)),
      columns_(graph.num_nodes() <= kMaxNodes ? new Column[graph.num_nodes()] : nullptr) {}

bool SharedColumns::serves(const GraphView& graph, double scale, const SolveOptions& options) const {
  const SolveOptions defaults;
  return columns_ != nullptr && graph.offsets.data() == graph_.offsets.data() &&
         graph.neighbors.data() == graph_.neighbors.data() && graph.weights.data() == graph_.weights.data() &&
         scale == scale_ && options.method == defaults.method && options.tolerance == defaults.tolerance &&
         options.max_iterations == defaults.max_iterations;
}

GraphLaplacian::GraphLaplacian(const GraphView& graph, const SolveOptions& options,
                               const Execution& execution)
    : graph_(graph),
      options_(options),
      execution_(execution),
      cover_(graph.is_signed() ? double_cover(graph, execution.threads) : Graph()),
      components_(connected_components(graph, execution)) {
  if (graph.is_signed()) balance_ = sign_balance(graph, components_);
}

LaplacianSolver& GraphLaplacian::solver() {
  if (!solver_) {
    SolveOptions options = options_.expecting(kManySolves);
    const GraphView& graph = solved_graph();
    const bool is_small = graph.num_nodes() <= SharedColumns::kMaxNodes;
    const bool is_sparse = graph.neighbors.size() <= 16 * std::size_t{graph.num_nodes()};
    // Games come to want most columns: 76 microseconds each on 1,000 digits, 455 by iterations.
    if (options.method == SolveMethod::automatic && is_small && is_sparse)
      options.method = SolveMethod::exact;
    solver_.emplace(graph, options, execution_);
  }
  return *solver_;
}

SolveReport GraphLaplacian::solve(std::span<double> x) {
  const SolveReport report = solve_by(solver(), x);
  if (!report.converged) report_ = report;
  return report;
}

std::span<const double> GraphLaplacian::shared_column(SharedColumns& columns, NodeId node, double scale) {
  return columns.column(node, report_, [&](std::span<double> x) {
    x[node] = scale;
    return solve(x);
  });
}

void GraphLaplacian::solve_afresh(std::span<double> x) const {
  LaplacianSolver solver(solved_graph(), options_, execution_);
  solve_by(solver, x);
}

SolveReport GraphLaplacian::solve_by(LaplacianSolver& solver, std::span<double> x) const {
  if (!is_signed()) return solver.solve(x, x);
  Buffer<double> both_sides(2 * x.size());
  std::copy(x.begin(), x.end(), both_sides.begin());
  for (std::size_t i = 0; i < x.size(); ++i) both_sides[x.size() + i] = 0 - x[i];  // and not -0
  const SolveReport report = solver.solve(both_sides.span(), both_sides.span());
  std::copy_n(both_sides.begin(), x.size(), x.begin());
  return report;
}

FloatColumn::FloatColumn(std::span<const double> column) : values_(column.size()) {
  double largest = 0;
  for (const double value : column) largest = std::max(largest, std::fabs(value));
  const int exponent = std::isnormal(largest) ? std::ilogb(largest) : 0;
  unit_ = std::ldexp(1.0, exponent);
  const double scale = std::ldexp(1.0, -exponent);
  for (std::size_t i = 0; i < column.size(); ++i) values_[i] = static_cast<float>(column[i] * scale);
}

void DenseFunctions::add(std::size_t column, double amount, std::span<const double> direction) {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  Buffer<double>& values = values_[column];
  parallel_blocks(threads_, num_nodes_, kBlock, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) values[i] += amount * direction[i];
  });
}

std::size_t DenseFunctions::add_column(double factor) {
  values_.emplace_back(num_nodes_);
  if (factor != 0) add(values_.size() - 1, factor, values_.front().span());
  return values_.size() - 1;
}

namespace {

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

class GraphKernel final : public KernelOperator {
 public:
  GraphKernel(const GraphView& graph, const KernelTerms& terms, const SolveOptions& solve,
              std::size_t max_kept, const Execution& execution)
      : KernelOperator(copse::mean_weight(graph, execution.threads), terms.diagonal),
        laplacian_(graph, solve, execution),
        terms_(terms),
        column_(graph.num_nodes()),
        at_hand_(column_.span()),
        max_kept_(max_kept),
        functions_(graph.num_nodes(), execution.threads) {
    if (terms.bias.kind == KernelBias::Kind::resistance_diameter)
      diameter_ = scale() * resistance_diameter(graph.magnitudes(), solve, execution).lower;
    if (execution.columns != nullptr && execution.columns->serves(graph, scale(), solve)) {
      shared_ = execution.columns;
    } else if (max_kept >= 2 * std::size_t{graph.num_nodes()} &&
               graph.num_nodes() <= SharedColumns::kMaxNodes) {
      own_.emplace(graph);
      shared_ = &*own_;
    }
  }

  double value(std::size_t column, NodeId node) const override {
    return functions_.value(column, node) +
           laplacian_.side(node) * constants_[column][laplacian_.component(node)];
  }

  double prepare(NodeId node) override {
    prepared_ = node;
    if (shared_ != nullptr) {
      at_hand_ = laplacian_.shared_column(*shared_, node, scale());
    } else if (const auto kept = kept_.find(node); kept != kept_.end()) {
      for (std::size_t i = 0; i < column_.size(); ++i) column_[i] = kept->second[i];
    } else {
      set_source(node, column_.span());
      laplacian_.solve(column_.span());
      if (kept_.size() < max_kept_) kept_.emplace(node, column_.span());
    }
    return at_hand_[node] + bias(node) + terms_.diagonal;
  }

  void add(std::size_t column, double amount) override {
    functions_.add(column, amount, at_hand_);
    functions_.value(column, prepared_) += amount * terms_.diagonal;
    constants_[column][laplacian_.component(prepared_)] +=
        laplacian_.side(prepared_) * amount * bias(prepared_);
  }

  std::size_t add_column(double factor) override {
    constants_.emplace_back(laplacian_.num_components());
    for (NodeId c = 0; c < laplacian_.num_components() && factor != 0; ++c)
      constants_.back()[c] = factor * constants_.front()[c];
    return functions_.add_column(factor);
  }

  void clear() override {
    functions_.clear();
    constants_.clear();
    kept_.clear();
    laplacian_.reset();
  }

  std::vector<double> kernel(NodeId node, std::span<const NodeId> others) const override {
    std::vector<double> column(laplacian_.num_nodes()), values;
    set_source(node, column);
    laplacian_.solve_afresh(column);
    for (const NodeId other : others) {
      const bool is_near = laplacian_.component(other) == laplacian_.component(node);
      const double b = laplacian_.side(node) * laplacian_.side(other) * bias(node);
      values.push_back(is_near ? column[other] + b + (other == node ? terms_.diagonal : 0)
                               : std::numeric_limits<double>::quiet_NaN());
    }
    return values;
  }

  bool is_signed() const override { return laplacian_.is_signed(); }
  std::string note() const override { return laplacian_.note(); }

 private:
  double toward(NodeId i, NodeId j, double k_ij) const override {
    return laplacian_.is_balanced(i) ? laplacian_.side(i) * laplacian_.side(j) * k_ij : std::fabs(k_ij);
  }

  double bias(NodeId node) const {
    return laplacian_.is_balanced(node) ? bias_of(terms_, laplacian_.component_size(node), diameter_) : 0;
  }

  void set_source(NodeId node, std::span<double> column) const {
    std::fill(column.begin(), column.end(), 0.0);
    column[node] = scale();
  }

  GraphLaplacian laplacian_;
  KernelTerms terms_;
  double diameter_ = 0;
  Buffer<double> column_;  // of L^+, the one that is prepared, where it is not a shared one
  std::span<const double> at_hand_;
  std::optional<SharedColumns> own_;
  SharedColumns* shared_ = nullptr;  // of many games, or own_; on large graphs there are none
  NodeId prepared_ = kNoNode;
  std::size_t max_kept_;
  std::unordered_map<NodeId, FloatColumn> kept_;
  DenseFunctions functions_;                    // without the constants
  std::vector<std::vector<double>> constants_;  // by function and component: b times the sum of coefficients
};

/// The longest path in a forest, in resistance: the two deepest branches that meet at a node.
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

class TreeKernelOperator final : public KernelOperator {
 public:
  TreeKernelOperator(const SpanningForest& forest, std::shared_ptr<const TreeKernelShared> shared)
      : KernelOperator(shared->mean_weight, shared->terms.diagonal),
        shared_(std::move(shared)),
        sums_(forest) {
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

  std::size_t add_column(double factor) override {
    std::unordered_map<NodeId, double> copied;
    if (factor != 0)
      for (const auto& [node, amount] : coefficients_.front()) copied[node] = factor * amount;
    coefficients_.push_back(std::move(copied));
    return sums_.add_column(factor);
  }

  void clear() override {
    coefficients_.clear();
    sums_.clear();
  }

  std::vector<double> kernel(NodeId node, std::span<const NodeId> others) const override {
    std::vector<double> values;
    for (const NodeId other : others) {
      const double resistance = sums_.resistance(node, other);  // infinite between components
      const double doubled = sums_.diagonal(node) + sums_.diagonal(other) - resistance;
      values.push_back(std::isinf(resistance) ? std::numeric_limits<double>::quiet_NaN()
                                              : scale() * doubled / 2 + bias(node) +
                                                    (other == node ? shared_->terms.diagonal : 0));
    }
    return values;
  }

 private:
  double bias(NodeId node) const {
    return bias_of(shared_->terms, shared_->components.sizes[shared_->components.of_node[node]], diameter_);
  }

  std::shared_ptr<const TreeKernelShared> shared_;
  TreeSums sums_;
  double diameter_ = 0;
  NodeId prepared_ = kNoNode;
  std::vector<std::unordered_map<NodeId, double>> coefficients_;  // by column; filled where c > 0
};

}  // namespace

std::unique_ptr<KernelOperator> graph_kernel(const GraphView& graph, const KernelTerms& terms,
                                             const SolveOptions& solve, std::size_t max_kept,
                                             const Execution& execution) {
  return std::make_unique<GraphKernel>(graph, terms, solve, max_kept, execution);
}

TreeKernelShared::TreeKernelShared(const GraphView& graph, const KernelTerms& kernel_terms, int threads)
    : components(connected_components(graph, threads)),
      mean_weight(copse::mean_weight(graph, threads)),
      terms(kernel_terms) {}

std::unique_ptr<KernelOperator> tree_kernel(const SpanningForest& forest,
                                            std::shared_ptr<const TreeKernelShared> shared) {
  return std::make_unique<TreeKernelOperator>(forest, std::move(shared));
}

std::uint64_t graph_kernel_bytes(const ProblemSize& size, std::size_t max_kept, const SolveOptions& solve) {
  // Components and their constants, the column at hand, functions, kept columns, the solver.
  return size.num_nodes * (8 + 8 + 16 * size.num_classes + 4 * max_kept) +
         LaplacianSolver::bytes(size.num_nodes, size.num_arcs, 1, solve);
}

std::uint64_t tree_kernel_bytes(std::size_t columns) { return TreeSums::bytes(1, columns); }

}  // namespace copse
