// SPDX-License-Identifier: Apache-2.0
#include "laplacian/right_hand_sides.hpp"

#include <algorithm>
#include <cmath>

#include "copse/support/parallel.hpp"
#include "laplacian/conjugate_gradients.hpp"
#include "laplacian/laplacian_operator.hpp"

namespace copse {

RightHandSides::RightHandSides(const LaplacianSystem& given, std::span<const double> b, std::span<double> x,
                               std::size_t columns, std::size_t first, int width)
    : b_(b), x_(x), columns_(columns), first_(first), width_(width) {
  const ColumnValues largest = deterministic_reduce(
      given.execution, given.num_nodes(), ColumnValues{},
      [&](std::size_t begin, std::size_t end) {
        ColumnValues most{};
        for (std::size_t u = begin; u < end; ++u) {
          if (given.inverse_degree[u] == 0) continue;
          const double* from = &b[u * columns + first];
          for (int c = 0; c < width; ++c) most[c] = std::max(most[c], std::fabs(from[c]));
        }
        return most;
      },
      [](ColumnValues a, const ColumnValues& other) {
        for (int c = 0; c < kMaxWidth; ++c) a[c] = std::max(a[c], other[c]);
        return a;
      },
      kBlockRows);
  for (int c = 0; c < width; ++c) {
    // Between 2^-1000 and 2^1000, so that both the scale and its inverse are numbers.
    const int exponent = largest[c] > 0 ? std::clamp(std::ilogb(largest[c]), -1000, 1000) : 0;
    scale_[c] = std::ldexp(1.0, -exponent);
  }
}

void RightHandSides::load(const LaplacianSystem& system, std::span<const NodeId> order, double* r) const {
  with_width(width_, [&](auto w) {
    parallel_blocks(system.execution, system.num_nodes(), kBlockRows,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      for (std::size_t i = begin; i < end; ++i) {
                        const bool is_fixed = system.inverse_degree[i] == 0;
                        const double* from = &b_[(order.empty() ? i : order[i]) * columns_ + first_];
                        for (int c = 0; c < w(); ++c) r[i * w() + c] = is_fixed ? 0 : from[c] * scale_[c];
                      }
                    });
  });
  subtract_component_means(system, r, width_);
}

void RightHandSides::load_residual(const LaplacianSystem& system, std::span<const NodeId> order,
                                   const double* x, double* r) const {
  Buffer<double> product(std::size_t{system.num_nodes()} * static_cast<std::size_t>(width_));
  apply_laplacian(system, x, product.data(), width_);
  load(system, order, r);
  for (std::size_t i = 0; i < product.size(); ++i) r[i] -= product[i];
  subtract_component_means(system, r, width_);
}

void RightHandSides::store(const LaplacianSystem& system, std::span<const NodeId> order,
                           const double* solved) const {
  with_width(width_, [&](auto w) {
    parallel_blocks(system.execution, system.num_nodes(), kBlockRows,
                    [&](std::size_t begin, std::size_t end, std::size_t) {
                      for (std::size_t i = begin; i < end; ++i) {
                        double* to = &x_[(order.empty() ? i : order[i]) * columns_ + first_];
                        for (int c = 0; c < w(); ++c) to[c] = solved[i * w() + c] / scale_[c];
                      }
                    });
  });
}

}  // namespace copse
