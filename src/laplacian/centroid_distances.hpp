// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "laplacian/centroid_order.hpp"
#include "laplacian/range_minimum.hpp"
#include "support/rounded.hpp"

namespace copse {

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

}  // namespace copse
