// SPDX-License-Identifier: Apache-2.0
#include "copse/laplacian/tree_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "copse/support/parallel.hpp"
#include "laplacian/centroid_order.hpp"
#include "laplacian/range_minimum.hpp"
#include "support/rounded.hpp"

namespace copse {
namespace {

__extension__ using Int128 = __int128;  // GCC and Clang both have it; ISO C++ does not

/// The unit in which distances on a forest are counted; tree_kernel.hpp says why they are integers.
struct DistanceScale {
  int exponent = 0;  // units are 2^-exponent
  bool wide = false;

  static DistanceScale of(const CentroidOrder& order) {
    Buffer<double> distance(order.num_nodes());
    double farthest = 0, smallest = std::numeric_limits<double>::infinity();
    for (NodeId p = 0; p < order.num_nodes(); ++p) {
      if (order.is_root(p)) continue;
      const double resistance = order.resistance(p);
      distance[p] = distance[order.parent[p]] + resistance;
      farthest = std::max(farthest, distance[p]);
      smallest = std::min(smallest, resistance);
    }
    if (farthest == 0) return {};
    const bool wide = farthest >= 0x1p28 * smallest;
    // Twice a distance must fit, and what rounding adds to a long sum.
    return {(wide ? 124 : 60) - std::ilogb(farthest), wide};
  }

  template <class Integer>
  Integer count(double resistance) const {
    // At least one unit: different nodes never lie in one place.
    return std::max<Integer>(1, rounded<Integer>(std::ldexp(resistance, exponent)));
  }
  template <class Integer>
  double to_double(Integer distance) const {
    return std::ldexp(static_cast<double>(distance), -exponent);
  }
};

/// Distances from the centroid, by position, and those of lowest common ancestors. All nodes behind a, up to
/// b, lie below the lowest common ancestor of a and b, and among them is its child towards b; so the smallest
/// distance of a *parent* in (a, b] is the ancestor's, which is never looked for. A root's is -1: it shows
/// that a and b are in different trees.
template <class Integer>
class CentroidDistances {
 public:
  CentroidDistances(const CentroidOrder& order, const DistanceScale& scale)
      : scale_(scale), of_parent_(order.num_nodes()) {
    for (NodeId p = 0; p < order.num_nodes(); ++p)
      of_parent_[p] = order.is_root(p) ? Integer{-1} : of(order, order.parent[p]);
    minimum_ = RangeMinimum<Integer>(of_parent_.span());
  }

  Integer of(const CentroidOrder& order, NodeId p) const {
    return of_parent_[p] < 0 ? 0 : of_parent_[p] + scale_.count<Integer>(order.resistance(p));
  }
  /// Of the lowest common ancestor of two different positions, a < b; -1 if there is none.
  Integer of_ancestor(NodeId a, NodeId b) const {
    return minimum_.minimum(std::size_t{a} + 1, std::size_t{b} + 1);
  }

 private:
  DistanceScale scale_;
  Buffer<Integer> of_parent_;
  RangeMinimum<Integer> minimum_;
};

/// Means over positions [begin, end) of the columns of x. Eight sums that do not wait for each other.
template <std::size_t Columns>
void means_of(const double* x, std::size_t begin, std::size_t end, std::span<double> mean) {
  const std::size_t k = Columns == 0 ? mean.size() : Columns;
  constexpr std::size_t kLanes = 8;
  std::vector<double> sums(kLanes * k);
  std::size_t p = begin;
  for (; p + kLanes <= end; p += kLanes)
    for (std::size_t i = 0; i < kLanes * k; ++i) sums[i] += x[p * k + i];
  for (; p < end; ++p)
    for (std::size_t c = 0; c < k; ++c) sums[c] += x[p * k + c];
  for (std::size_t c = 0; c < k; ++c) {
    mean[c] = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) mean[c] += sums[lane * k + c];
    mean[c] /= static_cast<double>(end - begin);
  }
}

/// L^+ x for `Columns` columns (0: as many as told), in place, both in the order of positions. The flow
/// through the edge above p is what x puts into p's subtree, and the potential drops by flow times resistance
/// along it.
template <std::size_t Columns>
void multiply_trees(const CentroidOrder& order, double* x, std::size_t told) {
  const std::size_t k = Columns == 0 ? told : Columns;
  const NodeId* parent = order.parent.data();
  std::vector<double> mean(k);
  for (std::size_t tree = 0; tree < order.starts.size(); ++tree) {
    const std::size_t begin = order.starts[tree], end = begin + order.tree_size(tree);
    means_of<Columns>(x, begin, end, mean);
    for (std::size_t p = end - 1; p > begin; --p) {
      double* up = x + std::size_t{parent[p]} * k;
      for (std::size_t c = 0; c < k; ++c) up[c] += x[p * k + c] -= mean[c];
    }
    for (std::size_t c = 0; c < k; ++c) x[begin * k + c] = 0;
    for (std::size_t p = begin + 1; p < end; ++p) {
      const double* up = x + std::size_t{parent[p]} * k;
      const double resistance = order.resistance(static_cast<NodeId>(p));
      for (std::size_t c = 0; c < k; ++c) x[p * k + c] = up[c] + resistance * x[p * k + c];
    }
    means_of<Columns>(x, begin, end, mean);
    for (std::size_t p = begin; p < end; ++p)
      for (std::size_t c = 0; c < k; ++c) x[p * k + c] -= mean[c];
  }
}

void expect_size(std::size_t size, std::size_t wanted, const char* what) {
  if (size != wanted)
    throw std::logic_error(std::string("TreeKernel: ") + what + " has " + std::to_string(size) +
                           " values, not " + std::to_string(wanted));
}

/// The chosen columns of a Gram matrix, by position.
struct SortedColumns {
  std::vector<NodeId> position;
  std::vector<double> offset;
  std::vector<std::size_t> place;  // in the caller's order
  std::vector<double> ancestor;    // [i]: distance of the common ancestor of columns i and i + 1
};

}  // namespace

struct TreeKernel::State {
  CentroidOrder order;
  DistanceScale scale;
  Buffer<double> offset;
  std::variant<CentroidDistances<std::int64_t>, CentroidDistances<Int128>> distances;

  explicit State(const SpanningForest& forest) : State(centroid_order(forest)) {}
  explicit State(CentroidOrder&& made)
      : order(std::move(made)),
        scale(DistanceScale::of(order)),
        offset(centroid_offsets(order)),
        distances(measure()) {
    order.size = Buffer<NodeId>();
  }
  std::variant<CentroidDistances<std::int64_t>, CentroidDistances<Int128>> measure() const {
    if (scale.wide) return CentroidDistances<Int128>(order, scale);
    return CentroidDistances<std::int64_t>(order, scale);
  }

  double distance(NodeId p) const {
    return std::visit([&](const auto& d) { return scale.to_double(d.of(order, p)); }, distances);
  }
  /// Of the lowest common ancestor of two positions; below 0 if there is none.
  double ancestor_distance(NodeId p, NodeId q) const {
    if (p == q) return distance(p);
    const auto [a, b] = std::minmax(p, q);
    return std::visit([&, a = a, b = b](const auto& d) { return scale.to_double(d.of_ancestor(a, b)); },
                      distances);
  }

  SortedColumns sort(std::span<const NodeId> nodes) const {
    SortedColumns columns;
    columns.place.resize(nodes.size());
    std::iota(columns.place.begin(), columns.place.end(), std::size_t{0});
    std::sort(columns.place.begin(), columns.place.end(), [&](std::size_t a, std::size_t b) {
      const NodeId p = order.position[nodes[a]], q = order.position[nodes[b]];
      return p != q ? p < q : a < b;
    });
    for (const std::size_t place : columns.place) {
      const NodeId p = order.position[nodes[place]];
      if (!columns.position.empty())
        columns.ancestor.push_back(ancestor_distance(columns.position.back(), p));
      columns.position.push_back(p);
      columns.offset.push_back(offset[p]);
    }
    return columns;
  }

  /// The common ancestor of a row and a column is the highest of those between neighbours on the way: from
  /// the row's place to both sides, a running minimum.
  void fill_row(NodeId p, const SortedColumns& columns, double* row) const {
    const std::size_t count = columns.position.size();
    const auto middle = static_cast<std::size_t>(
        std::lower_bound(columns.position.begin(), columns.position.end(), p) - columns.position.begin());
    const double own = offset[p];
    const auto value = [&](double least, std::size_t i) {
      return least < 0 ? 0.0 : least + (own + columns.offset[i]);
    };
    if (middle < count) {
      double least = ancestor_distance(p, columns.position[middle]);
      row[columns.place[middle]] = value(least, middle);
      for (std::size_t i = middle + 1; i < count; ++i) {
        least = std::min(least, columns.ancestor[i - 1]);
        row[columns.place[i]] = value(least, i);
      }
    }
    if (middle > 0) {
      double least = ancestor_distance(p, columns.position[middle - 1]);
      row[columns.place[middle - 1]] = value(least, middle - 1);
      for (std::size_t i = middle - 1; i-- > 0;) {
        least = std::min(least, columns.ancestor[i]);
        row[columns.place[i]] = value(least, i);
      }
    }
  }
};

TreeKernel::TreeKernel(const SpanningForest& forest) : state_(std::make_unique<State>(forest)) {}
TreeKernel::~TreeKernel() = default;
TreeKernel::TreeKernel(TreeKernel&&) noexcept = default;
TreeKernel& TreeKernel::operator=(TreeKernel&&) noexcept = default;

NodeId TreeKernel::num_nodes() const { return state_->order.num_nodes(); }
bool TreeKernel::is_wide() const { return state_->scale.wide; }

double TreeKernel::diagonal(NodeId node) const {
  const NodeId p = state_->order.position[node];
  return state_->distance(p) + 2 * state_->offset[p];
}

double TreeKernel::entry(NodeId a, NodeId b) const {
  const NodeId p = state_->order.position[a], q = state_->order.position[b];
  const double ancestor = state_->ancestor_distance(p, q);
  return ancestor < 0 ? 0 : ancestor + (state_->offset[p] + state_->offset[q]);
}

double TreeKernel::resistance(NodeId a, NodeId b) const {
  if (a == b) return 0;
  const auto [p, q] = std::minmax(state_->order.position[a], state_->order.position[b]);
  return std::visit(
      [&, p = p, q = q](const auto& distances) {
        const auto ancestor = distances.of_ancestor(p, q);
        if (ancestor < 0) return std::numeric_limits<double>::infinity();
        const auto down = distances.of(state_->order, p) - ancestor;
        return state_->scale.to_double(down + (distances.of(state_->order, q) - ancestor));
      },
      state_->distances);
}

void TreeKernel::gram(std::span<const NodeId> rows, std::span<const NodeId> columns,
                      std::span<double> entries, int threads) const {
  expect_size(entries.size(), rows.size() * columns.size(), "the Gram matrix");
  const SortedColumns sorted = state_->sort(columns);
  constexpr std::size_t kRows = 16;
  parallel_blocks(threads, rows.size(), kRows, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i)
      state_->fill_row(state_->order.position[rows[i]], sorted, entries.data() + i * columns.size());
  });
}

void TreeKernel::multiply(std::span<const double> x, std::span<double> y, std::size_t columns) const {
  expect_size(x.size(), std::size_t{num_nodes()} * columns, "x");
  expect_size(y.size(), x.size(), "y");
  const Buffer<NodeId>& position = state_->order.position;
  Buffer<double> work(x.size());
  const std::size_t n = num_nodes();
  constexpr std::size_t kAhead = 24;  // random places fetched before they are needed
  for (std::size_t node = 0; node < n; ++node) {
    if (node + kAhead < n) __builtin_prefetch(&work[position[node + kAhead] * columns], 1);
    std::copy_n(&x[node * columns], columns, &work[position[node] * columns]);
  }
  switch (columns) {
    case 1:
      multiply_trees<1>(state_->order, work.data(), columns);
      break;
    case 8:
      multiply_trees<8>(state_->order, work.data(), columns);
      break;
    default:
      multiply_trees<0>(state_->order, work.data(), columns);
  }
  for (std::size_t node = 0; node < n; ++node) {
    if (node + kAhead < n) __builtin_prefetch(&work[position[node + kAhead] * columns]);
    std::copy_n(&work[position[node] * columns], columns, &y[node * columns]);
  }
}

}  // namespace copse
