// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "copse/support/buffer.hpp"

namespace copse {

/// A column of L^+ in half the memory: 6e-8 of a value is less than solves are wrong by. Resistances may lie
/// beyond the range of float (an edge of weight 1e-40 has one of 1e40), so that all are divided by a power of
/// two, which costs no digit.
class FloatColumn {
 public:
  explicit FloatColumn(std::size_t size) : values_(size) {}

  void assign(std::span<const double> column) {
    double largest = 0;
    for (const double value : column) largest = std::max(largest, std::fabs(value));
    const int exponent = std::isnormal(largest) ? std::ilogb(largest) : 0;
    unit_ = std::ldexp(1.0, exponent);
    const double scale = std::ldexp(1.0, -exponent);
    for (std::size_t i = 0; i < column.size(); ++i) values_[i] = static_cast<float>(column[i] * scale);
  }
  double operator[](std::size_t i) const { return values_[i] * unit_; }

 private:
  Buffer<float> values_;
  double unit_ = 1;
};

}  // namespace copse
