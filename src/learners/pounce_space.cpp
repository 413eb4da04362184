// SPDX-License-Identifier: Apache-2.0
#include "learners/pounce_space.hpp"

#include <mutex>
#include <optional>
#include <unordered_map>

#include "copse/graph/components.hpp"
#include "copse/kernels/resistance.hpp"
#include "copse/kernels/tree_sums.hpp"
#include "copse/support/parallel.hpp"
#include "learners/machine.hpp"
#include "learners/nearest_marked.hpp"

namespace copse {
namespace {

constexpr std::size_t kNodeBlock = std::size_t{1} << 16;
/// The sketch decides alone where the next example is this much farther: then the nearest is right unless one
/// of the two resistances is off by half of itself.
constexpr double kClearlyFarther = 3;

/// On the graph. r(i, j) = L^+_ii + L^+_jj - 2 L^+_ij, and the first term is the same for all j: with the
/// column of every stored example at hand, the nearest takes a look into each and no solve. When there are
/// more than `max_columns` of them they are given up: a sketch of the resistances answers where it is clear,
/// else a solve for the column of i, which together with the stored L^+_jj ranks all examples exactly.
class PounceGraphSpace final : public PounceSpace {
 public:
  PounceGraphSpace(const GraphView& graph, const PounceOptions& options, const Execution& execution)
      : graph_(graph),
        max_columns_(columns_to_keep(options.max_columns, graph.num_nodes())),
        num_projections_(options.num_projections),
        solve_{.tolerance = options.tolerance, .max_iterations = options.max_iterations},
        execution_(execution),
        component_(connected_components(graph, execution).of_node),
        column_(graph.num_nodes()),
        difference_(graph.num_nodes()) {}

  std::uint32_t nearest(NodeId node) const override {
    if (const auto own = example_at_.find(node); own != example_at_.end()) return own->second;
    const auto found = examples_in_.find(component_[node]);
    if (found == examples_in_.end()) return kNone;
    const std::vector<std::uint32_t>& examples = found->second;
    if (examples.size() == 1) return examples.front();
    if (has_columns()) return nearest_by(examples, [&](std::uint32_t e) { return columns_[e][node]; });
    const std::lock_guard lock(mutex_);
    if (asked_node_ == node && asked_count_ == examples_.size()) return asked_nearest_;
    asked_nearest_ = nearest_without_columns(node, examples);
    asked_node_ = node;
    asked_count_ = examples_.size();
    return asked_nearest_;
  }

  double value(std::size_t column, NodeId node) const override { return functions_[column][node]; }

  double prepare(NodeId t, std::uint32_t nearest) override {
    const Example& example = examples_[nearest];
    solve_column(t);
    const double r = column_[t] + example.diagonal - 2 * column_[example.node];
    if (has_columns()) {
      const Buffer<float>& other = columns_[nearest];
      for_each_node([&](std::size_t i) { difference_[i] = column_[i] - static_cast<double>(other[i]); });
    } else {
      std::fill(difference_.begin(), difference_.end(), 0.0);
      difference_[t] = 1;
      difference_[example.node] = -1;
      solve(difference_.span());
    }
    return r;
  }

  void add(std::size_t column, double amount) override {
    for_each_node([&](std::size_t i) { functions_[column][i] += amount * difference_[i]; });
  }

  void store(NodeId node) override {
    if (solved_ != node) solve_column(node);
    const auto number = static_cast<std::uint32_t>(examples_.size());
    const bool had_columns = has_columns();
    examples_.push_back({node, column_[node]});
    example_at_[node] = number;
    examples_in_[component_[node]].push_back(number);
    largest_diagonal_ = std::max(largest_diagonal_, column_[node]);
    if (!has_columns()) {
      columns_.clear();
      if (had_columns && num_projections_ > 0) sketch_.emplace(graph_, num_projections_, solve_, execution_);
      return;
    }
    Buffer<float> column(column_.size());
    for_each_node([&](std::size_t i) { column[i] = static_cast<float>(column_[i]); });
    columns_.push_back(std::move(column));
  }

  std::size_t add_column() override {
    functions_.emplace_back(graph_.num_nodes());
    return functions_.size() - 1;
  }
  std::size_t add_negative_column() override {
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
    sketch_.reset();
    solver_.reset();
    solved_ = asked_node_ = kNoNode;
    largest_diagonal_ = 0;
    report_ = {.converged = true};
  }

  double resistance(NodeId node, std::uint32_t example) const override {
    std::vector<double> x(graph_.num_nodes());
    const NodeId other = examples_[example].node;
    if (other == node) return 0;
    x[node] = 1;
    x[other] = -1;
    LaplacianSolver(graph_, solve_, execution_).solve(x, x);
    return x[node] - x[other];
  }

  std::string note() const override { return report_.note(); }

 private:
  struct Example {
    NodeId node;
    double diagonal;
  };

  bool has_columns() const { return examples_.size() <= max_columns_; }

  template <class Body>
  void for_each_node(Body&& body) {
    parallel_blocks(execution_.threads, graph_.num_nodes(), kNodeBlock,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      for (std::size_t i = begin; i < end; ++i) body(i);
                    });
  }

  void solve(std::span<double> x) const {
    if (!solver_) solver_.emplace(graph_, solve_, execution_);
    const SolveReport report = solver_->solve(x, x);
    if (!report.converged) report_ = report;
  }
  void solve_column(NodeId node) {
    std::fill(column_.begin(), column_.end(), 0.0);
    column_[node] = 1;
    solved_ = kNoNode;
    solve(column_.span());
    solved_ = node;
  }

  /// entry(e) is L^+ between the node asked about and example e.
  template <class Entry>
  std::uint32_t nearest_by(const std::vector<std::uint32_t>& examples, Entry&& entry) const {
    const auto distance = [&](std::uint32_t e) {
      return examples_[e].diagonal - 2 * static_cast<double>(entry(e));
    };
    double least = std::numeric_limits<double>::infinity();
    for (const std::uint32_t e : examples) least = std::min(least, distance(e));
    for (const std::uint32_t e : examples)
      if (distance(e) <= least + kZeroMargin * largest_diagonal_) return e;
    return kNone;  // not reached
  }

  std::uint32_t nearest_without_columns(NodeId node, const std::vector<std::uint32_t>& examples) const {
    if (sketch_) {
      std::uint32_t best = kNone;
      double least = std::numeric_limits<double>::infinity(), next = least;
      for (const std::uint32_t e : examples) {
        const double r = sketch_->resistance(node, examples_[e].node);
        if (r >= least) {
          next = std::min(next, r);
          continue;
        }
        next = least;
        least = r;
        best = e;
      }
      if (next > kClearlyFarther * least) return best;
    }
    std::vector<double> column(graph_.num_nodes());
    column[node] = 1;
    solve(column);
    return nearest_by(examples, [&](std::uint32_t e) { return column[examples_[e].node]; });
  }

  GraphView graph_;
  std::size_t max_columns_;
  int num_projections_;
  SolveOptions solve_;
  Execution execution_;
  std::vector<NodeId> component_;
  Buffer<double> column_, difference_;  // the last solved for, and v_t - v_s
  NodeId solved_ = kNoNode;             // whose column it is
  std::vector<Buffer<double>> functions_;
  std::vector<Example> examples_;
  std::unordered_map<NodeId, std::uint32_t> example_at_;
  std::unordered_map<NodeId, std::vector<std::uint32_t>> examples_in_;  // by component
  std::vector<Buffer<float>> columns_;                                  // by example
  double largest_diagonal_ = 0;
  std::optional<ResistanceSketch> sketch_;
  mutable std::optional<LaplacianSolver> solver_;
  mutable SolveReport report_{.converged = true};
  // A question is often asked twice: by predict, and by reveal for itself.
  mutable std::mutex mutex_;
  mutable NodeId asked_node_ = kNoNode;
  mutable std::size_t asked_count_ = 0;
  mutable std::uint32_t asked_nearest_ = kNone;
};

/// On a tree: O(log^2 n) for everything.
template <class Integer>
class PounceTreeSpace final : public PounceSpace {
 public:
  PounceTreeSpace(const SpanningForest& forest, const ResistanceScale& scale)
      : sums_(forest), marked_(forest, scale) {}

  std::uint32_t nearest(NodeId node) const override { return marked_.nearest(node); }
  double value(std::size_t column, NodeId node) const override { return sums_.kernel_sum(node, column); }
  double prepare(NodeId t, std::uint32_t nearest) override {
    t_ = t;
    s_ = examples_[nearest];
    return sums_.resistance(t_, s_);
  }
  void add(std::size_t column, double amount) override {
    sums_.add(t_, amount, column);
    sums_.add(s_, -amount, column);
  }
  void store(NodeId node) override {
    marked_.mark(node, static_cast<std::uint32_t>(examples_.size()));
    examples_.push_back(node);
  }
  std::size_t add_column() override {
    return num_columns_++ == 0 ? 0 : sums_.add_column();  // the sums begin with one
  }
  std::size_t add_negative_column() override {
    ++num_columns_;
    return sums_.add_column(0, -1);
  }
  void clear() override {
    sums_.clear();
    marked_.clear();
    examples_.clear();
    num_columns_ = 0;
  }
  double resistance(NodeId node, std::uint32_t example) const override {
    return sums_.resistance(node, examples_[example]);
  }

 private:
  TreeSums sums_;
  NearestMarked<Integer> marked_;
  std::vector<NodeId> examples_;
  std::size_t num_columns_ = 0;
  NodeId t_ = kNoNode, s_ = kNoNode;
};

__extension__ using Int128 = __int128;

}  // namespace

std::unique_ptr<PounceSpace> pounce_graph_space(const GraphView& graph, const PounceOptions& options,
                                                const Execution& execution) {
  if (graph.is_signed()) return pounce_signed_space(graph, options, execution);
  return std::make_unique<PounceGraphSpace>(graph, options, execution);
}

std::unique_ptr<PounceSpace> pounce_tree_space(const SpanningForest& forest, const ResistanceScale& scale) {
  if (scale.wide) return std::make_unique<PounceTreeSpace<Int128>>(forest, scale);
  return std::make_unique<PounceTreeSpace<std::int64_t>>(forest, scale);
}

std::uint64_t pounce_tree_bytes(std::size_t columns) {
  return TreeSums::bytes(1, columns) + NearestMarked<std::int64_t>::bytes(1);
}

}  // namespace copse
