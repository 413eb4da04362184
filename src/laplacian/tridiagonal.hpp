// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace copse {

/// A symmetric tridiagonal matrix with eigenvalues above 0, and its eigenvalues by bisection.
class Tridiagonal {
 public:
  /// One row and column more; `link` stands beside `diagonal` and is ignored in the first.
  void add(double diagonal, double link) {
    link = diagonal_.empty() ? 0 : std::fabs(link);
    // Gershgorin's disks: this one, and the one before, which is wider now.
    top_ = std::fmax(top_, diagonal + link);
    if (!diagonal_.empty()) top_ = std::fmax(top_, diagonal_.back() + std::sqrt(squares_.back()) + link);
    diagonal_.push_back(diagonal);
    squares_.push_back(link * link);
  }

  std::size_t size() const { return diagonal_.size(); }

  /// The `rank`-th smallest, from 1, to the relative `precision`.
  double smallest(std::size_t rank, double precision) const {
    double low = top_ * 1e-15, high = top_ * 1.01;
    while (high > low * (1 + precision)) {
      const double middle = std::sqrt(low) * std::sqrt(high);
      if (middle <= low || middle >= high) break;
      (num_below(middle) >= rank ? high : low) = middle;
    }
    return high;
  }
  double largest(double precision = 1e-12) const { return smallest(size(), precision); }

 private:
  // Eigenvalues below `shift`: Sturm's count.
  std::size_t num_below(double shift) const {
    std::size_t below = 0;
    double pivot = 1;
    for (std::size_t k = 0; k < diagonal_.size(); ++k) {
      pivot = diagonal_[k] - shift - (k == 0 ? 0 : squares_[k] / pivot);
      if (pivot == 0) pivot = -1e-300;
      below += pivot < 0;
    }
    return below;
  }

  std::vector<double> diagonal_, squares_;
  double top_ = 0;
};

}  // namespace copse
