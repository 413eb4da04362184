// SPDX-License-Identifier: Apache-2.0
#include "laplacian/tree_sums.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "laplacian/centroid_order.hpp"

namespace copse {
namespace {

/// A heavy path: an interval of positions.
struct HeavyPath {
  NodeId begin, end;
  NodeId above;  // position of the parent of its first node; kNoNode where that is a root
  NodeId tree;
};

struct Place {
  double length;  // resistance from `above` of the heavy path (from the root itself, on its path) to here
  double offset;  // g of tree_kernel.hpp
};

/// A node of a Fenwick tree. An amount enters a heavy path at the lowest place of it that lies above the
/// node.
struct Entered {
  double amount, amount_by_length;
};

struct TreeTotals {
  double coefficients = 0, by_distance = 0, by_offset = 0;  // sums of alpha, alpha d, alpha g
};

/// What one set of coefficients sums to.
struct Column {
  Buffer<Entered> fenwick;      // by position: a tree of its own for every path, in the path's interval
  std::vector<double> entered;  // by path: all amounts
  std::vector<TreeTotals> totals;

  Column(std::size_t num_nodes, std::size_t num_paths, std::size_t num_trees)
      : fenwick(num_nodes), entered(num_paths), totals(num_trees) {}
};

}  // namespace

struct TreeSums::State {
  Buffer<NodeId> position;  // by node
  Buffer<NodeId> path_of;   // by position, as all that follows
  Buffer<Place> places;
  std::vector<HeavyPath> paths;
  std::size_t num_trees;
  std::vector<Column> columns;

  explicit State(const SpanningForest& forest) : State(centroid_order(forest)) {}
  explicit State(CentroidOrder&& order)
      : position(std::move(order.position)),
        path_of(order.num_nodes()),
        places(order.num_nodes()),
        num_trees(order.starts.size()) {
    const Buffer<double> offset = centroid_offsets(order);
    std::size_t num_paths = 0;
    for (NodeId p = 0; p < order.num_nodes(); ++p) num_paths += starts_path(order, p);
    paths.reserve(num_paths);
    NodeId tree = 0;
    for (NodeId p = 0; p < order.num_nodes(); ++p) {
      const bool root = order.is_root(p);
      if (root && p > 0) ++tree;
      if (starts_path(order, p)) {
        paths.push_back({p, p, root ? kNoNode : order.parent[p], tree});
        places[p].length = root ? 0 : order.resistance(p);
      } else {
        places[p].length = places[p - 1].length + order.resistance(p);
      }
      paths.back().end = p + 1;
      path_of[p] = static_cast<NodeId>(paths.size() - 1);
      places[p].offset = offset[p];
    }
    add_column();
  }

  Column& add_column() { return columns.emplace_back(position.size(), paths.size(), num_trees); }

  static bool starts_path(const CentroidOrder& order, NodeId p) {
    return order.is_root(p) || order.parent[p] + 1 != p;
  }

  /// Visits the heavy paths from p up to the root: visit(path, place on it). Returns the distance of p.
  template <class Visit>
  double climb(NodeId p, Visit&& visit) const {
    double distance = 0;
    for (;;) {
      const NodeId number = path_of[p];
      visit(number, p);
      distance += places[p].length;
      if (paths[number].above == kNoNode) return distance;
      p = paths[number].above;
    }
  }

  void enter(Column& column, NodeId number, NodeId p, double amount) const {
    const HeavyPath& path = paths[number];
    const std::uint64_t size = path.end - path.begin;
    const double by_length = amount * places[p].length;
    column.entered[number] += amount;
    for (std::uint64_t k = p - path.begin + 1; k <= size; k += k & -k) {
      Entered& sum = column.fenwick[path.begin + k - 1];
      sum.amount += amount;
      sum.amount_by_length += by_length;
    }
  }

  /// Sum over the edges of the path down to p of resistance times coefficients below: whatever entered above
  /// p counts with its own length, the rest with that of p.
  double below(const Column& column, NodeId number, NodeId p) const {
    const HeavyPath& path = paths[number];
    Entered sum{0, 0};
    for (std::uint64_t k = p - path.begin + 1; k > 0; k &= k - 1) {
      sum.amount += column.fenwick[path.begin + k - 1].amount;
      sum.amount_by_length += column.fenwick[path.begin + k - 1].amount_by_length;
    }
    return sum.amount_by_length + places[p].length * (column.entered[number] - sum.amount);
  }

  NodeId tree_of(NodeId p) const { return paths[path_of[p]].tree; }
};

TreeSums::TreeSums(const SpanningForest& forest) : state_(std::make_unique<State>(forest)) {}
TreeSums::~TreeSums() = default;
TreeSums::TreeSums(TreeSums&&) noexcept = default;
TreeSums& TreeSums::operator=(TreeSums&&) noexcept = default;

void TreeSums::add(NodeId node, double amount, std::size_t column) {
  State& state = *state_;
  Column& sums = state.columns[column];
  const NodeId p = state.position[node];
  const double distance =
      state.climb(p, [&](NodeId path, NodeId place) { state.enter(sums, path, place, amount); });
  TreeTotals& totals = sums.totals[state.tree_of(p)];
  totals.coefficients += amount;
  totals.by_distance += amount * distance;
  totals.by_offset += amount * state.places[p].offset;
}

double TreeSums::resistance_sum(NodeId node, std::size_t column) const {
  const Column& sums = state_->columns[column];
  const NodeId p = state_->position[node];
  double common = 0;
  const double distance =
      state_->climb(p, [&](NodeId path, NodeId place) { common += state_->below(sums, path, place); });
  const TreeTotals& totals = sums.totals[state_->tree_of(p)];
  return (totals.by_distance - common) + (totals.coefficients * distance - common);
}

double TreeSums::kernel_sum(NodeId node, std::size_t column) const {
  const Column& sums = state_->columns[column];
  const NodeId p = state_->position[node];
  double common = 0;
  state_->climb(p, [&](NodeId path, NodeId place) { common += state_->below(sums, path, place); });
  const TreeTotals& totals = sums.totals[state_->tree_of(p)];
  return common + (totals.coefficients * state_->places[p].offset + totals.by_offset);
}

double TreeSums::coefficient_sum(NodeId node, std::size_t column) const {
  return state_->columns[column].totals[state_->tree_of(state_->position[node])].coefficients;
}

std::size_t TreeSums::num_columns() const { return state_->columns.size(); }

std::size_t TreeSums::add_column() {
  state_->add_column();
  return num_columns() - 1;
}

std::size_t TreeSums::add_column(std::size_t other, double factor) {
  Column& sums = state_->add_column();
  const Column& from = state_->columns[other];
  for (std::size_t i = 0; i < sums.fenwick.size(); ++i)
    sums.fenwick[i] = {factor * from.fenwick[i].amount, factor * from.fenwick[i].amount_by_length};
  for (std::size_t i = 0; i < sums.entered.size(); ++i) sums.entered[i] = factor * from.entered[i];
  for (std::size_t i = 0; i < sums.totals.size(); ++i) {
    const TreeTotals& totals = from.totals[i];
    sums.totals[i] = {factor * totals.coefficients, factor * totals.by_distance, factor * totals.by_offset};
  }
  return num_columns() - 1;
}

void TreeSums::clear() {
  state_->columns.clear();
  state_->add_column();
}

double TreeSums::diagonal(NodeId node) const {
  const NodeId p = state_->position[node];
  return state_->climb(p, [](NodeId, NodeId) {}) + 2 * state_->places[p].offset;
}

double TreeSums::resistance(NodeId a, NodeId b) const {
  const State& state = *state_;
  NodeId p = state.position[a], q = state.position[b];
  if (state.tree_of(p) != state.tree_of(q)) return std::numeric_limits<double>::infinity();
  double sum = 0;
  // In preorder the path that begins later does not hold an ancestor of the other place: leave that one.
  while (state.path_of[p] != state.path_of[q]) {
    if (state.paths[state.path_of[p]].begin < state.paths[state.path_of[q]].begin) std::swap(p, q);
    sum += state.places[p].length;
    p = state.paths[state.path_of[p]].above;
  }
  return sum + std::fabs(state.places[p].length - state.places[q].length);
}

std::uint64_t TreeSums::bytes(std::uint64_t num_nodes, std::size_t columns) {
  // Paths and trees are at most as many as nodes; in a tree of several nodes, paths are its leaves.
  return num_nodes * (2 * sizeof(NodeId) + sizeof(Place) + sizeof(HeavyPath) +
                      columns * (sizeof(Entered) + sizeof(double) + sizeof(TreeTotals)));
}

}  // namespace copse
