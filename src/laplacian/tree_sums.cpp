// SPDX-License-Identifier: Apache-2.0
#include "laplacian/tree_sums.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "laplacian/centroid_order.hpp"

namespace copse {

TreeSums::TreeSums(const SpanningForest& forest) {
  CentroidOrder order = centroid_order(forest);
  const NodeId n = order.num_nodes();
  const Buffer<double> offset = centroid_offsets(order);
  position_ = std::move(order.position);
  path_of_ = Buffer<NodeId>(n);
  places_ = Buffer<Place>(n);
  num_trees_ = order.starts.size();
  NodeId tree = 0;
  for (NodeId p = 0; p < n; ++p) {
    const bool is_root = order.is_root(p);
    if (is_root && p > 0) ++tree;
    if (is_root || order.parent[p] + 1 != p) {
      paths_.push_back({p, p, is_root ? kNoNode : order.parent[p], tree});
      places_[p].length = is_root ? 0 : order.resistance(p);
    } else {
      places_[p].length = places_[p - 1].length + order.resistance(p);
    }
    paths_.back().end = p + 1;
    path_of_[p] = static_cast<NodeId>(paths_.size() - 1);
    places_[p].offset = offset[p];
  }
  paths_.shrink_to_fit();
}

template <class Visit>
double TreeSums::climb(NodeId p, Visit&& visit) const {
  double distance = 0;
  for (;;) {
    const NodeId number = path_of_[p];
    visit(number, p);
    distance += places_[p].length;
    if (paths_[number].above == kNoNode) return distance;
    p = paths_[number].above;
  }
}

void TreeSums::enter(Column& column, NodeId number, NodeId p, double amount) const {
  const HeavyPath& path = paths_[number];
  const std::uint64_t size = path.end - path.begin;
  const double by_length = amount * places_[p].length;
  column.entered[number] += amount;
  for (std::uint64_t k = p - path.begin + 1; k <= size; k += k & -k) {
    Entered& sum = column.fenwick[path.begin + k - 1];
    sum.amount += amount;
    sum.amount_by_length += by_length;
  }
}

/// Sum over the edges of the path down to p of resistance times coefficients below: whatever entered above
/// p counts with its own length, the rest with that of p.
double TreeSums::below(const Column& column, NodeId number, NodeId p) const {
  const HeavyPath& path = paths_[number];
  Entered sum{0, 0};
  for (std::uint64_t k = p - path.begin + 1; k > 0; k &= k - 1) {
    sum.amount += column.fenwick[path.begin + k - 1].amount;
    sum.amount_by_length += column.fenwick[path.begin + k - 1].amount_by_length;
  }
  return sum.amount_by_length + places_[p].length * (column.entered[number] - sum.amount);
}

void TreeSums::add(NodeId node, double amount, std::size_t column) {
  Column& sums = columns_[column];
  const NodeId p = position_[node];
  climb(p, [&](NodeId path, NodeId place) { enter(sums, path, place, amount); });
  sums.totals[tree_of(p)].coefficients += amount;
  sums.totals[tree_of(p)].by_offset += amount * places_[p].offset;
}

double TreeSums::kernel_sum(NodeId node, std::size_t column) const {
  const Column& sums = columns_[column];
  const NodeId p = position_[node];
  double common = 0;
  climb(p, [&](NodeId path, NodeId place) { common += below(sums, path, place); });
  const Totals& totals = sums.totals[tree_of(p)];
  return common + (totals.coefficients * places_[p].offset + totals.by_offset);
}

double TreeSums::coefficient_sum(NodeId node, std::size_t column) const {
  return columns_[column].totals[tree_of(position_[node])].coefficients;
}

std::size_t TreeSums::add_column(double factor) {
  columns_.push_back({Buffer<Entered>(position_.size()), std::vector<double>(paths_.size()),
                      std::vector<Totals>(num_trees_)});
  if (factor != 0) {
    Column& sums = columns_.back();
    const Column& from = columns_.front();
    for (std::size_t i = 0; i < sums.fenwick.size(); ++i)
      sums.fenwick[i] = {factor * from.fenwick[i].amount, factor * from.fenwick[i].amount_by_length};
    for (std::size_t i = 0; i < sums.entered.size(); ++i) sums.entered[i] = factor * from.entered[i];
    for (std::size_t i = 0; i < sums.totals.size(); ++i)
      sums.totals[i] = {factor * from.totals[i].coefficients, factor * from.totals[i].by_offset};
  }
  return columns_.size() - 1;
}

double TreeSums::diagonal(NodeId node) const {
  const NodeId p = position_[node];
  return climb(p, [](NodeId, NodeId) {}) + 2 * places_[p].offset;
}

double TreeSums::resistance(NodeId a, NodeId b) const {
  NodeId p = position_[a], q = position_[b];
  if (tree_of(p) != tree_of(q)) return std::numeric_limits<double>::infinity();
  double sum = 0;
  // In preorder the path that begins later does not hold an ancestor of the other place: leave that one.
  while (path_of_[p] != path_of_[q]) {
    if (paths_[path_of_[p]].begin < paths_[path_of_[q]].begin) std::swap(p, q);
    sum += places_[p].length;
    p = paths_[path_of_[p]].above;
  }
  return sum + std::fabs(places_[p].length - places_[q].length);
}

std::uint64_t TreeSums::bytes(std::uint64_t num_nodes, std::size_t columns) {
  // Paths and trees are at most as many as nodes; in a tree of several nodes, paths are its leaves.
  return num_nodes * (2 * sizeof(NodeId) + sizeof(Place) + sizeof(HeavyPath) +
                      columns * (sizeof(Entered) + sizeof(double) + sizeof(Totals)));
}

}  // namespace copse
