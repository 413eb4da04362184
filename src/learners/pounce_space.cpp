// SPDX-License-Identifier: Apache-2.0
#include "learners/pounce_space.hpp"

#include <limits>
#include <optional>

#include "copse/graph/components.hpp"
#include "copse/laplacian/resistance.hpp"
#include "copse/laplacian/tree_sums.hpp"
#include "learners/nearest_marked.hpp"
#include "learners/pounce_column_space.hpp"

namespace copse {
namespace {

/// The sketch decides alone where the next example is this much farther: then the nearest is right unless one
/// of the two resistances is off by half of itself.
constexpr double kClearlyFarther = 3;

/// On the graph, G = L^+. Where columns have been given up, a sketch of the resistances answers where it is
/// clear, else a solve for the column of i, which together with the stored L^+_jj ranks all examples exactly.
class PounceGraphSpace final : public PounceColumnSpace {
 public:
  PounceGraphSpace(const GraphView& graph, const PounceOptions& options, const Execution& execution)
      : PounceColumnSpace(connected_components(graph, execution).of_node, options, execution),
        graph_(graph),
        num_projections_(options.num_projections) {}

  void clear() override {
    PounceColumnSpace::clear();
    sketch_.reset();
  }

  double resistance(NodeId node, std::uint32_t number) const override {
    std::vector<double> x(num_nodes());
    const NodeId other = examples_[number].node;
    if (other == node) return 0;
    x[node] = 1;
    x[other] = -1;
    LaplacianSolver(graph_, solve_, execution_).solve(x, x);
    return std::max(x[node] - x[other], least_resistance(node));
  }

 private:
  void solve(NodeId t, NodeId s, double sign, std::span<double> x) const override {
    std::fill(x.begin(), x.end(), 0.0);
    x[t] = 1;
    if (s != kNoNode) x[s] = -sign;
    solve_on(graph_, x);
  }

  double least_resistance(NodeId node) const override { return 1 / weighted_degree(graph_, node); }

  void columns_given_up() override {
    if (num_projections_ > 0) sketch_.emplace(graph_, num_projections_, solve_, execution_);
  }

  std::uint32_t nearest_of(NodeId node, const std::vector<std::uint32_t>& examples) const override {
    if (examples.size() == 1) return examples.front();
    if (has_columns()) return nearest_by(examples, [&](std::uint32_t e) { return columns_[e][node]; });
    return remembered(node, [&] { return nearest_without_columns(node, examples); });
  }

  /// entry(e) is L^+ between the node asked about and example e.
  template <class Entry>
  std::uint32_t nearest_by(const std::vector<std::uint32_t>& examples, Entry&& entry) const {
    const auto distance = [&](std::uint32_t e) { return examples_[e].diagonal - 2 * entry(e); };
    double least = std::numeric_limits<double>::infinity();
    for (const std::uint32_t e : examples) least = std::min(least, distance(e));
    for (const std::uint32_t e : examples)
      if (distance(e) <= least + margin()) return e;
    return examples.front();  // where no distance is a number
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
    std::vector<double> column(num_nodes());
    solve(node, kNoNode, 0, column);
    return nearest_by(examples, [&](std::uint32_t e) { return column[examples_[e].node]; });
  }

  GraphView graph_;
  int num_projections_;
  std::optional<ResistanceSketch> sketch_;
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
