// SPDX-License-Identifier: Apache-2.0
#include "laplacian/approximate_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "copse/support/random.hpp"
#include "laplacian/elimination_graph.hpp"

namespace copse {

namespace {

/// The factor, in the order of elimination, so that applying it is one pass forward and one back. Column i
/// of the unit triangle is -coefficient of each later neighbour; the coefficients sum to 1 and the last of
/// them, the largest, is what the others leave. Constants are thus kept to the last bit although
/// coefficients are floats: a rounded one is a slightly different edge, not a leak to the ground.
/// The ground is node number num_nodes.
class EliminationFactor final : public Preconditioner {
 public:
  struct Column {
    NodeId node;
    std::uint32_t count;
    double inverse_pivot;  // 0 for the last node of a singular component
  };
  struct Entry {
    NodeId node;
    float coefficient;
  };

  explicit EliminationFactor(NodeId num_nodes) : num_nodes_(num_nodes), entries_(kAhead) {}

  ColumnValues apply(double* z, int width) const override {
    ColumnValues dot{};
    with_width(width, [&](auto w) {
      double* ground = z + std::size_t{num_nodes_} * w();
      std::fill_n(ground, w(), 0.0);
      dot = forward<w()>(z);
      std::fill_n(ground, w(), 0.0);
      backward<w()>(z);
    });
    return dot;
  }
  std::uint64_t entries() const override { return entries_.size() - 2 * kAhead; }

  static constexpr std::ptrdiff_t kAhead = 16;
  NodeId num_nodes_;
  std::vector<Column> columns_;
  std::vector<Entry> entries_;

 private:
  template <int width>
  static void prefetch(const double* z, const Entry* entry) {
    __builtin_prefetch(z + std::size_t{entry->node} * width);
  }

  /// Returns r . z = sum of (what reaches a node)^2 / pivot, which comes for nothing here.
  template <int width>
  ColumnValues forward(double* z) const {
    ColumnValues dot{};
    const Entry* entry = entries_.data() + kAhead;
    for (const Column& column : columns_) {
      double* own = z + std::size_t{column.node} * width;
      double value[width], rest[width];
      for (int c = 0; c < width; ++c) {
        value[c] = rest[c] = own[c];
        own[c] *= column.inverse_pivot;
        dot[c] += value[c] * own[c];
      }
      if (column.count == 0) continue;
      for (const Entry* last = entry + column.count - 1; entry != last; ++entry) {
        prefetch<width>(z, entry + kAhead);
        double* other = z + std::size_t{entry->node} * width;
        for (int c = 0; c < width; ++c) {
          const double share = static_cast<double>(entry->coefficient) * value[c];
          other[c] += share;
          rest[c] -= share;
        }
      }
      double* other = z + std::size_t{entry++->node} * width;
      for (int c = 0; c < width; ++c) other[c] += rest[c];
    }
    return dot;
  }

  template <int width>
  void backward(double* z) const {
    const Entry* entry = entries_.data() + entries_.size() - kAhead;
    for (std::size_t i = columns_.size(); i-- > 0;) {
      const Column& column = columns_[i];
      if (column.count == 0) continue;
      const double* last = z + std::size_t{(--entry)->node} * width;
      double sum[width] = {};
      for (std::uint32_t left = column.count - 1; left > 0; --left) {
        --entry;
        prefetch<width>(z, entry - kAhead);
        const double* other = z + std::size_t{entry->node} * width;
        for (int c = 0; c < width; ++c)
          sum[c] += static_cast<double>(entry->coefficient) * (other[c] - last[c]);
      }
      double* own = z + std::size_t{column.node} * width;
      for (int c = 0; c < width; ++c) own[c] += last[c] + sum[c];
    }
  }
};

class Elimination {
 public:
  Elimination(const LaplacianSystem& system, bool doubled, const Execution& execution)
      : system_(system),
        scale_(unit_scale(system)),
        graph_(system, scale_, doubled),
        queue_(system.num_nodes()),
        exact_degree_(system.num_arcs < 3 * std::uint64_t{system.num_free} ? 16 : 4),
        stream_(execution.seed, Purpose::laplacian_factor, doubled ? 1 : 0),
        execution_(execution),
        check_(execution),
        factor_(std::make_unique<EliminationFactor>(system.num_nodes())) {}

  std::unique_ptr<EliminationFactor> run(std::uint64_t max_entries) {
    constexpr NodeId kBetweenReports = 1 << 12;
    factor_->columns_.reserve(system_.num_free);
    factor_->entries_.reserve(std::min<std::uint64_t>(max_entries, system_.num_arcs));
    for (NodeId u = 0; u < system_.num_nodes(); ++u) {
      if (!system_.is_fixed(u)) queue_.update(u, graph_.degree(u));
    }
    const auto degree_of = [&](NodeId u) { return graph_.degree(u); };
    NodeId done = 0;
    for (NodeId u; (u = queue_.pop(degree_of)) != kNoNode; ++done) {
      if (done % kBetweenReports == 0) {
        execution_.throw_if_cancelled();
        execution_.report("factoring the Laplacian", done, system_.num_free);
      }
      check_.step(graph_.degree(u));
      if (factor_->entries_.size() + graph_.degree(u) > max_entries)
        leave(u);
      else
        eliminate(u);
    }
    factor_->entries_.resize(factor_->entries_.size() + EliminationFactor::kAhead);
    factor_->entries_.shrink_to_fit();
    return std::move(factor_);
  }

 private:
  struct Neighbor {
    double weight;
    NodeId node;
    int copies;
  };

  /// A power of two that brings the largest weight near 1: nothing under- or overflows, no digit changes.
  static double unit_scale(const LaplacianSystem& system) {
    float largest = 1;
    if (system.graph.is_weighted() && system.num_arcs > 0)
      largest = *std::max_element(system.graph.weights.begin(), system.graph.weights.end());
    return std::ldexp(1.0, -std::ilogb(largest));
  }

  void leave(NodeId u) {
    const double weight = graph_.weight_at(u);
    factor_->columns_.push_back({u, 0, weight > 0 ? scale_ / weight : 0});
  }

  void eliminate(NodeId u) {
    neighbors_.clear();
    graph_.remove(u, [&](NodeId v, double weight, int copies) { neighbors_.push_back({weight, v, copies}); });
    if (graph_.ground(u) > 0) neighbors_.push_back({graph_.ground(u), system_.num_nodes(), 1});
    sort_neighbors();
    sum_from_the_end();
    store(u);
    if (neighbors_.size() <= exact_degree_)
      join_all();
    else
      join_at_random();
    for (const Neighbor& neighbor : neighbors_) {
      if (neighbor.node != system_.num_nodes()) queue_.update(neighbor.node, graph_.degree(neighbor.node));
    }
  }

  /// Lightest first: what a light neighbour samples is then among heavier ones, which keeps the variance low.
  void sort_neighbors() {
    const auto before = [](const Neighbor& a, const Neighbor& b) {
      return a.weight != b.weight ? a.weight < b.weight : a.node < b.node;
    };
    if (neighbors_.size() > 24) return std::sort(neighbors_.begin(), neighbors_.end(), before);
    for (std::size_t i = 1; i < neighbors_.size(); ++i) {
      const Neighbor moved = neighbors_[i];
      std::size_t at = i;
      for (; at > 0 && before(moved, neighbors_[at - 1]); --at) neighbors_[at] = neighbors_[at - 1];
      neighbors_[at] = moved;
    }
  }

  /// rest_[i]: weight of the neighbours from i on. From the end, so that small ones are not differences of
  /// large ones.
  void sum_from_the_end() {
    rest_.resize(neighbors_.size() + 1);
    rest_[neighbors_.size()] = 0;
    for (std::size_t i = neighbors_.size(); i-- > 0;) rest_[i] = rest_[i + 1] + neighbors_[i].weight;
  }

  void store(NodeId u) {
    const double inverse = neighbors_.empty() ? 0 : 1 / rest_[0];
    factor_->columns_.push_back({u, static_cast<std::uint32_t>(neighbors_.size()), inverse * scale_});
    for (const Neighbor& neighbor : neighbors_)
      factor_->entries_.push_back({neighbor.node, static_cast<float>(neighbor.weight * inverse)});
  }

  void join(NodeId u, NodeId v, double weight) {
    if (u == system_.num_nodes())
      graph_.add_ground(v, weight);
    else if (v == system_.num_nodes())
      graph_.add_ground(u, weight);
    else
      graph_.add_edge(u, v, weight);
  }

  /// The whole clique: an edge of weight w_i w_j / sum between every two.
  void join_all() {
    for (std::size_t i = 0; i < neighbors_.size(); ++i) {
      for (std::size_t j = i + 1; j < neighbors_.size(); ++j)
        join(neighbors_[i].node, neighbors_[j].node,
             neighbors_[i].weight * (neighbors_[j].weight / rest_[0]));
    }
  }

  /// Neighbour i meets one later neighbour j, drawn with probability w_j / rest_[i + 1], over an edge of
  /// weight w_i rest_[i + 1] / sum: w_i w_j / sum in expectation.
  void join_at_random() {
    for (std::size_t i = 0; i + 1 < neighbors_.size(); ++i) {
      const Neighbor& neighbor = neighbors_[i];
      const double weight = neighbor.weight * (rest_[i + 1] / rest_[0]) / neighbor.copies;
      for (int copy = 0; copy < neighbor.copies; ++copy)
        join(neighbor.node, neighbors_[later(i)].node, weight);
    }
  }

  std::size_t later(std::size_t i) {
    const double aim = rest_[i + 1] * (stream_.next32() + 0.5) * 0x1p-32;
    // rest_ falls: the last index whose rest is still above the aim.
    const auto found = std::lower_bound(rest_.begin() + static_cast<std::ptrdiff_t>(i) + 2, rest_.end() - 1,
                                        aim, [](double rest, double a) { return rest > a; });
    return static_cast<std::size_t>(found - rest_.begin()) - 1;
  }

  const LaplacianSystem& system_;
  double scale_;
  EliminationGraph graph_;
  DegreeQueue queue_;
  std::size_t
      exact_degree_;  // up to here cliques are added whole: they stay small where the graph is nearly a tree
  Stream stream_;
  const Execution& execution_;
  CancelCheck check_;
  std::unique_ptr<EliminationFactor> factor_;
  std::vector<Neighbor> neighbors_;
  std::vector<double> rest_;
};

}  // namespace

std::unique_ptr<Preconditioner> approximate_cholesky(const LaplacianSystem& system, bool doubled,
                                                     std::uint64_t max_entries, const Execution& execution) {
  return Elimination(system, doubled, execution).run(max_entries);
}

}  // namespace copse
