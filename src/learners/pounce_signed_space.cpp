// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <optional>
#include <unordered_map>

#include "copse/graph/balance.hpp"
#include "copse/graph/double_cover.hpp"
#include "copse/support/parallel.hpp"
#include "learners/machine.hpp"
#include "learners/pounce_space.hpp"

// Pounce with the pseudoinverse G of the signed Laplacian (Herbster 2008 states it for those). An example is
// stored with its mirror image: told y at s, it also says that -v_s is of the other class. A node i is near
// to the one of the two that |v_i -+ v_s|^2 = G_ii + G_ss -+ 2 G_is says; in a balanced component only one of
// them is there.

namespace copse {
namespace {

class PounceSignedSpace final : public PounceSpace {
 public:
  PounceSignedSpace(const GraphView& graph, const PounceOptions& options, const Execution& execution)
      : num_nodes_(graph.num_nodes()),
        cover_(double_cover(graph, execution.threads)),
        max_columns_(columns_to_keep(options.max_columns, graph.num_nodes())),
        solve_{.tolerance = options.tolerance, .max_iterations = options.max_iterations},
        execution_(execution),
        components_(connected_components(graph, execution)),
        balance_(sign_balance(graph, components_)),
        column_(graph.num_nodes()),
        difference_(graph.num_nodes()) {}

  bool is_signed() const override { return true; }

  std::uint32_t nearest(NodeId node) const override {
    if (const auto own = example_at_.find(node); own != example_at_.end()) return 2 * own->second;
    const auto found = examples_in_.find(components_.of_node[node]);
    if (found == examples_in_.end()) return kNone;
    if (has_columns())
      return nearest_by(node, found->second, [&](std::uint32_t e) { return double{columns_[e][node]}; });
    const std::lock_guard lock(mutex_);
    if (asked_node_ != node || asked_count_ != examples_.size()) {
      std::vector<double> column(num_nodes_);
      solve(node, kNoNode, 0, column);
      asked_nearest_ =
          nearest_by(node, found->second, [&](std::uint32_t e) { return column[examples_[e].node]; });
      asked_node_ = node;
      asked_count_ = examples_.size();
    }
    return asked_nearest_;
  }

  double value(std::size_t column, NodeId node) const override { return functions_[column][node]; }

  double prepare(NodeId t, std::uint32_t nearest) override {
    const Example& example = examples_[nearest / 2];
    const double sign = sign_of(nearest);
    solve_column(t);
    if (has_columns()) {
      const Buffer<float>& other = columns_[nearest / 2];
      for (std::size_t i = 0; i < column_.size(); ++i)
        difference_[i] = column_[i] - sign * static_cast<double>(other[i]);
    } else {
      solve(t, example.node, sign, difference_.span());
    }
    return column_[t] + example.diagonal - 2 * sign * column_[example.node];
  }

  void add(std::size_t column, double amount) override {
    for (std::size_t i = 0; i < difference_.size(); ++i) functions_[column][i] += amount * difference_[i];
  }

  void store(NodeId node) override {
    if (solved_ != node) solve_column(node);
    const auto number = static_cast<std::uint32_t>(examples_.size());
    examples_.push_back({node, column_[node]});
    example_at_[node] = number;
    examples_in_[components_.of_node[node]].push_back(number);
    largest_diagonal_ = std::max(largest_diagonal_, column_[node]);
    if (!has_columns()) {
      columns_.clear();
      return;
    }
    Buffer<float> column(column_.size());
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = static_cast<float>(column_[i]);
    columns_.push_back(std::move(column));
  }

  std::size_t add_column() override {
    functions_.emplace_back(num_nodes_);
    return functions_.size() - 1;
  }
  std::size_t add_negative_column() override {
    add_column();
    for (std::size_t i = 0; i < num_nodes_; ++i) functions_.back()[i] = -functions_.front()[i];
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

  double resistance(NodeId node, std::uint32_t example) const override {
    const NodeId other = examples_[example / 2].node;
    if (other == node) return 0;
    std::vector<double> x(num_nodes_);
    const std::lock_guard lock(mutex_);
    solve(node, other, sign_of(example), x);
    return x[node] - sign_of(example) * x[other];
  }

  std::string note() const override { return report_.note(); }

 private:
  struct Example {
    NodeId node;
    double diagonal;
  };

  static double sign_of(std::uint32_t number) { return number % 2 == 0 ? 1 : -1; }
  bool has_columns() const { return examples_.size() <= max_columns_; }

  /// G (e_t - sign e_s), or G e_t: on the cover, with the mirror images taken off.
  void solve(NodeId t, NodeId s, double sign, std::span<double> x) const {
    if (!solver_) solver_.emplace(cover_, solve_, execution_);
    std::vector<double> both(2 * std::size_t{num_nodes_});
    both[t] = 1;
    if (s != kNoNode) both[s] = -sign;
    for (std::size_t i = 0; i < num_nodes_; ++i) both[num_nodes_ + i] = -both[i];
    const SolveReport report = solver_->solve(both, both);
    if (!report.converged) report_ = report;
    std::copy_n(both.begin(), x.size(), x.begin());
  }
  void solve_column(NodeId node) {
    solved_ = kNoNode;
    solve(node, kNoNode, 0, column_.span());
    solved_ = node;
  }

  /// entry(e) is G between the node and example e. Of several as near the oldest.
  template <class Entry>
  std::uint32_t nearest_by(NodeId node, const std::vector<std::uint32_t>& examples, Entry&& entry) const {
    const bool is_balanced = balance_.is_balanced[components_.of_node[node]] != 0;
    const auto for_each_image = [&](auto&& body) {
      for (const std::uint32_t e : examples) {
        const double g = entry(e);
        const bool is_other_side = balance_.side[node] != balance_.side[examples_[e].node];
        for (const std::uint32_t image : {2 * e, 2 * e + 1})
          if (!is_balanced || (image % 2 != 0) == is_other_side)
            body(image, examples_[e].diagonal - 2 * sign_of(image) * g);
      }
    };
    double least = std::numeric_limits<double>::infinity();
    for_each_image([&](std::uint32_t, double distance) { least = std::min(least, distance); });
    std::uint32_t found = kNone;
    for_each_image([&](std::uint32_t image, double distance) {
      if (found == kNone && distance <= least + kZeroMargin * largest_diagonal_) found = image;
    });
    return found;
  }

  NodeId num_nodes_;
  Graph cover_;
  std::size_t max_columns_;
  SolveOptions solve_;
  Execution execution_;
  Components components_;
  SignBalance balance_;
  Buffer<double> column_, difference_;  // the last solved for, and v_t -+ v_s
  NodeId solved_ = kNoNode;
  std::vector<Buffer<double>> functions_;
  std::vector<Example> examples_;
  std::unordered_map<NodeId, std::uint32_t> example_at_;
  std::unordered_map<NodeId, std::vector<std::uint32_t>> examples_in_;  // by component
  std::vector<Buffer<float>> columns_;                                  // by example
  double largest_diagonal_ = 0;
  mutable std::optional<LaplacianSolver> solver_;
  mutable SolveReport report_{.converged = true};
  mutable std::mutex mutex_;  // of the solver, and of the last question
  mutable NodeId asked_node_ = kNoNode;
  mutable std::size_t asked_count_ = 0;
  mutable std::uint32_t asked_nearest_ = kNone;
};

}  // namespace

std::unique_ptr<PounceSpace> pounce_signed_space(const GraphView& graph, const PounceOptions& options,
                                                 const Execution& execution) {
  return std::make_unique<PounceSignedSpace>(graph, options, execution);
}

}  // namespace copse
