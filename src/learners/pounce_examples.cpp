// SPDX-License-Identifier: Apache-2.0
#include "learners/pounce_examples.hpp"

#include <limits>
#include <mutex>
#include <unordered_map>

#include "laplacian/tree_sums.hpp"
#include "learners/hypothesis.hpp"
#include "learners/kernel_operator.hpp"
#include "learners/nearest_marked.hpp"

namespace copse {
namespace {

/// On the graph, v_i are the columns of G, the pseudoinverse of its Laplacian, and cost a solve each.
/// |v_i - v_j|^2 = G_ii + G_jj - 2 G_ij, and the first term is the same for all j: with the column of every
/// stored example at hand, the nearest takes a look into each and no solve. When there are more than
/// `max_columns` of them they are given up: from then on the column of i is solved for.
///
/// On a signed graph (Herbster 2008 states Pounce for these Laplacians as well) an example is stored with its
/// mirror image: told y at s, it also says that -v_s is of the other class. A node i is near to the one of
/// the two that |v_i -+ v_s|^2 = G_ii + G_ss -+ 2 G_is says; in a balanced component only one of them is
/// there.
class ExamplesOnGraph final : public PounceExamples {
 public:
  ExamplesOnGraph(const GraphView& graph, const PounceOptions& options, const Execution& execution)
      : max_columns_(columns_to_keep(options.max_columns, graph.num_nodes())),
        laplacian_(graph, options.kernel.solve, execution),
        functions_(graph.num_nodes(), execution.threads),
        column_(graph.num_nodes()),
        difference_(graph.num_nodes()) {}

  bool is_signed() const override { return laplacian_.is_signed(); }

  std::optional<Stored> nearest(NodeId node) const override {
    if (const auto own = example_at_.find(node); own != example_at_.end()) return stored(own->second);
    const auto found = examples_in_.find(laplacian_.component(node));
    if (found == examples_in_.end()) return std::nullopt;
    return nearest_of(node, found->second);
  }

  double value(std::size_t column, NodeId node) const override { return functions_.value(column, node); }

  double prepare(NodeId t, const Stored& s) override {
    solve_column(t);
    if (has_columns()) {
      const FloatColumn& other = columns_[s.number];
      for (std::size_t i = 0; i < column_.size(); ++i) difference_[i] = column_[i] - s.sign * other[i];
    } else {
      solve(t, s, difference_.span());
    }
    const double sum = column_[t] + examples_[s.number].diagonal,
                 resistance = sum - 2 * s.sign * column_[s.node];
    return resistance > kZeroMargin * sum ? resistance : prepare_near(t, s);
  }

  void add(std::size_t column, double amount) override { functions_.add(column, amount, difference_.span()); }

  void store(NodeId node) override {
    if (solved_ != node) solve_column(node);
    const auto number = static_cast<std::uint32_t>(examples_.size());
    examples_.push_back({node, column_[node]});
    example_at_[node] = number;
    examples_in_[laplacian_.component(node)].push_back(number);
    largest_diagonal_ = std::max(largest_diagonal_, column_[node]);
    if (has_columns())
      columns_.emplace_back(column_.span());
    else
      columns_.clear();
  }

  std::size_t add_column(double factor) override { return functions_.add_column(factor); }

  void clear() override {
    functions_.clear();
    examples_.clear();
    example_at_.clear();
    examples_in_.clear();
    columns_.clear();
    laplacian_.reset();
    solved_ = asked_node_ = kNoNode;
    largest_diagonal_ = 0;
  }

  double resistance(NodeId node, const Stored& s) const override {
    if (s.node == node) return 0;
    std::vector<double> x(laplacian_.num_nodes());
    x[node] = 1;
    x[s.node] = -s.sign;
    laplacian_.solve_afresh(x);
    return std::max(x[node] - s.sign * x[s.node], least_resistance(node));
  }

  std::string note() const override { return laplacian_.note(); }

 private:
  struct Example {
    NodeId node;
    double diagonal;
  };

  bool has_columns() const { return examples_.size() <= max_columns_; }

  Stored stored(std::uint32_t number, double sign = 1) const {
    return {number, examples_[number].node, sign};
  }

  /// x = G e_t, or G (e_t - e_s).
  void solve(NodeId t, const std::optional<Stored>& s, std::span<double> x) const {
    std::fill(x.begin(), x.end(), 0.0);
    x[t] = 1;
    if (s) x[s->node] = -s->sign;
    laplacian_.solve(x);
  }
  void solve_column(NodeId node) {
    solved_ = kNoNode;
    solve(node, std::nullopt, column_.span());
    solved_ = node;
  }

  /// No current leaves a node but by its edges.
  double least_resistance(NodeId node) const { return 1 / weighted_degree(laplacian_.graph(), node); }

  /// Where two nodes are so near to each other that nothing is left of the difference of their columns: it is
  /// solved for. No potential lies outside those of the two ends, which ends what rounding would make larger
  /// and larger.
  double prepare_near(NodeId t, const Stored& s) {
    solve(t, s, difference_.span());
    const double most = std::max(std::fabs(difference_[t]), std::fabs(difference_[s.node]));
    for (double& value : difference_) value = std::clamp(value, -most, most);
    return std::max(difference_[t] - s.sign * difference_[s.node], least_resistance(t));
  }

  /// Of the examples in its component, in the order stored; at least one.
  Stored nearest_of(NodeId node, const std::vector<std::uint32_t>& examples) const {
    if (examples.size() == 1 && !is_signed()) return stored(examples.front());
    if (has_columns()) return nearest_by(node, examples, [&](std::uint32_t e) { return columns_[e][node]; });
    const std::lock_guard lock(mutex_);
    // A question is often asked twice: by predict, and by reveal for itself.
    if (asked_node_ != node || asked_count_ != examples_.size()) {
      std::vector<double> column(laplacian_.num_nodes());
      solve(node, std::nullopt, column);
      asked_nearest_ = nearest_by(node, examples, [&](std::uint32_t e) { return column[examples_[e].node]; });
      asked_node_ = node;
      asked_count_ = examples_.size();
    }
    return asked_nearest_;
  }

  /// entry(e) is G between the node and example e. Of several as near the oldest.
  template <class Entry>
  Stored nearest_by(NodeId node, const std::vector<std::uint32_t>& examples, Entry&& entry) const {
    const auto for_each_image = [&](auto&& body) {
      for (const std::uint32_t e : examples) {
        const double g = entry(e), side = laplacian_.side(node) * laplacian_.side(examples_[e].node);
        for (const double sign : {1.0, -1.0})
          if (sign == side || !laplacian_.is_balanced(node))
            body(stored(e, sign), examples_[e].diagonal - 2 * sign * g);
      }
    };
    double least = std::numeric_limits<double>::infinity();
    for_each_image([&](const Stored&, double distance) { least = std::min(least, distance); });
    const double farthest = least + kZeroMargin * largest_diagonal_;  // distances this close are equal
    std::optional<Stored> found;
    for_each_image([&](const Stored& image, double distance) {
      if (!found && distance <= farthest) found = image;
    });
    return found.value_or(stored(examples.front()));  // where no distance is a number
  }

  std::size_t max_columns_;
  mutable GraphLaplacian laplacian_;
  DenseFunctions functions_;
  Buffer<double> column_, difference_;  // the last solved for, and v_t -+ v_s
  NodeId solved_ = kNoNode;             // whose column it is
  std::vector<Example> examples_;
  std::vector<FloatColumn> columns_;  // by example
  std::unordered_map<NodeId, std::uint32_t> example_at_;
  std::unordered_map<NodeId, std::vector<std::uint32_t>> examples_in_;  // by component
  double largest_diagonal_ = 0;
  mutable std::mutex mutex_;  // of the solver while predicting, and of the last question
  mutable NodeId asked_node_ = kNoNode;
  mutable std::size_t asked_count_ = 0;
  mutable Stored asked_nearest_;
};

/// On a tree: O(log^2 n) for everything.
template <class Integer>
class ExamplesOnTree final : public PounceExamples {
 public:
  ExamplesOnTree(const SpanningForest& forest, const ResistanceScale& scale)
      : sums_(forest), marked_(forest, scale) {}

  std::optional<Stored> nearest(NodeId node) const override {
    const std::uint32_t number = marked_.nearest(node);
    if (number == NearestMarked<Integer>::kNone) return std::nullopt;
    return Stored{number, examples_[number]};
  }
  double value(std::size_t column, NodeId node) const override { return sums_.kernel_sum(node, column); }
  double prepare(NodeId t, const Stored& s) override {
    t_ = t;
    s_ = s.node;
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
  std::size_t add_column(double factor) override { return sums_.add_column(factor); }
  void clear() override {
    sums_.clear();
    marked_.clear();
    examples_.clear();
  }
  double resistance(NodeId node, const Stored& example) const override {
    return sums_.resistance(node, example.node);
  }

 private:
  TreeSums sums_;
  NearestMarked<Integer> marked_;
  std::vector<NodeId> examples_;
  NodeId t_ = kNoNode, s_ = kNoNode;
};

__extension__ using Int128 = __int128;

}  // namespace

std::unique_ptr<PounceExamples> examples_on_graph(const GraphView& graph, const PounceOptions& options,
                                                  const Execution& execution) {
  return std::make_unique<ExamplesOnGraph>(graph, options, execution);
}

std::unique_ptr<PounceExamples> examples_on_tree(const SpanningForest& forest, const ResistanceScale& scale) {
  if (scale.wide) return std::make_unique<ExamplesOnTree<Int128>>(forest, scale);
  return std::make_unique<ExamplesOnTree<std::int64_t>>(forest, scale);
}

std::uint64_t tree_examples_bytes(std::size_t columns) {
  return TreeSums::bytes(1, columns) + NearestMarked<std::int64_t>::bytes(1);
}

}  // namespace copse
